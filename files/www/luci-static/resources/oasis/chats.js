'use strict';
'require baseclass';
'require ui';

/*
 * The list of chats with its buttons. It knows no daemon: opening, beginning and deleting are functions it is given.
 */

/* wide enough for the list beside the conversation */
const WIDE = '(min-width: 760px)';

function titleOf(item) {
	return item.title || _('Untitled chat');
}

function whenOf(item) {
	return item.updated_unix_s ? new Date(item.updated_unix_s * 1000).toLocaleString() : '';
}

/* LuCI's own question in front of the page; the harmless answer comes first. */
function ask(item, remove) {
	ui.showModal(_('Delete chat'), [
		E('p', [ _('Delete the chat "%s"? Changes made in it stay as they are.').format(titleOf(item)) ]),
		E('div', { 'class': 'right' }, [
			E('button', { 'class': 'btn cbi-button', 'click': ui.hideModal }, [ _('Cancel') ]), ' ',
			E('button', {
				'class': 'btn cbi-button cbi-button-negative important',
				'click': function() {
					ui.hideModal();
					return remove(item.id);
				}
			}, [ _('Delete') ])
		])
	]);
}

return baseclass.extend({
	/* act: { open(id), fresh(), remove(id) or null } */
	list: function(act) {
		const rows = E('ul', { 'class': 'oasis-chats' });
		const node = E('details', { 'class': 'oasis-side', 'open': window.matchMedia(WIDE).matches ? '' : null }, [
			E('summary', [ _('Chats') ]),
			E('button', { 'type': 'button', 'class': 'btn cbi-button cbi-button-add oasis-new', 'click': function() { act.fresh(); } }, [ _('New chat') ]),
			E('nav', { 'aria-label': _('Chats') }, [ rows ])
		]);
		let items = [], current = '';

		const row = function(item) {
			const isCurrent = item.id == current;

			return E('li', { 'class': isCurrent ? 'oasis-current' : '' }, [
				E('button', {
					'type': 'button', 'class': 'oasis-open', 'title': whenOf(item),
					'aria-current': isCurrent ? 'true' : null,
					'click': function() { act.open(item.id); }
				}, [ titleOf(item) ]),
				act.remove ? E('button', {
					'type': 'button', 'class': 'oasis-drop', 'title': _('Delete chat'),
					'aria-label': _('Delete the chat "%s"').format(titleOf(item)),
					'click': function() { ask(item, act.remove); }
				}, [ '\u00d7' ]) : null
			].filter(Boolean));
		};

		const draw = function() {
			rows.textContent = '';
			items.forEach(function(item) { rows.appendChild(row(item)); });
		};

		return {
			node: node,

			set: function(list) {
				items = list.slice().sort(function(a, b) { return (b.updated_unix_s || 0) - (a.updated_unix_s || 0); });
				draw();
			},

			mark: function(id) {
				current = id;
				draw();
			},

			drop: function(id) {
				items = items.filter(function(item) { return item.id != id; });
				draw();
			},

			has: function(id) {
				return items.some(function(item) { return item.id == id; });
			},

			newest: function() {
				return items.length ? items[0].id : '';
			}
		};
	}
});
