'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.clean as clean';
'require oasis.page as page';
'require oasis.dialog as dialog';

/*
 * The list of chats with its buttons, archived ones folded, and the search over all of them; chats as files, saved and taken in.
 *
 * Reads state.chats and state.chat, and listens to the events of these names. Emits open(chat, where), fresh() and refreshChats(), and
 * asks for promises by rename(chat, title), archive(chat, isArchived) and remove(chat).
 */

/* wide enough for the list next to the conversation */
const WIDE = '(min-width: 760px)';
/* long enough for a word to be typed; a search reads all of flash */
const PAUSE_MS = 350;
const RESULTS = 30;

function titleOf(item) {
	return clean.plain(item.title) || _('Untitled chat');
}

function whenOf(item) {
	return item.updated_unix_s ? new Date(item.updated_unix_s * 1000).toLocaleString() : '';
}

/* What the keyboard stops at in a row. */
function stops(row) {
	return Array.from(row.querySelectorAll('button, summary'));
}

/* The field that searches all chats, archived ones too, and the list of what it found. searching(isOn) is called when that changes. */
const Search = baseclass.extend({
	__init__: function(state, searching) {
		this.state = state;
		this.searching = searching;
		this.asked = '';
		this.input = E('input', {
			'type': 'search', 'class': 'cbi-input-text', 'placeholder': _('Search all chats'), 'aria-label': _('Search all chats'),
			'maxlength': '256', 'input': this.wait.bind(this), 'keydown': this.key.bind(this)
		});
		this.status = E('p', { 'class': 'oasis-small', 'role': 'status' });
		this.rows = E('ul', { 'class': 'oasis-chats', 'aria-label': _('Found') });
		this.found = E('div', { 'hidden': '' }, [ this.status, this.rows ]);
		this.node = E('div', { 'class': 'oasis-search', 'role': 'search' }, [ this.input, this.found ]);
	},

	wait: function() {
		window.clearTimeout(this.timer);
		this.timer = window.setTimeout(this.search.bind(this), this.input.value.trim() ? PAUSE_MS : 0);
	},

	key: function(ev) {
		if (ev.key == 'Enter') {
			window.clearTimeout(this.timer);
			this.search();
		}
		else if (ev.key == 'Escape' && this.input.value) {
			/* on the page Escape stops a run */
			ev.stopPropagation();
			this.input.value = '';
			this.search();
		}
	},

	search: function() {
		const text = this.input.value.trim();

		this.asked = text;
		this.searching(!!text);
		this.found.hidden = !text;
		if (!text)
			return;

		this.status.textContent = _('Searching\u2026');
		return api.call('search', text, RESULTS).then(L.bind(function(reply) {
			if (this.asked == text)
				this.show(reply.found || []);
		}, this)).catch(L.bind(function(fault) {
			if (this.asked == text)
				this.show([], fault.message);
		}, this));
	},

	show: function(found, trouble) {
		this.status.textContent = trouble || (found.length ? N_(found.length, '%d message found', '%d messages found').format(found.length) : _('Nothing found'));
		this.rows.textContent = '';
		found.forEach(function(item) {
			this.rows.appendChild(E('li', [ E('button', {
				'type': 'button', 'class': 'oasis-open oasis-hit', 'click': L.bind(function() { this.state.emit('open', item.chat, { at: item.message }); }, this)
			}, [
				E('span', { 'class': 'oasis-clip' }, [ clean.plain(item.title) || _('Untitled chat') ]),
				item.archived ? E('span', { 'class': 'oasis-badge' }, [ _('archived') ]) : '',
				E('span', { 'class': 'oasis-small oasis-snippet' }, [ clean.plain(item.snippet) ])
			]) ]));
		}, this);
	}
});

function forms() {
	return [
		[ 'markdown', _('For reading (Markdown)'), _('The conversation that is shown, as text.') ],
		[ 'oasis', _('Whole chat (Oasis)'), _('Everything: all branches, bookmarks and attachments. Oasis can take it in again.') ],
		[ 'upstream', _('For the old Oasis'), _('The conversation that is shown, in the form of the first Oasis and its app.') ]
	];
}

/* Long chats come in parts. */
async function fetchAll(chat, form, head) {
	const parts = [];
	let reply;

	do {
		reply = await api.call('export_chat', chat, form, head, parts.length || undefined);
		parts.push(reply.data);
	} while (parts.length < (reply.parts || 1));

	return { name: reply.name, type: reply.media_type, parts: parts };
}

/* The result for one file, or for the chats of the old Oasis. */
function outcome(name, reply, open) {
	return E('li', [ E('span', { 'class': 'oasis-row-text' }, [
		name ? E('strong', [ clean.plain(name) ]) : '',
		E('ul', [].concat(
			(reply.chats || []).map(function(chat) {
				return E('li', [ _('Taken in:'), ' ', page.link(clean.plain(chat.title) || _('Untitled chat'), function() { open(chat.id); }) ]);
			}),
			(reply.topics || []).length ? E('li', [ N_(reply.topics.length, '%d topic taken in', '%d topics taken in').format(reply.topics.length) ]) : [],
			(reply.reports || []).map(function(report) { return E('li', { 'class': 'oasis-small' }, [ clean.plain(report) ]); }),
			(reply.chats || []).length + (reply.reports || []).length ? [] : E('li', [ _('Nothing was there to take in.') ])
		))
	]) ]);
}

