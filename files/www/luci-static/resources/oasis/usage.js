'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.clean as clean';
'require oasis.page as page';
'require oasis.dialog as dialog';

/*
 * What models used, as tables and as dialogs of one chat or message. Shape of an item: { month?, service, model, requests, input_tokens,
 * output_tokens, cached_tokens, cost? }; cost is a text like "0.42", absent where no price is known.
 */

const COUNTS = [ 'requests', 'input_tokens', 'cached_tokens', 'output_tokens' ];
/* costs are added as millionths: cents of many rows would lose theirs */
const MILLION = 1000000;

function hasCost(items) {
	return items.some(function(item) { return item.cost != null; });
}

function money(millionths) {
	return millionths > 0 && millionths < MILLION / 100 ? (millionths / MILLION).toFixed(4) : (Math.floor(millionths / 10000) / 100).toFixed(2);
}

function total(items) {
	const sum = {};

	COUNTS.forEach(function(key) { sum[key] = items.reduce(function(before, item) { return before + (item[key] || 0); }, 0); });
	if (hasCost(items))
		sum.cost = money(items.reduce(function(before, item) { return before + Math.round(Number(item.cost || 0) * MILLION); }, 0));
	return sum;
}

/* items: those of the whole table, for whether it has costs */
function columns(items, currency) {
	return [
		{ title: _('Requests'), isNumber: true }, { title: _('Tokens read'), isNumber: true }, { title: _('of these cached'), isNumber: true },
		{ title: _('Tokens written'), isNumber: true }
	].concat(hasCost(items) ? { title: currency ? _('Cost (%s)').format(clean.plain(currency)) : _('Cost'), isNumber: true } : []);
}

function cells(item, items) {
	return COUNTS.map(function(key) { return page.number(item[key]); }).concat(hasCost(items) ? item.cost == null ? '\u2013' : clean.plain(item.cost) : []);
}

/* Part of a whole as a bar, with its number for screen readers. */
function bar(value, most, kind) {
	const percent = most ? Math.round(100 * value / most) : 0;

	return E('div', { 'class': 'oasis-meter' + (kind ? ' oasis-' + kind : ''), 'role': 'img', 'aria-label': _('%d percent').format(percent) }, [
		E('div', { 'style': 'width: %d%%'.format(Math.min(100, percent)) })
	]);
}

/* Items by service and model with their sum. */
function table(caption, items, currency, empty) {
	const name = function(item) { return [ clean.plain(item.service), E('div', { 'class': 'oasis-small' }, [ clean.plain(item.model) ]) ]; };
	const rows = items.map(function(item) { return [ name(item) ].concat(cells(item, items)); });

	return page.table(caption, [ { title: _('Service and model'), isName: true } ].concat(columns(items, currency)), rows, empty,
		items.length > 1 ? [ _('Together') ].concat(cells(total(items), items)) : null);
}

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
				found.push(E('div', [ clean.plain(block.name || ''), ' \u00b7 ', clean.plain(block.media_type || ''), block.size_bytes ? ' \u00b7 ' + page.size(block.size_bytes) : '' ]));
		});
	});
	return found;
}

/* Tokens of an answer with its tools: each message of a model has its own. */
function tokens(messages, key) {
	const known = messages.filter(function(message) { return message.usage && message.usage[key] != null; });

	return known.length ? page.number(known.reduce(function(sum, message) { return sum + message.usage[key]; }, 0)) : null;
}

function describe(messages) {
	const last = messages[messages.length - 1], answers = messages.filter(function(message) { return message.role == 'assistant'; });
	const ends = answers.map(function(message) { return message.stop_reason; }).filter(Boolean);
	const time_ms = page.time_ms(last.id), found = files(messages);

	return [
		facts([
			[ _('When'), time_ms && page.time(time_ms / 1000) ],
			[ _('Service'), clean.plain(last.provider || '') ],
			[ _('Model'), clean.plain(last.model || '') ],
			[ _('Tokens read'), tokens(answers, 'input_tokens') ],
			[ _('Tokens written'), tokens(answers, 'output_tokens') ],
			[ _('Ended with'), clean.plain(ends[ends.length - 1] || '') ],
			[ _('Files'), found.length ? found : null ],
			[ _('Number'), E('code', [ clean.plain(last.id) ]) ]
		])
	];
}

return baseclass.extend({
	total: total,
	columns: columns,
	cells: cells,
	bar: bar,

	tokens: function(item) { return (item.input_tokens || 0) + (item.output_tokens || 0); },

	table: table,

	/* How much of the budget is used. Shape: that of usage.list. */
	budget: function(budget, currency) {
		const kind = budget.percent >= 100 ? 'bad' : budget.percent >= 80 ? 'warn' : 'good';
		const lines = [];

		if (budget.tokens != null)
			lines.push(_('%s of %s tokens').format(page.number(budget.tokens_used), page.number(budget.tokens)));
		if (budget.cost != null)
			lines.push(_('%s of %s').format(clean.plain(budget.cost_used), [ clean.plain(budget.cost), clean.plain(currency) ].filter(Boolean).join(' ')));
		return E('div', { 'class': 'oasis-budget' }, [
			E('p', [ lines.join(' \u00b7 ') + ' ', page.badge('%d %%'.format(budget.percent), kind) ]), bar(budget.percent, 100, kind),
			E('p', { 'class': 'oasis-small' }, [
				budget.percent >= 100 ? _('It is spent: models at home and the built-in service go on, others are not asked.')
					: _('When it is spent, only models at home and the built-in service are asked.')
			])
		]);
	},

	/* Everything for a spreadsheet; the heads stay English, as the names in the file of the router do. */
	csv: function(items, currency) {
		const heads = [ 'month', 'service', 'model' ].concat(COUNTS, 'cost', 'currency');

		return page.csv([ heads ].concat(items.map(function(item) {
			return heads.map(function(key) { return key == 'currency' ? item.cost == null ? '' : currency : item[key]; });
		})));
	},

	/* What a chat used. */
	chat: function(chat) {
		const place = E('div', { 'class': 'oasis' }), box = dialog.open(_('Usage of this chat'), [ place, E('p', [ page.pageLink('usage', _('Usage of all chats')) ]) ]);

		api.call('chat_usage', chat).then(function(reply) {
			place.appendChild(table(_('Usage of this chat'), reply.usage || [], reply.currency, _('No model was asked in this chat.')));
		}).catch(box.fault.bind(box));
	},

	/* What is known about the messages of an entry (message.js). */
	message: function(chat, entry) {
		const place = E('div', { 'class': 'oasis' }), box = dialog.open(_('About this message'), [ place ]);

		api.call('chat', chat, entry.id, undefined, entry.ids.length).then(function(reply) {
			const messages = (reply.messages || []).filter(function(message) { return entry.ids.indexOf(message.id) != -1; });

			if (messages.length)
				describe(messages).forEach(function(node) { place.appendChild(node); });
		}).catch(box.fault.bind(box));
	}
});
