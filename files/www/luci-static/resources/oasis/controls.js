'use strict';
'require baseclass';

/*
 * The small nodes that many parts of the page are made of. It knows nothing of chats.
 */

/* pick a unit that leaves few digits; files are counted as flash is */
function size(bytes) {
	return bytes < 1024 ? '%d B'.format(bytes) : bytes < 1024 * 1024 ? '%d KiB'.format(Math.ceil(bytes / 1024))
		: '%.1f MiB'.format(bytes / 1024 / 1024);
}

function button(label, classes, press) {
	return E('button', { 'type': 'button', 'class': 'btn cbi-button ' + (classes || ''), 'click': press }, [ label ]);
}

/* A button that looks like a word; `name` is what a screen reader says instead of the label. */
function link(label, press, name) {
	return E('button', { 'type': 'button', 'class': 'oasis-link', 'title': name, 'aria-label': name, 'click': press }, [ label ]);
}

/* The node with this key that can take the focus, else one of the same row; keys are "row/what". */
function keyed(key) {
	const all = Array.from(document.querySelectorAll('[data-key]')).filter(function(node) { return !node.disabled; });

	return key && (all.find(function(node) { return node.dataset.key == key; })
		|| all.find(function(node) { return node.dataset.key.split('/')[0] == key.split('/')[0]; }));
}

return baseclass.extend({
	size: size,
	keyed: keyed,
	button: button,
	link: link,

	/* Buttons behind three dots; pressing one, Escape or a press elsewhere folds them again. */
	menu: function(name, buttons) {
		const node = E('details', { 'class': 'oasis-menu' }, [
			E('summary', { 'aria-label': name, 'title': name }, [ '\u22ef' ]), E('span', buttons)
		]);
		const away = function(ev) {
			if (!document.contains(node) || !node.contains(ev.target))
				node.open = false;
		};

		node.addEventListener('click', function(ev) {
			if (ev.target.tagName == 'BUTTON')
				node.open = false;
		});
		node.addEventListener('keydown', function(ev) {
			if (ev.key != 'Escape' || !node.open)
				return;
			ev.stopPropagation();
			node.open = false;
			node.firstChild.focus();
		});
		node.addEventListener('toggle', function() {
			document[node.open ? 'addEventListener' : 'removeEventListener']('click', away);
		});
		return node;
	},

	/* A word with a cross that takes it away; without `drop` it stays. */
	chip: function(nodes, name, drop) {
		return E('span', { 'class': 'oasis-chip' }, nodes.concat(drop ? [ link('\u00d7', drop, name) ] : []));
	},

	/* A document or image that belongs to a message. Shape: { name, size_bytes, media_type }. */
	file: function(block) {
		const bytes = block.size_bytes ? ' \u00b7 ' + size(block.size_bytes) : '';

		return E('span', { 'class': 'oasis-chip oasis-file', 'title': block.media_type }, [
			E('span', { 'class': 'oasis-chip-text' }, [ block.name || (block.type == 'image' ? _('Image') : _('Document')) ]),
			E('span', { 'class': 'oasis-count' }, [ bytes ])
		]);
	}
});
