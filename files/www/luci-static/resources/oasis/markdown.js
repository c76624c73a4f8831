'use strict';
'require baseclass';
'require oasis.clean as clean';

/*
 * Markdown of a model, as nodes. Text only ever becomes text nodes; the only attribute made from it is the address of a link,
 * and only http and https count as one. What is not understood stays as written.
 *
 * Every text is read once from left to right: a pattern never begins again at a place that it has passed, so that twice the text
 * takes twice the time. Blocks lie in each other up to DEPTH_MAX; a text above TEXT_MAX, or one that cannot be drawn, is shown as it is.
 *
 * The text of a link may say anything, so the host that it really leads to stands next to it, as the browser names it: without a
 * user name before it, and other scripts as xn--.
 */

/* quotes and lists in each other; what lies deeper is text */
const DEPTH_MAX = 12;
/* characters of one text; more than any service answers with */
const TEXT_MAX = 300000;
/* of an address; browsers take more, people do not read more */
const ADDRESS_MAX = 2000;

const ITEM = /^([ \t]*)([-*+]|\d{1,9}[.)])[ \t]+/;
const INDENTED = /^\s+\S/;
const SPACE = /\s/;
/* what may begin something in a line; each is looked for from where the last one ended */
const SIGNS = /[`*[]|https?:\/\//g;
const WITHOUT_SPACE = /[^()\s]+/y;
const BARE = /[^\s<>()[\]`"']+/y;
const STOPS = '.,:;!?*';

/* Where the next `mark` stands, Infinity for nowhere; since the places asked for only rise, the text is searched once. */
function seeker(text) {
	const known = {};

	return function(mark, at) {
		if (!(known[mark] >= at)) {
			const found = text.indexOf(mark, at);

			known[mark] = found == -1 ? Infinity : found;
		}
		return known[mark];
	};
}

/* What a pattern matches just here, or "". */
function taken(pattern, text, at) {
	pattern.lastIndex = at;
	const match = pattern.exec(text);

	return match ? match[0] : '';
}

/* How often a character stands in a row from here on. */
function run(text, at) {
	let end = at + 1;

	while (text[end] == text[at])
		end++;
	return end - at;
}

function address(text) {
	try {
		const url = text.length <= ADDRESS_MAX ? new URL(text) : {};

		return url.protocol == 'http:' || url.protocol == 'https:' ? url : null;
	}
	catch (e) {
		return null;
	}
}

function hostOf(url) {
	return E('bdi', { 'class': 'oasis-host', 'dir': 'ltr' }, [ url.host ]);
}

function anchor(url, children) {
	return E('a', { 'href': url.href, 'target': '_blank', 'rel': 'noopener noreferrer', 'title': url.href }, children);
}

/* A link whose text is its own address shows the host within that text. */
function bareLink(url, text) {
	const before = url.protocol + '//', after = before.length + url.host.length, rest = text.slice(after);

	if (text.slice(0, after) == before + url.host && (rest == '' || '/?#'.indexOf(rest[0]) != -1))
		return [ anchor(url, [ before, hostOf(url), rest ]) ];
	return [ anchor(url, [ text ]), ' ', hostOf(url) ];
}

/*
 * What begins with a sign in a line: { nodes, length }, or nothing where the sign is only a character. A link's text holds no
 * other link: in nested ones mouse and keyboard go to different places.
 */
const READ = {
	'`': function(text, at, next) {
		const length = run(text, at), end = length > 3 ? Infinity : next(text.slice(at, at + length), at + length);

		return end == Infinity ? null : { nodes: [ E('code', [ text.slice(at + length, end) ]) ], length: end + length - at };
	},

	'*': function(text, at, next, isInLink) {
		const length = run(text, at), mark = text.slice(at, at + length), end = length > 3 ? Infinity : next(mark, at + length);

		if (end == Infinity || length == 1 && (next('\n', at) < end || SPACE.test(text[at + 1]) || SPACE.test(text[end - 1])))
			return null;

		const inner = inline(text.slice(at + length, end), isInLink), em = length == 2 ? inner : [ E('em', inner) ];

		return { nodes: length == 1 ? em : [ E('strong', em) ], length: end + length - at };
	},

	'[': function(text, at, next, isInLink) {
		const middle = next(']', at);

		if (middle == Infinity || next('[', at + 1) < middle || next('\n', at) < middle || text[middle + 1] != '(')
			return null;

		const target = taken(WITHOUT_SPACE, text, middle + 2), end = middle + 2 + target.length;

		if (text[end] != ')')
			return null;

		const url = address(target);

		if (!url || isInLink)
			return { nodes: [ text.slice(at, end + 1) ], length: end + 1 - at };
		if (middle == at + 1)
			return { nodes: bareLink(url, target), length: end + 1 - at };
		return { nodes: [ anchor(url, inline(text.slice(at + 1, middle), true)), ' ', hostOf(url) ], length: end + 1 - at };
	},

	'h': function(text, at, next, isInLink) {
		let found = taken(BARE, text, at), end = found.length;

		while (STOPS.indexOf(found[end - 1]) != -1)
			end--;
		found = found.slice(0, end);

		const url = address(found);

		return { nodes: url && !isInLink ? bareLink(url, found) : [ found ], length: end };
	}
};

function inline(text, isInLink) {
	const nodes = [], next = seeker(text);
	let at = 0, plain = '';

	for (;;) {
		SIGNS.lastIndex = at;
		const match = SIGNS.exec(text);

		if (!match)
			break;

		const sign = match[0][0], found = READ[sign](text, match.index, next, isInLink);

		plain += text.slice(at, match.index);
		at = match.index + (found ? found.length : sign == '[' ? 1 : run(text, match.index));
		if (found) {
			nodes.push(plain);
			[].push.apply(nodes, found.nodes);
			plain = '';
		}
		else {
			plain += text.slice(match.index, at);
		}
	}

	return nodes.concat(plain + text.slice(at)).filter(function(node) { return node !== ''; });
}

/* --- lines --- */

function isBlank(line) { return line.trim() == ''; }

/* A line that begins a block has at most three spaces before it; null for one that has more. */
function flush(line) {
	const text = line.trim();

	return line.slice(0, 4).trim() == '' && text != '' || line[0] == '\t' ? null : text;
}

/* The marks that open a fence, or "". */
function fenceOf(line) {
	const text = flush(line), length = text && (text[0] == '`' || text[0] == '~') ? run(text, 0) : 0;

	return length < 3 || text.indexOf('`', length) != -1 ? '' : text.slice(0, length);
}

/* Shape: { level, text }, or null. */
function headingOf(line) {
	const text = flush(line), level = text && text[0] == '#' ? run(text, 0) : 0;
	let end = text ? text.length : 0;

	if (!level || level > 6 || !SPACE.test(text[level]))
		return null;
	while (text[end - 1] == '#')
		end--;
	return { level: level, text: text.slice(level, Math.max(level, end)).trim() };
}

function isRule(line) {
	const text = flush(line);

	if (!text || '-*_'.indexOf(text[0]) == -1)
		return false;

	const marks = text.split('').filter(function(char) { return !SPACE.test(char); });

	return marks.length > 2 && marks.every(function(char) { return char == text[0]; });
}

function isQuote(line) { return (flush(line) || '')[0] == '>'; }

function isTable(line) {
	const text = line.trim();

	return text.length > 1 && text[0] == '|' && text[text.length - 1] == '|';
}

function isItem(line) { return ITEM.test(line); }

function kindOf(line) {
	return fenceOf(line) ? 'fence' : headingOf(line) ? 'heading' : isRule(line) ? 'rule'
		: isItem(line) ? 'list' : isQuote(line) ? 'quote' : isTable(line) ? 'table' : 'text';
}

/* The line after the block that begins at `at`. */
function blockEnd(lines, at, kind) {
	let end = at + 1;

	if (kind == 'fence') {
		const mark = fenceOf(lines[at]);

		while (end < lines.length && lines[end].trim() != mark)
			end++;
		return Math.min(end + 1, lines.length);
	}

	if (kind == 'heading' || kind == 'rule')
		return end;

	for (; end < lines.length; end++) {
		const line = lines[end], next = kindOf(line);

		if (kind == 'list' && isBlank(line) && end + 1 < lines.length && (isItem(lines[end + 1]) || INDENTED.test(lines[end + 1])))
			continue;
		if (isBlank(line))
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
		if (isBlank(lines[at])) {
			at++;
			continue;
		}

		const kind = kindOf(lines[at]), end = blockEnd(lines, at, kind);
		blocks.push({ kind: kind, source: lines.slice(at, end).join('\n') });
		at = end;
	}

	return blocks;
}

/* --- blocks --- */

function code(text) {
	return E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, [ text ]);
}

