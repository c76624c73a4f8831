'use strict';
'require baseclass';
'require oasis.controls as controls';
'require oasis.dialog as dialog';
'require oasis.page as page';
'require oasis.words as words';

/*
 * One tool of the model in the list of tools: what it is, what it may do, and the owner's two switches. What they do is the
 * page's matter. A tool that changes the router is let through unasked only after a question.
 */

function className(kind) {
	switch (kind) {
	case 'read': return _('reads');
	case 'change': return _('changes the router');
	case 'danger': return _('dangerous');
	case 'net': return _('uses the network');
	default: return words.plain(kind);
	}
}

function sourceName(source) {
	const parts = String(source).split(':'), name = words.plain(parts.slice(1).join(':'));

	switch (parts[0]) {
	case 'built-in': return _('Built in');
	case 'plugin': return _('Plugin %s').format(name);
	case 'mcp': return _('MCP server %s').format(name);
	case 'seed': return _('Made on this router');
	default: return words.plain(source);
	}
}

function approvalNames() {
	return { ask: _('Ask me'), allow: _('Allow'), deny: _('Never') };
}

const KINDS = { read: '', net: 'warn', change: 'warn', danger: 'bad' };

const Row = baseclass.extend({
	/* set(tool, change): gives a promise of the tool as it then is, or null for who may only look */
	__init__: function(tool, set) {
		this.set = set;
		this.trouble = E('div', { 'role': 'alert' });
		this.node = E('li', { 'class': 'oasis-shelf-row', 'data-tool': tool.name });
		this.show(tool);
	},

	show: function(tool) {
		const names = approvalNames(), name = words.plain(tool.name);

		this.tool = tool;
		this.switch = E('input', {
			'type': 'checkbox', 'role': 'switch', 'aria-label': _('%s may be used').format(name), 'checked': tool.enabled ? '' : null,
			'disabled': this.set ? null : '', 'change': this.switched.bind(this)
		});
		this.approval = E('select', {
			'class': 'cbi-input-select', 'aria-label': _('Approval of %s').format(name), 'disabled': this.set && tool.enabled ? null : '',
			'change': this.chosen.bind(this)
		}, Object.keys(names).map(function(key) {
			return E('option', { 'value': key, 'selected': key == tool.approval ? '' : null }, [ names[key] ]);
		}));

		this.node.textContent = '';
		this.node.classList.toggle('oasis-off', !tool.enabled);
		[
			E('div', { 'class': 'oasis-shelf-about' }, [
				E('div', { 'class': 'oasis-head oasis-shelf-head' }, [
					E('code', [ name ]), page.badge(className(tool.class), KINDS[tool.class]),
					E('span', { 'class': 'oasis-count' }, [ N_(tool.tokens, '%s token', '%s tokens').format(page.number(tool.tokens)) ])
				]),
				E('p', [ words.plain(tool.description) ]),
				tool.note ? E('p', { 'class': 'oasis-others' }, [ words.plain(tool.note) ]) : '',
				this.trouble
			].filter(Boolean)),
			E('div', { 'class': 'oasis-shelf-hands' }, [ E('label', [ this.switch, ' ', E('span', [ tool.enabled ? _('On') : _('Off') ]) ]), this.approval ])
		].forEach(function(node) { this.node.appendChild(node); }, this);
	},

	/* Nothing reads worse than a switch that shows what is not so: until the answer both rest. */
	send: function(change, control) {
		this.trouble.textContent = '';
		this.switch.disabled = this.approval.disabled = true;
		return this.set(this.tool, change).then(this.show.bind(this), L.bind(function(fault) {
			this.show(this.tool);
			this.trouble.appendChild(E('p', { 'class': 'oasis-fault' }, [ E('strong', [ words.plain(fault.message) ]), ' ', words.plain(fault.hint) ]));
			throw fault;
		}, this)).catch(function() { /* told in the row */ }).finally(L.bind(function() { this[control].focus({ preventScroll: true }); }, this));
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
		const box = dialog.open(_('Are you sure?'), [ E('p', [ question.format(words.plain(this.tool.name)) ]) ], [
			controls.button(label, 'cbi-button-negative important', L.bind(function() {
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

return baseclass.extend({
	className: className,
	sourceName: sourceName,
	approvalNames: approvalNames,

	/* A row: { node, tool }. set(tool, { enabled } or { approval }) gives a promise of the tool, or null. */
	row: function(tool, set) {
		return new Row(tool, set);
	}
});
