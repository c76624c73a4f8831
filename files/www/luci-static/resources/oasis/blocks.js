'use strict';
'require baseclass';
'require oasis.words as words';

/*
 * What a message holds, read out of its blocks, its frame, and the card of a tool's call. It knows nothing of the conversation around it.
 */

const TOOL_TEXT_MAX = 20000;
/* what the daemon leaves in place of words that the owner took away */
const FORGOTTEN = '[forgotten]';

function blocksOf(message) {
	return Array.isArray(message.content) ? message.content : [ { type: 'text', text: message.content || '' } ];
}

function textOf(content) {
	if (!Array.isArray(content))
		return String(content == null ? '' : content);

	return content.map(function(block) { return block.text || ''; }).join('\n');
}

/* A tool's arguments for reading: one line each, commands as they are. */
function inputWords(input) {
	return Object.keys(input || {}).map(function(key) {
		const value = input[key];

		if (Array.isArray(value) && value.every(function(item) { return typeof(item) == 'string'; }))
			return value.length ? '%s:\n  %s'.format(key, value.join('\n  ')) : null;
		return '%s: %s'.format(key, typeof(value) == 'string' ? value : JSON.stringify(value));
	}).filter(function(line) { return line != null; }).join('\n');
}

/* A tool's answer for reading: JSON with its lines broken, anything else as it is. */
function resultWords(text) {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	}
	catch (e) {
		return text;
	}
}

function toolCard(name, input) {
	const state = E('span', { 'class': 'oasis-count' }, [ _('running\u2026') ]);
	const about = inputWords(input);
	const body = E('div', about ? [ E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, [ words.plain(about) ]) ] : []);
	const node = E('details', { 'class': 'oasis-tool' }, [
		E('summary', [ E('code', [ words.plain(name) ]), ' ', state ]), body
	]);

	return {
		node: node,
		result: function(text, isError) {
			const whole = words.plain(resultWords(text));

			node.classList.toggle('oasis-failed', !!isError);
			state.textContent = isError ? _('failed') : _('done');
			body.appendChild(E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, [
				whole.length > TOOL_TEXT_MAX ? whole.slice(0, TOOL_TEXT_MAX) + '\u2026' : whole
			]));
		}
	};
}

function bubble(role, nodes) {
	return E('div', { 'class': 'oasis-message oasis-' + role }, [
		E('span', { 'class': 'oasis-who' }, role == 'user' ? [ _('You') ] : [
			E('img', { 'class': 'oasis-face', 'src': L.resource('oasis/oasis.svg'), 'alt': '', 'width': '18', 'height': '18' }), 'Oasis'
		])
	].concat(nodes));
}

return baseclass.extend({
	bubble: bubble,

	/* The blocks of a message, whose content may be a mere text. */
	of: blocksOf,

	text: textOf,

	/* Documents and images that go with the owner's words. */
	files: function(message) {
		return blocksOf(message).filter(function(block) { return block.type == 'image' || block.type == 'document'; });
	},

	/* A message as the text that it holds, whatever its shape. */
	plain: function(message) {
		const texts = [].concat(message.content).map(function(block) {
			return block && typeof(block.text) == 'string' ? block.text : typeof(block) == 'string' ? block : JSON.stringify(block);
		});

		return E('div', { 'class': 'oasis-text oasis-typed' }, [ words.visible(texts.join('\n')) ]);
	},

	/* Tell whether the owner took the words of this message away. */
	isForgotten: function(message) {
		return textOf(message.content) == FORGOTTEN;
	},

	/* The words of a topic, which the chat began with. */
	told: function(message) {
		return E('details', { 'class': 'oasis-tool' }, [
			E('summary', [ _('What the model read first') ]),
			E('div', { 'class': 'oasis-typed' }, [ words.plain(textOf(message.content)) ])
		]);
	},

	fault: function(error) {
		return E('div', { 'class': 'alert-message danger error oasis-error', 'role': 'alert' }, [
			E('strong', [ words.plain(error.message) ]), E('div', [ words.plain(error.hint) ])
		]);
	},

	/* Gives { node, result(text, isError) }. */
	toolCard: toolCard
});
