'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.words as words';

/*
 * The field that searches all chats, archived ones too, and the list of what it found.
 */

/* long enough for a word to be typed; a search reads all of flash */
const PAUSE_MS = 350;
const RESULTS = 30;

const Search = baseclass.extend({
	__init__: function(act) {
		this.act = act;
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
		this.timer = window.setTimeout(this.look.bind(this), this.input.value.trim() ? PAUSE_MS : 0);
	},

	key: function(ev) {
		if (ev.key == 'Enter') {
			window.clearTimeout(this.timer);
			this.look();
		}
		else if (ev.key == 'Escape' && this.input.value) {
			/* on the page Escape stops a run */
			ev.stopPropagation();
			this.input.value = '';
			this.look();
		}
	},

	look: function() {
		const text = this.input.value.trim();

		this.asked = text;
		this.act.searching(!!text);
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
				'type': 'button', 'class': 'oasis-open oasis-hit', 'click': L.bind(function() { this.act.open(item.chat, item.message); }, this)
			}, [
				E('span', { 'class': 'oasis-clip' }, [ words.plain(item.title) || _('Untitled chat') ]),
				item.archived ? E('span', { 'class': 'oasis-badge' }, [ _('archived') ]) : '',
				E('span', { 'class': 'oasis-small oasis-snippet' }, [ words.plain(item.snippet) ])
			]) ]));
		}, this);
	}
});

return baseclass.extend({
	/* act: { open(chat, message), searching(whether something is looked for) } */
	field: function(act) {
		return new Search(act);
	}
});
