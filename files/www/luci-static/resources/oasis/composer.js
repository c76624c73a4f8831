'use strict';
'require baseclass';
'require oasis.rpc as api';

/*
 * The field to write in, with Send, Stop and the line that says what is going on.
 * What is typed survives a reload and a login (kept for this tab only); it goes away once it was sent.
 */

const DRAFT_KEY = 'oasis.draft';

function examples() {
	return [ _('Is everything all right with my router?'), _('Turn on a guest Wi-Fi'), _('Why is the internet slow?') ];
}

const Composer = baseclass.extend({
	__init__: function(act) {
		this.act = act;
		this.isBusy = false;
		this.area = E('textarea', {
			'id': 'oasis-input', 'class': 'cbi-input-textarea', 'rows': '2', 'placeholder': _('What should the router do?'),
			'aria-describedby': 'oasis-keys', 'autocomplete': 'off'
		});
		this.sendButton = E('button', { 'type': 'submit', 'class': 'btn cbi-button cbi-button-action important' }, [ _('Send') ]);
		this.stopButton = E('button', { 'type': 'button', 'class': 'btn cbi-button cbi-button-negative', 'hidden': '', 'click': act.stop }, [ _('Stop') ]);
		this.status = E('p', { 'class': 'oasis-status', 'role': 'status' });
		this.above = E('div', { 'class': 'oasis-above' });
		this.tools = E('div', { 'class': 'oasis-tools' });
		this.node = this.render();

		this.area.value = window.sessionStorage.getItem(DRAFT_KEY) || '';
		this.area.addEventListener('input', this.keep.bind(this));
		this.area.addEventListener('keydown', this.areaKey.bind(this));
		document.addEventListener('keydown', this.pageKey.bind(this));
	},

	render: function() {
		return E('div', [
			this.status, this.above,
			E('form', { 'class': 'oasis-compose', 'submit': this.submit.bind(this) }, [
				E('label', { 'class': 'oasis-hidden', 'for': 'oasis-input' }, [ _('Message') ]),
				this.area, this.sendButton, this.stopButton
			]),
			this.tools,
			E('p', { 'class': 'oasis-small oasis-keys', 'id': 'oasis-keys' }, [ _('Enter sends, Shift+Enter starts a new line, Escape stops') ])
		]);
	},

	/* What an empty chat shows. */
	welcome: function(isWriter) {
		return E('div', { 'class': 'oasis-welcome' }, [
			E('p', { 'class': 'oasis-summary' }, [ E('strong', [ _('What should the router do?') ]) ]),
			E('p', [ _('Say it in your own words. Nothing risky is changed before you agreed, and everything can be undone.') ]),
			E('div', isWriter ? examples().map(this.example, this) : [])
		]);
	},

	example: function(text) {
		return E('button', { 'type': 'button', 'class': 'btn cbi-button', 'click': L.bind(function() {
			this.put(text);
			this.area.focus();
		}, this) }, [ text ]);
	},

	/* A run goes on: Stop takes the place of Send. */
	busy: function(text, isMoving) {
		this.turn(true);
		this.show(text, isMoving !== false);
	},

	idle: function(text) {
		this.turn(false);
		this.show(text, false);
	},

	say: function(text) {
		this.show(text, this.isBusy);
	},

	focus: function() {
		this.grow();
		this.area.focus({ preventScroll: true });
	},

	turn: function(isBusy) {
		this.isBusy = isBusy;
		this.sendButton.hidden = isBusy;
		this.stopButton.hidden = !isBusy;
	},

	show: function(text, isMoving) {
		this.status.textContent = text;
		this.status.classList.toggle('oasis-busy', isMoving);
	},

	grow: function() {
		this.area.style.height = 'auto';
		this.area.style.height = (this.area.scrollHeight + 2) + 'px';
	},

	keep: function() {
		window.sessionStorage.setItem(DRAFT_KEY, this.area.value);
		this.grow();
	},

	put: function(text) {
		this.area.value = text;
		this.keep();
	},

	/* Put a word where the cursor is; gives the field. */
	insert: function(word) {
		this.area.setRangeText(word, this.area.selectionStart, this.area.selectionEnd, 'end');
		this.keep();
		return this.area;
	},

	areaKey: function(ev) {
		/* Enter that ends the input of a Japanese or Chinese word is not meant for us */
		if (ev.key == 'Enter' && !ev.shiftKey && !ev.isComposing && ev.keyCode != 229)
			this.submit(ev);
	},

	pageKey: function(ev) {
		if (ev.key == 'Escape' && this.isBusy && !ev.isComposing && document.contains(this.node))
			this.act.stop();
	},

	submit: function(ev) {
		const text = this.area.value;

		ev.preventDefault();
		if (this.isBusy || !text.trim())
			return;
		if (!api.fits(text))
			return this.show(_('This message is too long: shorten it to about 60 kB.'), false);
		if (this.act.obstacle())
			return this.show(this.act.obstacle(), false);

		this.area.value = '';
		this.grow();
		this.act.send(text).then(L.bind(function(isTaken) {
			/* what was typed meanwhile must not be lost either */
			this.put(isTaken ? this.area.value : text + (this.area.value ? '\n' + this.area.value : ''));
		}, this));
	}
});

return baseclass.extend({
	/*
	 * act: { send(text) gives a promise of true when it was taken, stop(), obstacle() tells what keeps a message back or "" }.
	 * Gives { node, area, above and tools (places for what belongs to the field), welcome(isWriter), busy(text, isMoving), idle(text),
	 * say(text), put(text), insert(word), focus() }.
	 */
	create: function(act) {
		return new Composer(act);
	}
});
