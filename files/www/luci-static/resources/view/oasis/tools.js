'use strict';
'require baseclass';
'require view';
'require oasis.rpc as api';
'require oasis.state as states';
'require oasis.clean as clean';
'require oasis.page as page';
'require oasis.dialog as dialog';

/*
 * The tools that the model is offered: what each may do, what it costs, and the owner's settings. A tool that changes the router may be
 * allowed without approval only after a question; a plan that a tool makes is approved like any other, whatever is chosen here.
 */

function kindText(kind) {
	switch (kind) {
	case 'read': return _('reads');
	case 'change': return _('changes the router');
	case 'danger': return _('dangerous');
	case 'net': return _('uses the network');
	default: return clean.plain(kind);
	}
}

function sourceText(source) {
	const parts = String(source).split(':'), name = clean.plain(parts.slice(1).join(':'));

	switch (parts[0]) {
	case 'built-in': return _('Built in');
	case 'plugin': return _('Plugin %s').format(name);
	case 'mcp': return _('MCP server %s').format(name);
	case 'seed': return _('Made on this router');
	default: return clean.plain(source);
	}
}

function approvalNames() {
	return { ask: _('Ask me'), allow: _('Allow'), deny: _('Never') };
}

const KINDS = { read: '', net: 'warn', change: 'warn', danger: 'bad' };

/* One tool in the list: what it is, what it may do, and the owner's two switches. It asks for a promise of the tool by set(tool, change). */
const Row = baseclass.extend({
	__init__: function(tool, state) {
		this.state = state;
		this.trouble = E('div', { 'role': 'alert' });
		this.node = E('li', { 'class': 'oasis-shelf-row', 'data-tool': tool.name });
		this.show(tool);
	},

	show: function(tool) {
		const names = approvalNames(), name = clean.plain(tool.name);

		this.tool = tool;
		this.switch = E('input', {
			'type': 'checkbox', 'role': 'switch', 'aria-label': _('%s may be used').format(name), 'checked': tool.enabled ? '' : null,
			'disabled': this.state.isWriter ? null : '', 'change': this.switched.bind(this)
		});
		this.approval = E('select', {
			'class': 'cbi-input-select', 'aria-label': _('Approval of %s').format(name), 'disabled': this.state.isWriter && tool.enabled ? null : '',
			'change': this.chosen.bind(this)
		}, Object.keys(names).map(function(key) {
			return E('option', { 'value': key, 'selected': key == tool.approval ? '' : null }, [ names[key] ]);
		}));

		this.node.textContent = '';
		this.node.classList.toggle('oasis-off', !tool.enabled);
		[
			E('div', { 'class': 'oasis-shelf-about' }, [
				E('div', { 'class': 'oasis-head oasis-shelf-head' }, [
					E('code', [ name ]), page.badge(kindText(tool.class), KINDS[tool.class]),
					E('span', { 'class': 'oasis-count' }, [ N_(tool.tokens, '%s token', '%s tokens').format(page.number(tool.tokens)) ])
				]),
				E('p', [ clean.plain(tool.description) ]),
				tool.note ? E('p', { 'class': 'oasis-others' }, [ clean.plain(tool.note) ]) : '',
				this.trouble
			].filter(Boolean)),
			E('div', { 'class': 'oasis-shelf-hands' }, [ E('label', [ this.switch, ' ', E('span', [ tool.enabled ? _('On') : _('Off') ]) ]), this.approval ])
		].forEach(function(node) { this.node.appendChild(node); }, this);
	},

	/* A switch must not show what is not so: until the answer both are disabled. */
	send: function(change, control) {
		this.trouble.textContent = '';
		this.switch.disabled = this.approval.disabled = true;
		return this.state.emit('set', this.tool, change).then(this.show.bind(this), L.bind(function(fault) {
			this.show(this.tool);
			this.trouble.appendChild(page.fault(fault));
			throw fault;
		}, this)).catch(function() { /* shown in the row */ }).finally(L.bind(function() { this[control].focus({ preventScroll: true }); }, this));
	},

	switched: function() {
		const change = { enabled: this.switch.checked };

		if (!change.enabled || this.tool.class != 'danger')
			return this.send(change, 'switch');
		return this.ask(_('Let the model use %s? It is dangerous: what it does cannot always be undone.'), _('Switch on'), change, 'switch');
	},

	chosen: function() {
		const change = { approval: this.approval.value };

		if (change.approval != 'allow' || this.tool.class == 'read')
			return this.send(change, 'approval');
		return this.ask(_('Let the model use %s without asking you each time?'), _('Allow'), change, 'approval');
	},

	ask: function(question, label, change, control) {
		const box = dialog.open(_('Are you sure?'), [ E('p', [ question.format(clean.plain(this.tool.name)) ]) ], [
			page.button(label, 'cbi-button-negative important', L.bind(function() {
				isAgreed = true;
				box.close();
				return this.send(change, control);
			}, this))
		]);
		let isAgreed = false;

		box.onClose = L.bind(function() {
			if (isAgreed)
				return;
			this.show(this.tool);
			box.from = this[control];
		}, this);
	}
});

