'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.dialog as dialog';
'require oasis.controls as controls';
'require oasis.words as words';

/*
 * The dialog with a chat's branches: one line an exchange, a list in a list where ways part, which can be folded. Arrows move
 * and fold, Enter opens.
 */

function stateWords(state) {
	return state == 'error' ? _('failed') : state == 'cancelled' ? _('stopped') : words.plain(state);
}

/* Give each node its children, oldest first. Shape of the reply: nodes of chat.tree, and `shown` for those above the end. */
function grown(nodes, end) {
	const known = {}, roots = [];

	nodes.forEach(function(node) { known[node.id] = Object.assign({}, node, { children: [] }); });
	nodes.forEach(function(node) {
		(node.parent != node.id && known[node.parent] ? known[node.parent].children : roots).push(known[node.id]);
	});

	let at = Object.values(known).find(function(node) { return node.end == end || node.id == end; });
	for (; at && !at.isShown; at = known[at.parent])
		at.isShown = true;
	return roots;
}

/* The newest end below a node. */
function leafOf(node) {
	while (node.children.length)
		node = node.children[node.children.length - 1];
	return node.end || node.id;
}

const Tree = baseclass.extend({
	__init__: function(chat, end, act) {
		this.chat = chat;
		this.end = end;
		this.act = act;
		this.items = [];
		this.list = E('ul', { 'class': 'oasis-tree', 'role': 'tree', 'aria-label': _('Branches of this chat'), 'keydown': this.key.bind(this) });
		this.box = dialog.open(_('Branches'), [
			E('p', { 'class': 'oasis-small' }, [ _('Each line is a message of yours with its answer; bold ones are shown now.') ]), this.list
		]);
		api.call('tree', chat).then(this.draw.bind(this)).catch(this.box.fault.bind(this.box));
	},

	draw: function(reply) {
		grown(reply.nodes || [], this.end).forEach(function(root, i) {
			const first = this.items.length;

			this.chain(root, this.list, 1);
			this.items[first].node.classList.toggle('oasis-root', i > 0);
		}, this);
		if (!this.items.length)
			return this.list.replaceWith(E('p', [ _('This chat is empty.') ]));
		this.select(this.items.filter(function(item) { return item.value.isShown; }).pop() || this.items[0]);
	},

	/* One exchange after the other in one list, until ways part. */
	chain: function(node, list, level) {
		for (;;) {
			const row = this.row(node, level);

			list.appendChild(row);
			if (node.children.length != 1)
				return this.part(node, row, level);
			node = node.children[0];
		}
	},

	part: function(node, row, level) {
		if (!node.children.length)
			return;
		const group = E('ul', { 'role': 'group' });
		const item = this.items[this.items.length - 1];

		item.group = group;
		item.node.setAttribute('aria-expanded', 'true');
		item.line.insertBefore(E('span', { 'class': 'oasis-fold', 'aria-hidden': 'true', 'click': L.bind(function(ev) {
			ev.stopPropagation();
			this.select(item);
			this.fold(item, !group.hidden);
		}, this) }), item.line.firstChild);
		row.appendChild(group);
		node.children.forEach(function(child) { this.chain(child, group, level + 1); }, this);
	},

	row: function(node, level) {
		const line = E('div', { 'class': 'oasis-tree-line' }, [].concat(
			E('span', { 'class': 'oasis-tree-text' }, [ words.plain(node.text) || _('(no words)') ]),
			(node.heads || []).map(function(name) { return E('span', { 'class': 'oasis-badge' }, [ words.plain(name) ]); }),
			node.state ? E('span', { 'class': 'oasis-badge oasis-risky' }, [ stateWords(node.state) ]) : [],
			(node.parents || []).length > 1 ? E('span', { 'class': 'oasis-badge' }, [ _('joins %d').format(node.parents.length) ]) : [],
			E('span', { 'class': 'oasis-small oasis-tree-answer' }, [ words.plain(node.answer) ])
		));
		const row = E('li', {
			'role': 'treeitem', 'aria-level': level, 'aria-selected': 'false', 'tabindex': '-1', 'class': node.isShown ? 'oasis-shown' : '',
			'aria-current': node.isShown ? 'true' : null
		}, [ line ]);
		const item = { node: row, line: line, value: node };

		line.addEventListener('click', L.bind(this.select, this, item));
		line.addEventListener('dblclick', L.bind(this.go, this, item));
		this.items.push(item);
		return row;
	},

	select: function(item) {
		if (this.chosen) {
			this.chosen.node.setAttribute('aria-selected', 'false');
			this.chosen.node.tabIndex = -1;
		}
		this.chosen = item;
		item.node.setAttribute('aria-selected', 'true');
		item.node.tabIndex = 0;
		this.box.buttons(this.choices(item));
		item.node.focus({ preventScroll: true });
		item.line.scrollIntoView({ block: 'nearest' });
	},

	/* Hide what branches off below a line, or show it again. */
	fold: function(item, isFolded) {
		item.group.hidden = isFolded;
		item.node.setAttribute('aria-expanded', String(!isFolded));
	},

	choices: function(item) {
		const node = item.value, place = { id: node.end || node.id, text: node.answer || node.text };
		const leave = L.bind(function(act) {
			return L.bind(function() {
				this.box.close();
				act(place);
			}, this);
		}, this);

		return (this.act.isWriter ? [
			controls.button(_('Branch from here'), '', leave(this.act.branch)),
			controls.button(_('Join to the next message'), '', leave(this.act.join))
		] : []).concat(controls.button(_('Open'), 'cbi-button-action important', L.bind(this.go, this, item)));
	},

	go: function(item) {
		this.box.close();
		this.act.open(this.chat, leafOf(item.value), item.value.id);
	},

	key: function(ev) {
		const folding = this.chosen && this.chosen.group && { ArrowLeft: false, ArrowRight: true }[ev.key];

		/* an open branch is closed first, and a closed one opened, before the arrow moves */
		if (folding != null && this.chosen.group && this.chosen.group.hidden == folding) {
			ev.preventDefault();
			return this.fold(this.chosen, !folding);
		}

		const seen = this.items.filter(function(item) { return item.node.offsetParent; });
		const at = seen.indexOf(this.chosen);
		const level = function(item) { return +item.node.getAttribute('aria-level'); };
		const above = seen.slice(0, at).reverse().find(function(item) { return level(item) < level(this.chosen); }, this);
		const to = { ArrowDown: seen[at + 1], ArrowUp: seen[at - 1], ArrowRight: seen[at + 1],
			ArrowLeft: above || seen[at - 1], Home: seen[0], End: seen[seen.length - 1] }[ev.key];

		if (!to && ev.key != 'Enter')
			return;
		/* the focus goes on at once: the key must not press what gets it */
		ev.preventDefault();
		if (to)
			this.select(to);
		else
			this.go(this.chosen);
	}
});

return baseclass.extend({
	/* end: last message shown. act: { isWriter, open(chat, head, id), branch({ id, text }), join({ id, text }) }. */
	open: function(chat, end, act) {
		return new Tree(chat, end, act);
	}
});
