'use strict';
'require baseclass';

/*
 * Words for the eye: times, countdowns, and text whose hidden characters are shown.
 * It knows no daemon and no page.
 */

/* controls, zero-width and direction marks: what can make a line look like another one */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

function mark(chr) {
	return '\u27e8U+' + chr.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0') + '\u27e9';
}

function clock(seconds) {
	const whole = Math.max(0, Math.ceil(seconds));
	const minutes = Math.floor(whole / 60);

	if (minutes >= 60)
		return '%d:%s:%s'.format(Math.floor(minutes / 60), String(minutes % 60).padStart(2, '0'), String(whole % 60).padStart(2, '0'));

	return '%d:%s'.format(minutes, String(whole % 60).padStart(2, '0'));
}

return baseclass.extend({
	/* text as the owner must see it before agreeing to something */
	plain: function(text) {
		return String(text == null ? '' : text).replace(HIDDEN, mark);
	},

	/* seconds as 1:05 */
	clock: clock,

	/*
	 * Call tick(seconds left) now and about four times a second, then done() once; ends by itself when `node` leaves the page.
	 * Gives a function that stops it.
	 */
	countdown: function(node, seconds, tick, done) {
		const end_ms = performance.now() + seconds * 1000;
		let shown = false;

		const step = function() {
			const left_s = (end_ms - performance.now()) / 1000;

			shown = shown || document.contains(node);
			if (shown && !document.contains(node))
				return window.clearInterval(timer);

			tick(Math.max(0, left_s));

			if (left_s <= 0) {
				window.clearInterval(timer);
				done();
			}
		};
		const timer = window.setInterval(step, 250);

		tick(Math.max(0, seconds));
		return function() { window.clearInterval(timer); };
	},

	/* Unix milliseconds hidden in a message id (SCRU128: 25 digits of base 36, the time in the upper 48 bits), or null */
	time_ms: function(id) {
		if (typeof(id) != 'string' || !(/^[0-9a-zA-Z]{25}$/).test(id))
			return null;

		/* 80 lower bits are dropped; a double holds the rest well enough to sort by */
		let value = 0;
		for (let i = 0; i < id.length; i++)
			value = value * 36 + parseInt(id.charAt(i), 36);

		return value / Math.pow(2, 80);
	}
});