function used() {
	return { '': _('All'), on: _('Switched on'), off: _('Switched off') };
}

return view.extend({
	load: function() {
		return page.styled(api.settled('tools'));
	},

	render: function(result) {
		const reply = result.value || {};

		this.state = states.create({ isWriter: page.isWriter() });
		this.state.on({ set: this.set }, this);
		this.frame = page.frame(_('Tools'), _('What the model may use. Each tool that is switched on is described to the model with every question, which costs tokens.'));
		this.sum = E('p', { 'role': 'status' });
		this.place = E('div');
		this.rows = (reply.tools || []).map(function(tool) { return new Row(tool, this.state); }, this);
		this.filter = page.filter(_('Name or description'), [ { label: _('Show'), names: used() }, { label: _('Kind'), names: this.kinds() } ], this.choose.bind(this));
		this.frame.fill([ this.sum, this.filter.node, this.place ]);
		this.group();
		this.choose();
		this.count(reply.tokens);
		if (result.fault)
			this.frame.fault(result.fault, true);
		return this.frame.node;
	},

	kinds: function() {
		const names = { '': _('All') };

		[ 'read', 'net', 'change', 'danger' ].forEach(function(kind) { names[kind] = kindText(kind); });
		return names;
	},

	/* Where they come from, the built-in ones first as they stand in the list. */
	group: function() {
		const groups = new Map();

		this.rows.forEach(function(row) {
			const name = sourceText(row.tool.source);

			groups.set(name, (groups.get(name) || []).concat(row));
		});
		this.groups = Array.from(groups, function(pair) {
			const node = page.section(pair[0], [ E('ul', { 'class': 'oasis-shelf' }, pair[1].map(function(row) { return row.node; })) ]);

			return { node: node, rows: pair[1] };
		});
		this.groups.forEach(function(group) { this.place.appendChild(group.node); }, this);
	},

	choose: function() {
		const state = this.filter.chosen(0), kind = this.filter.chosen(1);
		let shown = 0;

		this.rows.forEach(function(row) {
			const tool = row.tool;
			const isShown = (!state || (state == 'on') == tool.enabled) && (!kind || kind == tool.class) && this.filter.fits([ tool.name, tool.description ]);

			row.node.hidden = !isShown;
			shown += isShown ? 1 : 0;
		}, this);
		this.groups.forEach(function(group) { group.node.hidden = group.rows.every(function(row) { return row.node.hidden; }); });
		this.filter.say(shown == this.rows.length ? N_(shown, '%d tool', '%d tools').format(shown) : _('%d of %d tools').format(shown, this.rows.length));
	},

	/* tokens: the daemon's own sum, where it is known */
	count: function(tokens) {
		const on = this.rows.filter(function(row) { return row.tool.enabled; });
		const sum = tokens != null ? tokens : on.reduce(function(whole, row) { return whole + (row.tool.tokens || 0); }, 0);

		this.sum.textContent = _('%d tools are on; together they cost %s tokens of each question.').format(on.length, page.number(sum));
	},

	set: function(tool, change) {
		return api.call('set_tool', tool.name, change.enabled, change.approval).then(L.bind(function(reply) {
			/* the row shows it after this; the sum needs it now */
			Object.assign(tool, reply.tool);
			this.count();
			return reply.tool;
		}, this));
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
