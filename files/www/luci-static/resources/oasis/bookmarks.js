'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.dialog as dialog';
'require oasis.controls as controls';
'require oasis.words as words';

/*
 * The dialog of a chat's bookmarks: names of places in it, to go to, to take along, to move, to remove.
 */

/* the daemon takes no longer names */
const NAME_CHARS = 64;

const Bookmarks = baseclass.extend({
	/* place: { id, words } is what gets a name or a moved one; null for none. */
	__init__: function(chat, place, act) {
		this.chat = chat;
		this.place = place;
		this.act = act;
		this.rows = E('ul', { 'class': 'oasis-rows' });
		this.name = E('input', { 'type': 'text', 'class': 'cbi-input-text', 'maxlength': NAME_CHARS, 'autofocus': '' });
		this.box = dialog.open(_('Bookmarks'), [ this.rows, place && act.isWriter ? this.form() : E('span') ]);
		this.load();
	},

	form: function() {
		return E('form', { 'submit': this.add.bind(this) }, [
			E('p', { 'class': 'oasis-small' }, [ _('Name this place: %s').format(words.plain(this.place.words)) ]),
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
		const act = this.act;

		return E('li', [
			E('span', { 'class': 'oasis-row-text' }, [
				E('strong', [ words.plain(item.name) ]), ' ', E('span', { 'class': 'oasis-small' }, [ words.plain(item.text) ])
			]),
			controls.button(_('Open'), '', L.bind(function() {
				this.box.close();
				act.open(item.chat, item.name);
			}, this)),
			act.isWriter ? controls.button(_('Go on with it'), '', L.bind(function() {
				this.box.close();
				act.follow(item.chat, item.name);
			}, this)) : '',
			act.isWriter && this.place ? controls.button(_('Move here'), '', L.bind(this.change, this, 'set_bookmark', [ item.name, this.place.id, this.chat, true ])) : '',
			act.isWriter ? controls.button(_('Remove'), 'cbi-button-negative', L.bind(this.change, this, 'remove_bookmark', [ item.name, this.chat ])) : ''
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

return baseclass.extend({
	/* act: { isWriter, open(chat, headish), follow(chat, name) goes on there and takes the bookmark along } */
	open: function(chat, place, act) {
		return new Bookmarks(chat, place, act);
	}
});