function renderFence(source) {
	const lines = source.split('\n');
	const isClosed = lines.length > 1 && lines[lines.length - 1].trim() == fenceOf(lines[0]);

	return code(E('code', [ lines.slice(1, isClosed ? -1 : lines.length).join('\n') ]));
}

function renderHeading(source) {
	const heading = headingOf(source);

	return E('p', { 'class': 'oasis-heading', 'role': 'heading', 'aria-level': String(Math.min(6, heading.level + 2)) }, inline(heading.text));
}

/* Items with deeper ones inside; a line that is no item belongs to the item above it. */
function renderList(source, depth) {
	const lines = source.split('\n').filter(function(line) { return !isBlank(line); });
	const first = ITEM.exec(lines[0]);
	const isOrdered = first[2].length > 1;
	const items = [];

	lines.forEach(function(line) {
		const match = ITEM.exec(line), last = items[items.length - 1];

		if (match && match[1].length <= first[1].length)
			items.push({ lines: [ line.slice(match[0].length) ], inner: [] });
		else if (depth < DEPTH_MAX && (match || last.inner.length))
			last.inner.push(line);
		else
			last.lines.push(line.trim());
	});

	return E(isOrdered ? 'ol' : 'ul', { 'start': isOrdered ? parseInt(first[2], 10) : null }, items.map(function(item) {
		return E('li', inline(item.lines.join('\n')).concat(item.inner.length ? [ renderList(item.inner.join('\n'), depth + 1) ] : []));
	}));
}

