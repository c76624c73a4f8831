'use strict';
'require baseclass';

/*
 * Words for the eye: times, countdowns, and text whose hidden characters are shown.
 * It knows no daemon and no page.
 */

/*
 * Controls, zero-width and direction marks, tags: what steers, or makes a line look like another one. The ranges are those of
 * oasis/core/clean.py; joiners and the selectors of an emoji's colour belong to some scripts, and hide only in names.
 */
const UNSEEN = '\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200e\\u200f'
	+ '\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}';
const INVISIBLE = new RegExp('[' + UNSEEN + ']', 'gu');
const HIDDEN = new RegExp('[' + UNSEEN + '\\u034f\\u200c\\u200d\\ufe00-\\ufe0f]', 'gu');
/*
 * A letter carries few marks: on a long run of them fonts paint over the lines around, or make one letter wider than a screen, for
 * no line breaks inside of it. The same with what joins emoji, and the parts of a Hangul syllable.
 */
const PILE = /([\p{M}\u0600-\u0605\u06dd\u070f\u200d\u1100-\u11ff]{8})([\p{M}\u0600-\u0605\u06dd\u070f\u200d\u1100-\u11ff]+)/gu;

/* all that a card for approval writes out: what is not seen, and what looks like a blank; the same as in core/clean.py */
const ODD = /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

function mark(chr) {
	return '\u27e8U+' + chr.codePointAt(0).toString(16).toUpperCase().padStart(4, '0') + '\u27e9';
}

function unpiled(text) {
	return String(text == null ? '' : text).replace(PILE, function(all, few, rest) { return few + Array.from(rest).map(mark).join(''); });
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
		return unpiled(text).replace(HIDDEN, mark);
	},

	/* what was said, for reading: without what nobody sees */
	visible: function(text) {
		return String(text == null ? '' : text).replace(/\r\n?/g, '\n').replace(INVISIBLE, '').replace(PILE, '$1\u2026');
	},

	/* the same for a card that is approved: nothing in it is unseen */
	whole: function(text) {
		return unpiled(text).replace(ODD, mark);
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
