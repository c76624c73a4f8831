'use strict';
'require baseclass';

/*
 * Markdown of a model, as nodes. Text only ever becomes text nodes; the only attribute made from it is the address of a link,
 * and only http and https count as one. What is not understood stays as written.
 */

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const QUOTE = /^ {0,3}>\s?/;
const TABLE = /^\s*\|.*\|\s*$/;
const INDENTED = /^\s+\S/;
const BLANK = /^\s*$/;
/* code, bold, italic, link, bare address */
const INLINE = /(`{1,3})((?:(?!\1)[^])+)\1|\*\*((?:(?!\*\*)[^])+)\*\*|\*([^*\s](?:[^*\n]*[^*\s])?)\*|\[([^\]\n]*)\]\(([^()\s]*)\)|https?:\/\/[^\s<>()\[\]`"']*[^\s<>()\[\]`"'.,:;!?]/g;
/* above this a paragraph is shown as it came: patterns on huge lines cost more than they give */
const INLINE_MAX = 8000;

function address(text) {
	try {
		const url = new URL(text);

		return url.protocol == 'http:' || url.protocol == 'https:' ? url.href : null;
	}
	catch (e) {
		return null;
	}
}

function link(href, children) {
	return E('a', { 'href': href, 'target': '_blank', 'rel': 'noopener noreferrer', 'title': href }, children);
}

function inlineNode(match) {
	const href = address(match[6] != null ? match[6] : match[0]);

	if (match[2] != null)
		return E('code', [ match[2] ]);
	if (match[3] != null)
		return E('strong', inline(match[3]));
	if (match[4] != null)
		return E('em', inline(match[4]));
	if (href == null)
		return match[0];

	return link(href, match[5] != null ? inline(match[5] || href) : [ match[0] ]);
}

function inline(text) {
	const nodes = [];
	let at = 0;

	if (text.length > INLINE_MAX)
		return [ text ];

	/* matchAll works on a copy of the pattern, so recursion does not disturb it */
	for (const match of text.matchAll(INLINE)) {
		nodes.push(text.slice(at, match.index), inlineNode(match));
		at = match.index + match[0].length;
	}

	nodes.push(text.slice(at));
	return nodes.filter(function(node) { return node !== ''; });
}

function kindOf(line) {
	return FENCE.test(line) ? 'fence' : HEADING.test(line) ? 'heading' : RULE.test(line) ? 'rule'
		: ITEM.test(line) ? 'list' : QUOTE.test(line) ? 'quote' : TABLE.test(line) ? 'table' : 'text';
}

/* The line after the block that begins at `at`. */
function blockEnd(lines, at, kind) {
	let end = at + 1;

	if (kind == 'fence') {
		const mark = FENCE.exec(lines[at])[1];

		while (end < lines.length && lines[end].trim() != mark)
			end++;
		return Math.min(end + 1, lines.length);
	}

	if (kind == 'heading' || kind == 'rule')
		return end;

	for (; end < lines.length; end++) {
		const line = lines[end], next = kindOf(line);

		if (kind == 'list' && BLANK.test(line) && end + 1 < lines.length && (ITEM.test(lines[end + 1]) || INDENTED.test(lines[end + 1])))
			continue;
		if (BLANK.test(line))
			break;
		if (next != kind && !(kind == 'list' && (next == 'text' || INDENTED.test(line))))
			break;
	}

	return end;
}

/* Shape: [{ kind, source }] */
function split(text) {
	const lines = text.split('\n');
	const blocks = [];

	for (let at = 0; at < lines.length;) {
		if (BLANK.test(lines[at])) {
			at++;
			continue;
		}

		const kind = kindOf(lines[at]), end = blockEnd(lines, at, kind);
		blocks.push({ kind: kind, source: lines.slice(at, end).join('\n') });
		at = end;
	}

	return blocks;
}

function renderFence(source) {
	const lines = source.split('\n');
	const open = FENCE.exec(lines[0]);
	const isClosed = lines.length > 1 && lines[lines.length - 1].trim() == open[1];
	const code = lines.slice(1, isClosed ? -1 : lines.length).join('\n');

	return E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, [ E('code', [ code ]) ]);
}

function renderHeading(source) {
	const match = HEADING.exec(source);

	return E('p', { 'class': 'oasis-heading', 'role': 'heading', 'aria-level': String(Math.min(6, match[1].length + 2)) }, inline(match[2]));
}

/* Items with deeper ones inside; a line that is no item belongs to the item above it. */
function renderList(source) {
	const lines = source.split('\n').filter(function(line) { return !BLANK.test(line); });
	const first = ITEM.exec(lines[0]);
	const isOrdered = first[2].length > 1;
	const items = [];

	lines.forEach(function(line) {
		const match = ITEM.exec(line);

		if (match && match[1].length <= first[1].length)
			items.push({ text: match[3], inner: [] });
		else if (match || items[items.length - 1].inner.length)
			items[items.length - 1].inner.push(line);
		else
			items[items.length - 1].text += '\n' + line.trim();
	});

	return E(isOrdered ? 'ol' : 'ul', { 'start': isOrdered ? parseInt(first[2], 10) : null }, items.map(function(item) {
		return E('li', inline(item.text).concat(item.inner.length ? [ renderList(item.inner.join('\n')) ] : []));
	}));
}

function renderQuote(source) {
	const inner = source.split('\n').map(function(line) { return line.replace(QUOTE, ''); }).join('\n');

	return E('blockquote', split(inner).map(render));
}

function render(block) {
	switch (block.kind) {
	case 'fence': return renderFence(block.source);
	case 'heading': return renderHeading(block.source);
	case 'rule': return E('hr');
	case 'list': return renderList(block.source);
	case 'quote': return renderQuote(block.source);
	case 'table': return E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, [ block.source ]);
	default: return E('p', inline(block.source));
	}
}

return baseclass.extend({
	/* Markdown as an array of nodes. */
	nodes: function(text) {
		return split(String(text)).map(render);
	},

	/* A text that grows: set(text) rebuilds only the blocks of `node` that differ from before. */
	live: function(node) {
		let shown = [];

		return {
			set: function(text) {
				const blocks = split(String(text));
				let same = 0;

				while (same < blocks.length && same < shown.length && blocks[same].source == shown[same].source)
					same++;

				while (node.childNodes.length > same)
					node.removeChild(node.lastChild);

				blocks.slice(same).forEach(function(block) { node.appendChild(render(block)); });
				shown = blocks;
			}
		};
	}
});
