'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.upload as upload';
'require oasis.dialog as dialog';
'require oasis.controls as controls';
'require oasis.page as page';
'require oasis.words as words';

/*
 * Chats as files: saved from here, taken in from files or from the old Oasis of this router.
 */

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

/* What came of one file, or of the old program. */
function outcome(name, reply, open) {
	return E('li', [ E('span', { 'class': 'oasis-row-text' }, [
		name ? E('strong', [ words.plain(name) ]) : '',
		E('ul', [].concat(
			(reply.chats || []).map(function(chat) {
				return E('li', [ _('Taken in:'), ' ', controls.link(words.plain(chat.title) || _('Untitled chat'), function() { open(chat.id); }) ]);
			}),
			(reply.topics || []).length ? E('li', [ N_(reply.topics.length, '%d topic taken in', '%d topics taken in').format(reply.topics.length) ]) : [],
			(reply.reports || []).map(function(report) { return E('li', { 'class': 'oasis-small' }, [ words.plain(report) ]); }),
			(reply.chats || []).length + (reply.reports || []).length ? [] : E('li', [ _('Nothing was there to take in.') ])
		))
	]) ]);
}

const Import = baseclass.extend({
	__init__: function(hasOld, act) {
		this.act = act;
		this.input = E('input', { 'type': 'file', 'multiple': '', 'accept': '.json,application/json', 'autofocus': '', 'change': L.bind(function() {
			return this.files(Array.from(this.input.files));
		}, this) });
		this.status = E('p', { 'role': 'status' });
		this.rows = E('ul', { 'class': 'oasis-rows' });
		this.box = dialog.open(_('Import chats'), [
			E('label', { 'class': 'oasis-field' }, [ E('span', [ _('Files of Oasis, old or new') ]), this.input ]),
			hasOld ? E('p', [
				_('The old Oasis has chats on this router.'), ' ',
				controls.button(_('Take them over'), '', L.bind(this.old, this))
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
				const sent = await upload.send(file, function() {}).done;

				this.told(file.name, await api.call('import_chat', sent.upload));
			}
			catch (error) {
				this.failed(file.name, error);
			}
		}
		this.input.disabled = false;
		this.input.value = '';
		this.status.textContent = '';
		return this.act.changed();
	},

	old: function(ev) {
		const button = ev.currentTarget;

		button.disabled = true;
		return api.call('import_old').then(L.bind(function(reply) {
			this.told('', reply);
			return this.act.changed();
		}, this)).catch(L.bind(function(fault) {
			button.disabled = false;
			this.box.fault(fault);
		}, this));
	},

	told: function(name, reply) {
		this.rows.appendChild(outcome(name, reply, L.bind(function(id) {
			this.box.close();
			this.act.open(id);
		}, this)));
	},

	failed: function(name, error) {
		this.rows.appendChild(E('li', { 'class': 'oasis-fault', 'role': 'alert' }, [
			E('span', { 'class': 'oasis-row-text' }, [
				E('strong', [ words.plain(name) ]), ' ', words.plain(error.message),
				E('div', { 'class': 'oasis-small' }, [ words.plain(error.hint || '') ])
			])
		]));
	}
});

return baseclass.extend({
	/* Ask for the form and save the chat; head: the end of the thread that is shown. */
	save: function(chat, head) {
		const box = dialog.open(_('Export this chat'), forms().map(function(form) {
			return E('p', [
				controls.button(form[1], '', function() {
					return box.run(async function() {
						const file = await fetchAll(chat, form[0], form[0] == 'oasis' ? undefined : head);

						page.download(file.name, file.type, file.parts);
					});
				}), E('span', { 'class': 'oasis-small oasis-clear' }, [ form[2] ])
			]);
		}));

		return box;
	},

	/* act: { open(chat), changed() }; hasOld: whether the old program's chats are on this router. */
	take: function(hasOld, act) {
		return new Import(hasOld, act);
	}
});
