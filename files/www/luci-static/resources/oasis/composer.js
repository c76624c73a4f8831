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

return baseclass.extend({
	/* act: { send(text) gives a promise of true when it was taken, stop() } */
	create: function(act) {
		const area = E('textarea', {
			'id': 'oasis-input', 'class': 'cbi-input-textarea', 'rows': '2', 'placeholder': _('What should the router do?'),
			'aria-describedby': 'oasis-keys', 'autocomplete': 'off'
		});
		const send = E('button', { 'type': 'submit', 'class': 'btn cbi-button cbi-button-action important oasis-send' }, [ _('Send') ]);
		const stop = E('button', { 'type': 'button', 'class': 'btn cbi-button cbi-button-negative oasis-stop', 'hidden': '' }, [ _('Stop') ]);
		const status = E('p', { 'class': 'oasis-status', 'role': 'status' });
		const form = E('form', { 'class': 'oasis-compose' }, [
			E('label', { 'class': 'oasis-hidden', 'for': 'oasis-input' }, [ _('Message') ]), area, send, stop
		]);
		const node = E('div', [
			status, form,
			E('p', { 'class': 'oasis-small oasis-keys', 'id': 'oasis-keys' }, [ _('Enter sends, Shift+Enter starts a new line, Escape stops') ])
		]);
		let isBusy = false;

		const grow = function() {
			area.style.height = 'auto';
			area.style.height = (area.scrollHeight + 2) + 'px';
		};

		const keep = function() {
			window.sessionStorage.setItem(DRAFT_KEY, area.value);
			grow();
		};

		const put = function(text) {
			area.value = text;
			keep();
		};

		const show = function(text, isMoving) {
			status.textContent = text;
			status.classList.toggle('oasis-busy', !!isMoving);
		};

		const submit = function(ev) {
			const text = area.value;

			ev.preventDefault();
			if (isBusy || !text.trim())
				return;
			if (!api.fits(text))
				return show(_('This message is too long: shorten it to about 60 kB.'));

			area.value = '';
			grow();
			act.send(text).then(function(isTaken) {
				/* what was typed meanwhile must not be lost either */
				put(isTaken ? area.value : text + (area.value ? '\n' + area.value : ''));
			});
		};

		form.addEventListener('submit', submit);
		stop.addEventListener('click', function() { act.stop(); });
		area.addEventListener('input', keep);
		area.addEventListener('keydown', function(ev) {
			/* Enter that ends the input of a Japanese or Chinese word is not meant for us */
			if (ev.key == 'Enter' && !ev.shiftKey && !ev.isComposing && ev.keyCode != 229)
				submit(ev);
		});
		document.addEventListener('keydown', function(ev) {
			if (ev.key == 'Escape' && isBusy && document.contains(node) && !ev.isComposing)
				act.stop();
		});

		area.value = window.sessionStorage.getItem(DRAFT_KEY) || '';

		return {
			node: node,

			/* A run goes on: Stop takes the place of Send. */
			busy: function(text, isMoving) {
				isBusy = true;
				send.hidden = true;
				stop.hidden = false;
				show(text, isMoving !== false);
			},

			idle: function(text) {
				isBusy = false;
				send.hidden = false;
				stop.hidden = true;
				show(text);
			},

			say: function(text) { show(text, isBusy); },

			focus: function() {
				grow();
				area.focus({ preventScroll: true });
			},

			/* What an empty chat shows. */
			welcome: function(isWriter) {
				return E('div', { 'class': 'oasis-welcome' }, [
					E('p', { 'class': 'oasis-summary' }, [ E('strong', [ _('What should the router do?') ]) ]),
					E('p', [ _('Say it in your own words. Nothing risky is changed before you agreed, and everything can be undone.') ]),
					isWriter ? E('div', examples().map(function(text) {
						return E('button', {
							'type': 'button', 'class': 'btn cbi-button',
							'click': function() {
								put(text);
								area.focus();
							}
						}, [ text ]);
					})) : null
				].filter(Boolean));
			}
		};
	}
});
