'use strict';
'require view';
'require oasis.rpc as api';
'require oasis.page as page';
'require oasis.filter as filter';
'require oasis.shelf as shelf';

/*
 * The tools that the model is offered: what each may do, what it costs, and the owner's say. A plan that a tool makes is
 * approved like any other, whatever is chosen here.
 */

function used() {
	return { '': _('All'), on: _('Switched on'), off: _('Switched off') };
}

return view.extend({
	load: function() {
		return page.styled(api.settled('tools'));
	},

	render: function(result) {
		const reply = result.value || {};

		this.frame = page.frame(_('Tools'), _('What the model may use. Each tool that is switched on is described to the model with every question, which costs tokens.'));
		this.sum = E('p', { 'role': 'status' });
		this.place = E('div');
		this.rows = (reply.tools || []).map(function(tool) {
			return shelf.row(tool, page.isWriter() ? this.set.bind(this) : null);
		}, this);
		this.filter = filter.bar(_('Name or description'), [ { label: _('Show'), names: used() }, { label: _('Kind'), names: this.kinds() } ], this.choose.bind(this));
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

		[ 'read', 'net', 'change', 'danger' ].forEach(function(kind) { names[kind] = shelf.className(kind); });
		return names;
	},

	/* Where they come from, the built-in ones first as they stand in the list. */
	group: function() {
		const groups = new Map();

		this.rows.forEach(function(row) {
			const name = shelf.sourceName(row.tool.source);

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
