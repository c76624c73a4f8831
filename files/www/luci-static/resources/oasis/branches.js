'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.clean as clean';
'require oasis.page as page';
'require oasis.dialog as dialog';

/*
 * Where the conversation goes on: at the end of what is shown, or at a place that the owner chose, which a chip above the field shows. The
 * dialogs with a chat's branches and bookmarks, and what can be done with one message.
 *
 * Sets state.target for the next message, null for the end of what is shown, else { parents (ids), isHere (they are that end), bookmark
 * (its name, when it moves along), edited (the text that was put into the field) }.
 *
 * Listens to thread(), taken(), edit, branch, bookmark, about and forget(entry), join(place), version(sibling), followBookmark(chat, name),
 * showBranches(), showBookmarks() and showUsage(). Emits open(chat, where), dim(id, isToo), draft(text), focus() and resized().
 */

const EXCERPT_CHARS = 60;
/* the daemon takes no longer names */
const NAME_CHARS = 64;

function excerpt(text) {
	const line = clean.plain(text).replace(/\s+/g, ' ').trim();

	return line.length > EXCERPT_CHARS ? line.slice(0, EXCERPT_CHARS) + '\u2026' : line || _('(no words)');
}

function stateText(state) {
	return state == 'error' ? _('failed') : state == 'cancelled' ? _('stopped') : clean.plain(state);
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

/* The dialog with a chat's branches: one line a turn, a list in a list where branches part. Arrows move and fold, Enter opens. */
const Tree = baseclass.extend({
	__init__: function(state) {
		this.state = state;
		this.items = [];
		this.list = E('ul', { 'class': 'oasis-tree', 'role': 'tree', 'aria-label': _('Branches of this chat'), 'keydown': this.key.bind(this) });
		this.box = dialog.open(_('Branches'), [
			E('p', { 'class': 'oasis-small' }, [ _('Each line is a message of yours with its answer; bold ones are shown now.') ]), this.list
		]);
		api.call('tree', state.chat).then(this.draw.bind(this)).catch(this.box.fault.bind(this.box));
	},

	draw: function(reply) {
		grown(reply.nodes || [], this.state.latest).forEach(function(root, i) {
			const first = this.items.length;

			this.chain(root, this.list, 1);
			this.items[first].node.classList.toggle('oasis-root', i > 0);
		}, this);
		if (!this.items.length)
			return this.list.replaceWith(E('p', [ _('This chat is empty.') ]));
		this.select(this.items.filter(function(item) { return item.value.isShown; }).pop() || this.items[0]);
	},

	/* One turn after the other in one list, until branches part. */
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
			E('span', { 'class': 'oasis-tree-text' }, [ clean.plain(node.text) || _('(no words)') ]),
			(node.heads || []).map(function(name) { return E('span', { 'class': 'oasis-badge' }, [ clean.plain(name) ]); }),
			node.state ? E('span', { 'class': 'oasis-badge oasis-risky' }, [ stateText(node.state) ]) : [],
			(node.parents || []).length > 1 ? E('span', { 'class': 'oasis-badge' }, [ _('joins %d').format(node.parents.length) ]) : [],
			E('span', { 'class': 'oasis-small oasis-tree-answer' }, [ clean.plain(node.answer) ])
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
		const leave = L.bind(function(request) {
			return L.bind(function() {
				this.box.close();
				this.state.emit(request, place);
			}, this);
		}, this);

		return (this.state.isWriter ? [
			page.button(_('Branch from here'), '', leave('branch')),
			page.button(_('Join to the next message'), '', leave('join'))
		] : []).concat(page.button(_('Open'), 'cbi-button-action important', L.bind(this.go, this, item)));
	},

	go: function(item) {
		this.box.close();
		this.state.emit('open', this.state.chat, { head: leafOf(item.value), at: item.value.id });
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
		/* the focus moves at once: the same key must not press what receives it */
		ev.preventDefault();
		if (to)
			this.select(to);
		else
			this.go(this.chosen);
	}
});

