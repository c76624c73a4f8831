'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.dialog as dialog';
'require oasis.controls as controls';
'require oasis.page as page';
'require oasis.sums as sums';
'require oasis.words as words';

/*
 * The budget of a month and the prices of models: what is set, and the dialogs that set it.
 */

/* what the daemon takes */
const MODEL_CHARS = 256, CURRENCY_CHARS = 8, AMOUNT_CHARS = 16;

function field(label, value, attributes, hint) {
	const input = E('input', Object.assign({ 'type': 'text', 'class': 'cbi-input-text', 'value': value || '' }, attributes));

	return {
		input: input,
		node: E('label', { 'class': 'oasis-field' }, [ E('span', [ label ]), input, hint ? E('span', { 'class': 'oasis-small' }, [ hint ]) : '' ])
	};
}

function amount(label, value, attributes, hint) {
	return field(label, value, Object.assign({ 'inputmode': 'decimal', 'maxlength': AMOUNT_CHARS }, attributes), hint);
}

/* A dialog that saves what given() tells by a method; done() gives a promise. */
function ask(title, fields, method, given, done) {
	const box = dialog.open(title, fields.map(function(item) { return item.node; }), [
		controls.button(_('Save'), 'cbi-button-action important', function() {
			return box.run(function() { return api.named(method, given()).then(done); });
		})
	]);
}

function editBudget(reply, done) {
	const budget = reply.budget || {};
	const tokens = field(_('Tokens in a month'), budget.tokens, { 'type': 'number', 'min': '0', 'autofocus': '' }, _('Empty for no limit.'));
	const cost = amount(_('Cost in a month'), budget.cost, {}, _('Empty for no limit. It counts what has a price.'));
	const currency = field(_('Currency'), reply.currency, { 'maxlength': CURRENCY_CHARS });

	ask(_('Budget'), [ tokens, cost, currency ], 'set_budget', function() {
		return { budget_tokens: Number(tokens.input.value) || 0, budget_cost: cost.input.value.trim(), currency: currency.input.value.trim() };
	}, done);
}

/* A price has no name of its own: with another service or model it is another price, so these stay. */
function editPrice(price, services, done) {
	const service = E('select', { 'class': 'cbi-input-select' }, [ E('option', { 'value': '' }, [ _('any service') ]) ].concat(services.map(function(item) {
		return E('option', { 'value': item.identifier }, [ words.plain(item.name) ]);
	})));
	const isNew = !price.model;
	const model = field(_('Model'), price.model, { 'maxlength': MODEL_CHARS, 'autofocus': isNew ? '' : null, 'readonly': isNew ? null : '' });
	const input = amount(_('Read'), price.input, { 'autofocus': isNew ? null : '' }, _('For a million tokens, like 2.50.'));
	const output = amount(_('Written'), price.output);
	const cached = amount(_('Read from the cache'), price.cached, {}, _('Empty when it costs the same.'));

	if (price.service && !services.some(function(item) { return item.identifier == price.service; }))
		service.appendChild(E('option', { 'value': price.service }, [ words.plain(price.service) ]));
	service.value = price.service || '';
	service.disabled = !isNew;
	ask(_('Price of a model'), [
		{ node: E('label', { 'class': 'oasis-field' }, [ E('span', [ _('Service') ]), service ]) }, model, input, output, cached
	], 'set_price', function() {
		return { service: service.value, model: model.input.value, input: input.input.value, output: output.input.value, cached: cached.input.value };
	}, done);
}

return baseclass.extend({
	/* The part with the budget. reply: that of usage.list. */
	budget: function(reply, done) {
		return page.section(_('Budget of this month'), [
			reply.budget ? sums.budget(reply.budget, reply.currency) : E('p', [ _('There is no limit.') ]),
			page.act(_('Change the budget'), 'cbi-button-edit', function() { editBudget(reply, done); }, 'budget/change')
		]);
	},

	/* The part with the prices. services: those of service.list. */
	list: function(reply, services, done) {
		const columns = [ { title: _('Model'), isName: true }, { title: _('Service') }, { title: _('Read'), isNumber: true },
			{ title: _('Written'), isNumber: true }, { title: _('Read from the cache'), isNumber: true }, { title: '' } ];
		const nameOf = function(identifier) {
			const service = services.find(function(item) { return item.identifier == identifier; });

			return words.plain(service ? service.name : identifier) || _('any service');
		};
		const rows = (reply.prices || []).map(function(price, i) {
			return [
				words.plain(price.model), nameOf(price.service), words.plain(price.input), words.plain(price.output), words.plain(price.cached || price.input),
				page.buttons([
					page.act(_('Change'), 'cbi-button-edit', function() { editPrice(price, services, done); }, 'price-' + i + '/change'),
					page.act(_('Delete'), 'cbi-button-negative', function() {
						return dialog.ask(_('Delete a price'), _('Delete the price of "%s"? What was used stays counted.').format(words.plain(price.model)), _('Delete'),
							function() { return api.named('set_price', { service: price.service, model: price.model }).then(done); });
					}, 'price-' + i + '/delete')
				])
			];
		});

		return page.section(_('Prices'), [
			E('p', { 'class': 'cbi-section-descr' }, [ _('What a million tokens cost, as the service tells it. Without a price no cost is shown.') ]),
			page.table(_('Prices'), columns, rows, _('No price is set.')),
			page.act(_('Add a price'), 'cbi-button-add', function() { editPrice({}, services, done); }, 'prices/add')
		]);
	}
});