function renderQuote(source, depth) {
	const inner = source.split('\n').map(function(line) { return line.trim().replace(/^>\s?/, ''); }).join('\n');

	return E('blockquote', depth < DEPTH_MAX ? split(inner).map(function(block) { return render(block, depth + 1); }) : [ E('p', [ inner ]) ]);
}

function render(block, depth) {
	switch (block.kind) {
	case 'fence': return renderFence(block.source);
	case 'heading': return renderHeading(block.source);
	case 'rule': return E('hr');
	case 'list': return renderList(block.source, depth);
	case 'quote': return renderQuote(block.source, depth);
	case 'table': return code(block.source);
	case 'plain': return E('p', [ block.source ]);
	default: return E('p', inline(block.source));
	}
}

/* A block as nodes; what cannot be drawn is shown as it was written, and what stands around it stays. */
function shown(block) {
	try {
		return render(block, 1);
	}
	catch (e) {
		console.error(e);
		return E('p', [ block.source ]);
	}
}

function read(text) {
	const visible = clean.visible(text);

	return visible.length > TEXT_MAX ? [ { kind: 'plain', source: visible } ] : split(visible);
}

return baseclass.extend({
	/* Markdown as an array of nodes. */
	nodes: function(text) {
		return read(text).map(shown);
	},

	/* A text that grows: set(text) rebuilds only the blocks of `node` that differ from before. */
	live: function(node) {
		let drawn = [];

		return {
			set: function(text) {
				const blocks = read(text);
				let same = 0;

				while (same < blocks.length && same < drawn.length && blocks[same].source == drawn[same].source)
					same++;

				while (node.childNodes.length > same)
					node.removeChild(node.lastChild);

				blocks.slice(same).forEach(function(block) { node.appendChild(shown(block)); });
				drawn = blocks;
			}
		};
	}
});