/* The dialog of a chat's bookmarks: names of places in it, to open, to take along, to move, to remove. */
const Bookmarks = baseclass.extend({
	/* place: { id, text } is what gets a name or a moved one; null for none. */
	__init__: function(state, place) {
		this.state = state;
		this.chat = state.chat;
		this.place = place;
		this.rows = E('ul', { 'class': 'oasis-rows' });
		this.name = E('input', { 'type': 'text', 'class': 'cbi-input-text', 'maxlength': NAME_CHARS, 'autofocus': '' });
		this.box = dialog.open(_('Bookmarks'), [ this.rows, place && state.isWriter ? this.form() : E('span') ]);
		this.load();
	},

	form: function() {
		return E('form', { 'submit': this.add.bind(this) }, [
			E('p', { 'class': 'oasis-small' }, [ _('Name this place: %s').format(clean.plain(this.place.text)) ]),
			E('div', { 'class': 'oasis-inline' }, [
				E('label', { 'class': 'oasis-field' }, [ E('span', [ _('Name') ]), this.name ]),
				E('button', { 'type': 'submit', 'class': 'btn cbi-button cbi-button-add' }, [ _('Add') ])
			])
		]);
	},

	load: function() {
		return api.call('bookmarks', this.chat).then(this.draw.bind(this)).catch(this.box.fault.bind(this.box));
	},

	draw: function(reply) {
		this.rows.textContent = '';
		(reply.bookmarks || []).forEach(function(item) { this.rows.appendChild(this.row(item)); }, this);
		if (!this.rows.firstChild)
			this.rows.appendChild(E('li', { 'class': 'oasis-small' }, [ _('Nothing has a name yet.') ]));
	},

	row: function(item) {
		const state = this.state;

		return E('li', [
			E('span', { 'class': 'oasis-row-text' }, [
				E('strong', [ clean.plain(item.name) ]), ' ', E('span', { 'class': 'oasis-small' }, [ clean.plain(item.text) ])
			]),
			page.button(_('Open'), '', L.bind(function() {
				this.box.close();
				state.emit('open', item.chat, { head: item.name });
			}, this)),
			state.isWriter ? page.button(_('Go on with it'), '', L.bind(function() {
				this.box.close();
				state.emit('followBookmark', item.chat, item.name);
			}, this)) : '',
			state.isWriter && this.place ? page.button(_('Move here'), '', L.bind(this.change, this, 'set_bookmark', [ item.name, this.place.id, this.chat, true ])) : '',
			state.isWriter ? page.button(_('Remove'), 'cbi-button-negative', L.bind(this.change, this, 'remove_bookmark', [ item.name, this.chat ])) : ''
		]);
	},

	add: function(ev) {
		ev.preventDefault();
		if (!this.name.value.trim())
			return this.name.focus();
		return this.change('set_bookmark', [ this.name.value.trim(), this.place.id, this.chat, false ])
			.then(L.bind(function() { this.name.value = ''; }, this));
	},

	change: function(method, args) {
		this.box.trouble.textContent = '';
		return api.call.apply(api, [ method ].concat(args)).then(this.load.bind(this)).catch(this.box.fault.bind(this.box));
	}
});

const Branches = baseclass.extend({
	__init__: function(state) {
		this.state = state;
		this.node = E('div', { 'class': 'oasis-place', 'role': 'status' });
		state.on({
			thread: this.cancel, edit: this.edit, branch: this.branch, join: this.join, forget: this.forget, followBookmark: this.followBookmark,
			/* the bookmark stands on the message that was taken, and follows what continues it */
			taken: function() {
				if (state.target && state.target.bookmark)
					this.cancel();
			},
			/* another version of a message: the thread with the newest end below it */
			version: function(sibling) { state.emit('open', state.chat, { head: sibling.leaf, at: sibling.id, isFocused: true }); },
			bookmark: function(entry) { return new Bookmarks(state, { id: entry.id, text: excerpt(entry.text) }); },
			showBookmarks: function() {
				return new Bookmarks(state, state.latest ? { id: state.latest, text: _('the end of what is shown') } : null);
			},
			showBranches: function() { return new Tree(state); },
			about: function(entry) {
				const chat = state.chat;

				L.require('oasis.usage').then(function(usage) { usage.message(chat, entry); });
			},
			showUsage: function() {
				const chat = state.chat;

				L.require('oasis.usage').then(function(usage) { usage.chat(chat); });
			}
		}, this);
	},

	/* text: what the chip says; dim: the message after which, or with isToo from which on, the thread is left out. */
	choose: function(target, text, dim) {
		this.cancel();
		this.state.target = target;
		this.node.appendChild(page.chip([ E('span', { 'class': 'oasis-chip-text' }, [ text ]) ], _('Go on at the end instead'), L.bind(function() {
			this.cancel();
			this.state.emit('focus');
		}, this)));
		if (dim)
			this.state.emit('dim', dim, target.edited != null);
		this.state.emit('focus');
		this.state.emit('resized');
	},

	/* The next message goes on at the end of what is shown. */
	cancel: function() {
		const target = this.state.target;

		this.state.target = null;
		this.node.textContent = '';
		this.state.emit('dim', null);
		if (target && target.edited != null && this.state.draft == target.edited)
			this.state.emit('draft', '');
	},

	edit: function(entry) {
		this.choose({ parents: entry.parents || [], edited: entry.text }, _('Asks again in place of: %s').format(excerpt(entry.text)), entry.id);
		this.state.emit('draft', entry.text);
		this.state.emit('focus');
	},

	branch: function(entry) {
		this.choose({ parents: [ entry.id ] }, _('Continues: %s').format(excerpt(entry.text)), entry.id);
	},

	/* The next message continues this one and what is shown. */
	join: function(place) {
		const target = this.state.target;
		const parents = (target && target.edited == null ? target.parents : [ this.state.latest ]).filter(Boolean);

		if (parents.indexOf(place.id) == -1)
			parents.push(place.id);
		this.choose({ parents: parents }, _('Continues what is shown, and: %s').format(excerpt(place.text)));
	},

	/* The next message goes on at a bookmark and takes it along. */
	followBookmark: async function(chat, name) {
		await this.state.emit('open', chat, { head: name });
		this.choose({ parents: [ this.state.latest ], isHere: true, bookmark: name }, _('The bookmark "%s" moves along').format(clean.plain(name)));
	},

	forget: function(entry) {
		const state = this.state, chat = state.chat;

		dialog.ask(_('Forget this message'), entry.ids.length > 1
			? _('The words of this answer and of its tools are removed from the router for good. Changes made stay as they are.')
			: _('The words of this message are removed from the router for good. Changes made stay as they are.'),
		_('Forget'), async function() {
			for (const id of entry.ids)
				await api.call('forget', id, chat);
			state.emit('open', chat, { head: state.head && state.latest, at: entry.id });
		});
	}
});

return baseclass.extend({
	/* Gives { node }. */
	create: function(state) {
		return new Branches(state);
	}
});
