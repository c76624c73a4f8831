'use strict';
'require baseclass';
'require oasis.controls as controls';
'require oasis.dialog as dialog';
'require oasis.search as search';
'require oasis.words as words';

/*
 * The list of chats with its buttons, archived ones folded. It knows no daemon but for the search: the rest are functions
 * it is given.
 */

/* wide enough for the list beside the conversation */
const WIDE = '(min-width: 760px)';

function titleOf(item) {
	return words.plain(item.title) || _('Untitled chat');
}

function whenOf(item) {
	return item.updated_unix_s ? new Date(item.updated_unix_s * 1000).toLocaleString() : '';
}

/* What the keyboard stops at in a row. */
function stops(row) {
	return Array.from(row.querySelectorAll('button, summary'));
}

const List = baseclass.extend({
	__init__: function(act) {
		this.act = act;
		this.items = [];
		this.current = '';
		this.rows = E('ul', { 'class': 'oasis-chats' });
		this.old = E('ul', { 'class': 'oasis-chats' });
		this.shelf = E('details', { 'class': 'oasis-shelf', 'hidden': '' }, [ E('summary', [ _('Archived') ]), this.old ]);
		this.nav = E('nav', { 'aria-label': _('Chats') }, [ this.rows, this.shelf ]);
		this.search = search.field({ open: act.open, searching: L.bind(function(isOn) { this.nav.hidden = isOn; }, this) });
		this.node = E('details', { 'class': 'oasis-side', 'open': window.matchMedia(WIDE).matches ? '' : null }, [
			E('summary', [ _('Chats') ]),
			controls.button(_('New chat'), 'cbi-button-add oasis-new', function() { act.fresh(); }),
			this.search.node, this.nav,
			act.take ? E('p', [ controls.link(_('Import chats\u2026'), function() { act.take(); }) ]) : ''
		]);
	},

	row: function(item) {
		const isCurrent = item.id == this.current;

		return E('li', { 'class': isCurrent ? 'oasis-current' : '', 'data-chat': item.id }, [
			E('button', {
				'type': 'button', 'class': 'oasis-open', 'title': [ titleOf(item), whenOf(item) ].filter(Boolean).join('\n'),
				'aria-current': isCurrent ? 'true' : null,
				'click': L.bind(function() { this.act.open(item.id); }, this)
			}, [ titleOf(item) ]),
			this.act.remove ? this.menu(item) : ''
		]);
	},

	menu: function(item) {
		const act = this.act, title = titleOf(item);

		return controls.menu(_('More about the chat "%s"').format(title), [
			controls.button(_('Rename\u2026'), '', function() {
				dialog.line(_('Rename chat'), _('Title'), item.title || '', function(text) { return act.rename(item.id, text); });
			}),
			controls.button(item.archived ? _('Bring back') : _('Archive'), '', function() { act.archive(item.id, !item.archived); }),
			controls.button(_('Delete\u2026'), 'cbi-button-negative', function() {
				dialog.ask(_('Delete chat'), _('Delete the chat "%s"? Changes made in it stay as they are.').format(title), _('Delete'),
					function() { return act.remove(item.id); });
			})
		]);
	},

	/* News of a chat come at any time: the menu that is open stays open, and the keyboard stays where it is. */
	draw: function() {
		const open = this.nav.querySelector('.oasis-menu[open]'), row = (open || document.activeElement).closest('li');
		const before = row && this.nav.contains(row) ? stops(row) : [], at = before.indexOf(document.activeElement);

		this.rows.textContent = this.old.textContent = '';
		this.items.forEach(function(item) {
			const node = this.row(item);

			(item.archived ? this.old : this.rows).appendChild(node);
			if (!before.length || item.id != row.dataset.chat)
				return;
			if (open)
				node.querySelector('.oasis-menu').open = true;
			if (at != -1 && stops(node)[at])
				stops(node)[at].focus();
		}, this);
		this.shelf.hidden = !this.old.firstChild;
	},

	set: function(list) {
		this.items = list.slice().sort(function(a, b) { return (b.updated_unix_s || 0) - (a.updated_unix_s || 0); });
		this.draw();
	},

	mark: function(id) {
		this.current = id;
		this.draw();
	},

	drop: function(id) {
		this.items = this.items.filter(function(item) { return item.id != id; });
		this.draw();
	},

	/* A title was given or made. */
	title: function(id, text) {
		this.items.forEach(function(item) {
			if (item.id == id)
				item.title = text;
		});
		this.draw();
	},

	get: function(id) {
		return this.items.find(function(item) { return item.id == id; });
	},

	/* The one that was used last and is not put away, or "". */
	newest: function() {
		return (this.items.find(function(item) { return !item.archived; }) || { id: '' }).id;
	}
});

return baseclass.extend({
	/* act: { open(id, message?), fresh(), rename(id, title), archive(id, archived), remove(id), take() }; the last four null for who may only look */
	list: function(act) {
		return new List(act);
	}
});
