'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.tree as tree';
'require oasis.bookmarks as bookmarks';
'require oasis.dialog as dialog';
'require oasis.controls as controls';
'require oasis.words as words';

/*
 * Where the conversation goes on: at the end of what is shown, or at a place that the owner chose, which a chip above the
 * field tells. Switching branches, naming and forgetting messages belong here too. It knows no run.
 */

const WORDS_MAX = 60;

function short(text) {
	const line = words.plain(text).replace(/\s+/g, ' ').trim();

	return line.length > WORDS_MAX ? line.slice(0, WORDS_MAX) + '\u2026' : line || _('(no words)');
}

const Branches = baseclass.extend({
	/* page: { log, composer, chat, open(chat, { head, at, isFocused }), trouble(fault) } */
	__init__: function(page, isWriter) {
		this.page = page;
		this.isWriter = isWriter;
		this.node = E('div', { 'class': 'oasis-place', 'role': 'status' });
		this.end = this.head = this.mark = '';
		this.chosen = null;
	},

	/* A thread is shown. head: what it was asked for with, "" for the one that goes on by itself. */
	shown: function(reply, head) {
		this.end = reply.head || '';
		this.head = head || '';
		this.latest = this.end;
		this.cancel();
	},

	/* A message of the run that is shown was stored. */
	stored: function(id) {
		this.latest = id;
	},

	/* Shape: { continues? } for the next message, absent where the daemon knows it by itself. */
	given: function() {
		if (this.chosen)
			return this.chosen.parents;
		return this.head ? [ this.latest ] : undefined;
	},

	/* The bookmark that the next message takes along, undefined where it follows by itself. */
	carried: function() {
		return this.mark || undefined;
	},

	/* The message was taken: the bookmark stands on it now, and follows what continues it. */
	taken: function() {
		if (this.mark)
			this.cancel();
	},

	/* The next message goes on at a bookmark and takes it along. */
	follow: function(chat, name) {
		return this.page.open(chat, { head: name }).then(L.bind(function() {
			this.choose([ this.latest ], _('The bookmark "%s" moves along').format(words.plain(name)), { isHere: true });
			this.mark = name;
		}, this));
	},

	/* Whether what is shown is not what the next message follows. */
	isElsewhere: function() {
		return this.chosen != null && !this.chosen.isHere;
	},

	choose: function(parents, text, chosen) {
		this.cancel();
		this.chosen = Object.assign({ parents: parents }, chosen);
		this.node.appendChild(controls.chip([ E('span', { 'class': 'oasis-chip-text' }, [ text ]) ], _('Go on at the end instead'), L.bind(function() {
			this.cancel();
			this.page.composer.focus();
		}, this)));
		if (this.chosen.dim)
			this.page.log.dim(this.chosen.dim, this.chosen.isEdit);
		this.page.composer.focus();
		this.page.fit();
	},

	/* The next message goes on at the end of what is shown. */
	cancel: function() {
		const wasEdit = this.chosen && this.chosen.isEdit;

		this.chosen = null;
		this.mark = '';
		this.node.textContent = '';
		this.page.log.dim(null);
		if (wasEdit && this.page.composer.area.value == wasEdit.text)
			this.page.composer.put('');
	},

	/* --- what can be done with a message (footer.js) --- */

	edit: function(entry) {
		this.choose(entry.parents || [], _('Asks again in place of: %s').format(short(entry.text)), { dim: entry.id, isEdit: { text: entry.text } });
		this.page.composer.put(entry.text);
		this.page.composer.focus();
	},

	branch: function(entry) {
		this.choose([ entry.id ], _('Continues: %s').format(short(entry.text)), { dim: entry.id });
	},

	/* The next message continues this one and what is shown. */
	join: function(place) {
		const parents = (this.chosen && !this.chosen.isEdit ? this.chosen.parents : [ this.latest ]).filter(Boolean);

		if (parents.indexOf(place.id) == -1)
			parents.push(place.id);
		this.choose(parents, _('Continues what is shown, and: %s').format(short(place.text)), {});
	},

	/* Another version of a message: the thread with the newest end below it. */
	turn: function(sibling) {
		return this.page.open(this.page.chat, { head: sibling.leaf, at: sibling.id, isFocused: true });
	},

	about: function(entry) {
		const chat = this.page.chat;

		return L.require('oasis.about').then(function(about) { about.message(chat, entry); });
	},

	bookmark: function(entry) {
		bookmarks.open(this.page.chat, { id: entry.id, words: short(entry.text) }, this.hands());
	},

	forget: function(entry) {
		const page = this.page;

		dialog.ask(_('Forget this message'), entry.ids.length > 1
			? _('The words of this answer and of its tools are removed from the router for good. Changes made stay as they are.')
			: _('The words of this message are removed from the router for good. Changes made stay as they are.'),
		_('Forget'), async function() {
			for (const id of entry.ids)
				await api.call('forget', id, page.chat);
			page.open(page.chat, { head: this.head && this.latest, at: entry.id });
		}.bind(this));
	},

	/* --- the chat as a whole --- */

	showTree: function() {
		tree.open(this.page.chat, this.latest, Object.assign(this.hands(), { branch: this.branch.bind(this), join: this.join.bind(this) }));
	},

	showBookmarks: function() {
		bookmarks.open(this.page.chat, this.latest ? { id: this.latest, words: _('the end of what is shown') } : null, this.hands());
	},

	hands: function() {
		const page = this.page;

		return {
			isWriter: this.isWriter,
			follow: this.follow.bind(this),
			open: function(chat, head, at) { return page.open(chat, { head: head, at: at }); }
		};
	}
});

return baseclass.extend({
	create: function(page, isWriter) {
		return new Branches(page, isWriter);
	}
});
