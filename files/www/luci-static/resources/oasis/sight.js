'use strict';
'require baseclass';

/*
 * What of the conversation is in sight: its end, a card with its buttons, a message that is looked for. It works on the
 * conversation's box and its entries, { id, nodes }; it makes no nodes.
 */

/* close enough to the end to go on following it */
const FOLLOW_PX = 80;
/* left above what is brought into sight */
const GAP_PX = 8;
const FOUND_MS = 2500;

function bring(box, node) {
	box.scrollTop += node.getBoundingClientRect().top - box.getBoundingClientRect().top - GAP_PX;
}

function indexOf(entries, id) {
	return entries.findIndex(function(entry) { return entry.id == id; });
}

return baseclass.extend({
	isAtEnd: function(box) {
		return box.scrollHeight - box.scrollTop - box.clientHeight < FOLLOW_PX;
	},

	/* A card that would not fit keeps its differences folded, so that question and buttons stay in sight. */
	unfold: function(box, card) {
		if (card.offsetHeight > box.clientHeight)
			card.querySelectorAll('.oasis-diff').forEach(function(part) { part.open = false; });
		if (card.offsetHeight > box.clientHeight)
			bring(box, card);
	},

	/* Make what follows a message, or the message too, look left out; id null for nothing. */
	dim: function(entries, id, isToo) {
		const at = id == null ? -1 : indexOf(entries, id);

		entries.forEach(function(entry, i) {
			entry.nodes.forEach(function(node) { node.classList.toggle('oasis-after', at != -1 && (isToo ? i >= at : i > at)); });
		});
	},

	/* Bring a message into sight, and its versions under the keyboard; false when it is not among those shown. */
	reveal: function(box, entries, id, isFocused) {
		let at = indexOf(entries, id);

		if (at == -1)
			return false;
		/* the result of a tool stands in the card of its call */
		while (at > 0 && !entries[at].nodes.length)
			at--;

		const node = entries[at].nodes[0] || box;

		bring(box, node);
		node.classList.add('oasis-found');
		window.setTimeout(function() { node.classList.remove('oasis-found'); }, FOUND_MS);
		if (isFocused)
			(node.querySelector('.oasis-versions button:not(:disabled)') || box).focus({ preventScroll: true });
		return true;
	}
});
