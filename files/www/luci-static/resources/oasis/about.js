'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.dialog as dialog';
'require oasis.controls as controls';
'require oasis.page as page';
'require oasis.sums as sums';
'require oasis.words as words';

/*
 * What is known about a chat or a message beside its words: what it used and cost, who answered and when, its files. Loaded
 * when somebody asks.
 */

/* Pairs of a name and what is known; without a value the pair is left out. */
function facts(pairs) {
	return E('dl', { 'class': 'oasis-facts' }, [].concat.apply([], pairs.filter(function(pair) { return pair[1]; }).map(function(pair) {
		return [ E('dt', [ pair[0] ]), E('dd', [].concat(pair[1])) ];
	})));
}

function files(messages) {
	const found = [];

	messages.forEach(function(message) {
		(Array.isArray(message.content) ? message.content : []).forEach(function(block) {
			if (block.type == 'document' || block.type == 'image')
				found.push(E('div', [ words.plain(block.name || ''), ' \u00b7 ', words.plain(block.media_type || ''), block.size_bytes ? ' \u00b7 ' + controls.size(block.size_bytes) : '' ]));
		});
	});
	return found;
}

/* Tokens of an answer with its tools: each message of a model tells its own. */
function tokens(messages, key) {
	const known = messages.filter(function(message) { return message.usage && message.usage[key] != null; });

	return known.length ? page.number(known.reduce(function(sum, message) { return sum + message.usage[key]; }, 0)) : null;
}

function describe(messages) {
	const last = messages[messages.length - 1], answers = messages.filter(function(message) { return message.role == 'assistant'; });
	const ends = answers.map(function(message) { return message.stop_reason; }).filter(Boolean);
	const time_ms = words.time_ms(last.id), found = files(messages);

	return [
		facts([
			[ _('When'), time_ms && page.time(time_ms / 1000) ],
			[ _('Service'), words.plain(last.provider || '') ],
			[ _('Model'), words.plain(last.model || '') ],
			[ _('Tokens read'), tokens(answers, 'input_tokens') ],
			[ _('Tokens written'), tokens(answers, 'output_tokens') ],
			[ _('Ended with'), words.plain(ends[ends.length - 1] || '') ],
			[ _('Files'), found.length ? found : null ],
			[ _('Number'), E('code', [ words.plain(last.id) ]) ]
		])
	];
}

return baseclass.extend({
	/* What a chat used. */
	usage: function(chat) {
		const place = E('div', { 'class': 'oasis' }), box = dialog.open(_('Usage of this chat'), [ place, E('p', [ page.way('usage', _('Usage of all chats')) ]) ]);

		api.call('chat_usage', chat).then(function(reply) {
			place.appendChild(sums.table(_('Usage of this chat'), reply.usage || [], reply.currency, _('No model was asked in this chat.')));
		}).catch(box.fault.bind(box));
	},

	/* What is known about the messages of an entry (footer.js). */
	message: function(chat, entry) {
		const place = E('div', { 'class': 'oasis' }), box = dialog.open(_('About this message'), [ place ]);

		api.call('chat', chat, entry.id, undefined, entry.ids.length).then(function(reply) {
			const messages = (reply.messages || []).filter(function(message) { return entry.ids.indexOf(message.id) != -1; });

			if (messages.length)
				describe(messages).forEach(function(node) { place.appendChild(node); });
		}).catch(box.fault.bind(box));
	}
});
