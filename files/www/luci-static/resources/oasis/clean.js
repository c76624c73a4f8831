'use strict';
'require baseclass';

/*
 * Text from outside, made safe to show: hidden characters are removed or written out. This module knows no daemon and no page.
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

/* what a card for approval writes out: characters that are not seen or look like a blank; the same as in core/clean.py */
const ODD = /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

function mark(chr) {
	return '\u27e8U+' + chr.codePointAt(0).toString(16).toUpperCase().padStart(4, '0') + '\u27e9';
}

function unpiled(text) {
	return String(text == null ? '' : text).replace(PILE, function(all, few, rest) { return few + Array.from(rest).map(mark).join(''); });
}

return baseclass.extend({
	/* Text of any kind: what is not seen is written out. */
	plain: function(text) {
		return unpiled(text).replace(HIDDEN, mark);
	},

	/* Messages, for reading: what is not seen is left out. */
	visible: function(text) {
		return String(text == null ? '' : text).replace(/\r\n?/g, '\n').replace(INVISIBLE, '').replace(PILE, '$1\u2026');
	},

	/* Text of a card for approval: everything that is not seen, or looks like a blank, is written out. */
	whole: function(text) {
		return unpiled(text).replace(ODD, mark);
	}
});
