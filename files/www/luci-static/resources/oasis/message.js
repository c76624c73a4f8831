'use strict';
'require baseclass';
'require oasis.clean as clean';
'require oasis.page as page';

/*
 * One message: what it holds, read out of its blocks, its frame, the card of a tool call, and the line below it with its other versions,
 * who answered, and what can be done with it. This module knows nothing of the conversation around it.
 */

const TOOL_TEXT_MAX = 20000;
/* what the daemon leaves in place of a text that the owner removed */
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
function inputText(input) {
	return Object.keys(input || {}).map(function(key) {
		const value = input[key];

		if (Array.isArray(value) && value.every(function(item) { return typeof(item) == 'string'; }))
			return value.length ? '%s:\n  %s'.format(key, value.join('\n  ')) : null;
		return '%s: %s'.format(key, typeof(value) == 'string' ? value : JSON.stringify(value));
	}).filter(function(line) { return line != null; }).join('\n');
}

function pre(text) {
	return E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, [ text ]);
}

/* The n-th of several versions, with buttons to its neighbours. */
function versions(entry, state) {
	const all = entry.siblings, at = all.findIndex(function(item) { return entry.ids.indexOf(item.id) != -1; });
	const step = function(label, name, other) {
		return E('button', {
			'type': 'button', 'class': 'oasis-link', 'aria-label': name, 'title': other ? clean.plain(other.text) : null,
			'disabled': other ? null : '', 'click': function() { state.emit('version', other); }
		}, [ label ]);
	};

	return E('span', { 'class': 'oasis-versions', 'role': 'group', 'aria-label': _('Versions of this message') }, [
		step('\u2039', _('Previous version'), all[at - 1]),
		E('span', { 'aria-label': _('Version %d of %d').format(at + 1, all.length) }, [ '%d/%d'.format(at + 1, all.length) ]),
		step('\u203a', _('Next version'), all[at + 1])
	]);
}

function actions(entry, state) {
	const press = function(request) { return function() { state.emit(request, entry); }; };

	if (!state.isWriter)
		return [ page.link(_('About this message\u2026'), press('about')) ];

	const more = [
		page.button(_('Bookmark\u2026'), '', press('bookmark')),
		page.button(_('About this message\u2026'), '', press('about')),
		entry.isForgotten ? null : page.button(_('Forget this message\u2026'), 'cbi-button-negative', press('forget'))
	].filter(Boolean);

	return [
		entry.role != 'user' ? page.link(_('Branch from here'), press('branch'))
			: entry.isForgotten ? null : page.link(_('Edit and ask again'), press('edit')),
		page.menu(_('More about this message'), more)
	].filter(Boolean);
}

return baseclass.extend({
	/* The blocks of a message, whose content may be a mere text. */
	blocks: blocksOf,

	text: textOf,

	/* JSON in lines for people; any other text as it is. */
	pretty: function(text) {
		try {
			return JSON.stringify(JSON.parse(text), null, 2);
		}
		catch (e) {
			return text;
		}
	},

	/* Documents and images that belong to a message of the owner. */
	files: function(message) {
		return blocksOf(message).filter(function(block) { return block.type == 'image' || block.type == 'document'; });
	},

	/* Tell whether the owner removed the text of this message. */
	isForgotten: function(message) {
		return textOf(message.content) == FORGOTTEN;
	},

	bubble: function(role, nodes) {
		return E('div', { 'class': 'oasis-message oasis-' + role }, [
			E('span', { 'class': 'oasis-who' }, role == 'user' ? [ _('You') ] : [
				E('img', { 'class': 'oasis-face', 'src': L.resource('oasis/oasis.svg'), 'alt': '', 'width': '18', 'height': '18' }), 'Oasis'
			])
		].concat(nodes));
	},

	/* A message as the text that it holds, whatever its shape. */
	plain: function(message) {
		const texts = [].concat(message.content).map(function(block) {
			return block && typeof(block.text) == 'string' ? block.text : typeof(block) == 'string' ? block : JSON.stringify(block);
		});

		return E('div', { 'class': 'oasis-text oasis-typed' }, [ clean.visible(texts.join('\n')) ]);
	},

	/* The system message with which the chat began. */
	system: function(message) {
		return E('details', { 'class': 'oasis-tool' }, [
			E('summary', [ _('What the model read first') ]),
			E('div', { 'class': 'oasis-typed' }, [ clean.plain(textOf(message.content)) ])
		]);
	},

	fault: function(error) {
		return E('div', { 'class': 'alert-message danger error oasis-error', 'role': 'alert' }, [
			E('strong', [ clean.plain(error.message) ]), E('div', [ clean.plain(error.hint) ])
		]);
	},

	/* The card of a tool call: { node, result(text, isError) }. */
	toolCard: function(name, input) {
		const status = E('span', { 'class': 'oasis-count' }, [ _('running\u2026') ]);
		const about = inputText(input);
		const body = E('div', about ? [ pre(clean.plain(about)) ] : []);
		const node = E('details', { 'class': 'oasis-tool' }, [
			E('summary', [ E('code', [ clean.plain(name) ]), ' ', status ]), body
		]);
		const pretty = this.pretty;

		return {
			node: node,
			result: function(text, isError) {
				const whole = clean.plain(pretty(text));

				node.classList.toggle('oasis-failed', !!isError);
				status.textContent = isError ? _('failed') : _('done');
				body.appendChild(pre(whole.length > TOOL_TEXT_MAX ? whole.slice(0, TOOL_TEXT_MAX) + '\u2026' : whole));
			}
		};
	},

	/*
	 * The line below a message. entry: { id (the last message shown above the line), ids (all of them), role, text, parents, source,
	 * siblings?, isImported, isForgotten }. It emits version(sibling), edit, branch, bookmark, about and forget(entry); without the right
	 * to write only those that change nothing.
	 */
	line: function(entry, state) {
		return E('div', { 'class': 'oasis-foot-line', 'data-message': entry.id }, [].concat(
			entry.siblings ? versions(entry, state) : [],
			entry.source ? E('span', { 'class': 'oasis-source' }, [ clean.plain(entry.source) ]) : [],
			entry.isImported ? E('span', { 'class': 'oasis-badge' }, [ _('imported') ]) : [],
			actions(entry, state)
		));
	}
});