/* Chats taken in from files or from the old Oasis of this router. */
const Import = baseclass.extend({
	__init__: function(state) {
		this.state = state;
		this.input = E('input', { 'type': 'file', 'multiple': '', 'accept': '.json,application/json', 'autofocus': '', 'change': L.bind(function() {
			return this.files(Array.from(this.input.files));
		}, this) });
		this.status = E('p', { 'role': 'status' });
		this.rows = E('ul', { 'class': 'oasis-rows' });
		this.box = dialog.open(_('Import chats'), [
			page.field(_('Files of Oasis, old or new'), this.input),
			state.info.upstream ? E('p', [
				_('The old Oasis has chats on this router.'), ' ',
				page.button(_('Take them over'), '', L.bind(this.old, this))
			]) : '',
			this.status, this.rows
		]);
	},

	/* One after the other; a file that fails stops no other. */
	files: async function(files) {
		this.input.disabled = true;
		for (const file of files) {
			this.status.textContent = _('Sending %s').format(file.name);
			try {
				const sent = await api.send(file, function() {}).done;

				this.report(file.name, await api.call('import_chat', sent.upload));
			}
			catch (error) {
				this.failed(file.name, error);
			}
		}
		this.input.disabled = false;
		this.input.value = '';
		this.status.textContent = '';
		return this.state.emit('refreshChats');
	},

	old: function(ev) {
		const button = ev.currentTarget;

		button.disabled = true;
		return api.call('import_old').then(L.bind(function(reply) {
			this.report('', reply);
			return this.state.emit('refreshChats');
		}, this)).catch(L.bind(function(fault) {
			button.disabled = false;
			this.box.fault(fault);
		}, this));
	},

	report: function(name, reply) {
		this.rows.appendChild(outcome(name, reply, L.bind(function(id) {
			this.box.close();
			this.state.emit('open', id);
		}, this)));
	},

	failed: function(name, error) {
		this.rows.appendChild(E('li', { 'class': 'oasis-fault', 'role': 'alert' }, [
			E('span', { 'class': 'oasis-row-text' }, [
				E('strong', [ clean.plain(name) ]), ' ', clean.plain(error.message),
				E('div', { 'class': 'oasis-small' }, [ clean.plain(error.hint || '') ])
			])
		]));
	}
});

const List = baseclass.extend({
	__init__: function(state) {
		this.state = state;
		this.rows = E('ul', { 'class': 'oasis-chats' });
		this.old = E('ul', { 'class': 'oasis-chats' });
		this.shelf = E('details', { 'class': 'oasis-shelf', 'hidden': '' }, [ E('summary', [ _('Archived') ]), this.old ]);
		this.nav = E('nav', { 'aria-label': _('Chats') }, [ this.rows, this.shelf ]);
		this.search = new Search(state, L.bind(function(isOn) { this.nav.hidden = isOn; }, this));
		this.node = E('details', { 'class': 'oasis-side', 'open': window.matchMedia(WIDE).matches ? '' : null }, [
			E('summary', [ _('Chats') ]),
			page.button(_('New chat'), 'cbi-button-add oasis-new', function() { state.emit('fresh'); }),
			this.search.node, this.nav,
			state.isWriter ? E('p', [ page.link(_('Import chats\u2026'), function() { return new Import(state); }) ]) : ''
		]);
		state.on({ chats: this.draw, chat: this.draw }, this);
	},

	row: function(item) {
		const isCurrent = item.id == this.state.chat;

		return E('li', { 'class': isCurrent ? 'oasis-current' : '', 'data-chat': item.id }, [
			E('button', {
				'type': 'button', 'class': 'oasis-open', 'title': [ titleOf(item), whenOf(item) ].filter(Boolean).join('\n'),
				'aria-current': isCurrent ? 'true' : null,
				'click': L.bind(function() { this.state.emit('open', item.id); }, this)
			}, [ titleOf(item) ]),
			this.state.isWriter ? this.menu(item) : ''
		]);
	},

	menu: function(item) {
		const state = this.state, title = titleOf(item);

		return page.menu(_('More about the chat "%s"').format(title), [
			page.button(_('Rename\u2026'), '', function() {
				dialog.line(_('Rename chat'), _('Title'), item.title || '', function(text) { return state.emit('rename', item.id, text); });
			}),
			page.button(item.archived ? _('Bring back') : _('Archive'), '', function() { state.emit('archive', item.id, !item.archived); }),
			page.button(_('Delete\u2026'), 'cbi-button-negative', function() {
				dialog.ask(_('Delete chat'), _('Delete the chat "%s"? Changes made in it stay as they are.').format(title), _('Delete'),
					function() { return state.emit('remove', item.id); });
			})
		]);
	},

	/* The list may change at any time: an open menu stays open, and the keyboard stays where it is. */
	draw: function() {
		const open = this.nav.querySelector('.oasis-menu[open]'), row = (open || document.activeElement).closest('li');
		const before = row && this.nav.contains(row) ? stops(row) : [], at = before.indexOf(document.activeElement);

		this.rows.textContent = this.old.textContent = '';
		this.state.chats.forEach(function(item) {
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
	}
});

return baseclass.extend({
	/* Gives { node }. */
	list: function(state) {
		return new List(state);
	},

	/* Ask for the form and save a chat as a file; head: the end of the thread that is shown. */
	save: function(chat, head) {
		const box = dialog.open(_('Export this chat'), forms().map(function(form) {
			return E('p', [
				page.button(form[1], '', function() {
					return box.run(async function() {
						const file = await fetchAll(chat, form[0], form[0] == 'oasis' ? undefined : head);

						page.download(file.name, file.type, file.parts);
					});
				}), E('span', { 'class': 'oasis-small oasis-clear' }, [ form[2] ])
			]);
		}));

		return box;
	}
});
