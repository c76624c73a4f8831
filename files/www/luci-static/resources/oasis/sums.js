'use strict';
'require baseclass';
'require oasis.page as page';
'require oasis.words as words';

/*
 * Counts of tokens and costs as tables. Shape of an item: { month?, service, model, requests, input_tokens, output_tokens,
 * cached_tokens, cost? }; cost is a text like "0.42", absent where no price is known. It knows no daemon.
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
	].concat(hasCost(items) ? { title: currency ? _('Cost (%s)').format(words.plain(currency)) : _('Cost'), isNumber: true } : []);
}

function cells(item, items) {
	return COUNTS.map(function(key) { return page.number(item[key]); }).concat(hasCost(items) ? item.cost == null ? '\u2013' : words.plain(item.cost) : []);
}

/* Part of a whole as a bar, told as a number as well. */
function bar(value, most, kind) {
	const percent = most ? Math.round(100 * value / most) : 0;

	return E('div', { 'class': 'oasis-meter' + (kind ? ' oasis-' + kind : ''), 'role': 'img', 'aria-label': _('%d percent').format(percent) }, [
		E('div', { 'style': 'width: %d%%'.format(Math.min(100, percent)) })
	]);
}

return baseclass.extend({
	total: total,
	columns: columns,
	cells: cells,
	bar: bar,

	tokens: function(item) { return (item.input_tokens || 0) + (item.output_tokens || 0); },

	/* Items by service and model with their sum. */
	table: function(caption, items, currency, empty) {
		const name = function(item) { return [ words.plain(item.service), E('div', { 'class': 'oasis-small' }, [ words.plain(item.model) ]) ]; };
		const rows = items.map(function(item) { return [ name(item) ].concat(cells(item, items)); });

		return page.table(caption, [ { title: _('Service and model'), isName: true } ].concat(columns(items, currency)), rows, empty,
			items.length > 1 ? [ _('Together') ].concat(cells(total(items), items)) : null);
	},

	/* How much of the budget is used. Shape: that of usage.list. */
	budget: function(budget, currency) {
		const kind = budget.percent >= 100 ? 'bad' : budget.percent >= 80 ? 'warn' : 'good';
		const lines = [];

		if (budget.tokens != null)
			lines.push(_('%s of %s tokens').format(page.number(budget.tokens_used), page.number(budget.tokens)));
		if (budget.cost != null)
			lines.push(_('%s of %s').format(words.plain(budget.cost_used), [ words.plain(budget.cost), words.plain(currency) ].filter(Boolean).join(' ')));
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
	}
});
