'use strict';
'require view';
'require oasis.rpc as api';
'require oasis.clean as clean';
'require oasis.page as page';
'require oasis.dialog as dialog';
'require oasis.usage as usage';

/*
 * The page of what models used: this month's budget, the months, one month by service and model, one chat, and the prices of models;
 * the dialogs that set budget and prices.
 */

/* what the daemon takes */
const MODEL_CHARS = 256, CURRENCY_CHARS = 8, AMOUNT_CHARS = 16;

function field(label, value, attributes, hint) {
	const input = E('input', Object.assign({ 'type': 'text', 'class': 'cbi-input-text', 'value': value || '' }, attributes));

	return { input: input, node: page.field(label, input, hint) };
}

function amount(label, value, attributes, hint) {
	return field(label, value, Object.assign({ 'inputmode': 'decimal', 'maxlength': AMOUNT_CHARS }, attributes), hint);
}

/* A dialog that saves what given() returns by a method; done() gives a promise. */
function ask(title, fields, method, given, done) {
	const box = dialog.open(title, fields.map(function(item) { return item.node; }), [
		page.button(_('Save'), 'cbi-button-action important', function() {
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
	const service = page.select([ [ '', _('any service') ] ].concat(services.map(function(item) { return [ item.identifier, clean.plain(item.name) ]; })));
	const isNew = !price.model;
	const model = field(_('Model'), price.model, { 'maxlength': MODEL_CHARS, 'autofocus': isNew ? '' : null, 'readonly': isNew ? null : '' });
	const input = amount(_('Read'), price.input, { 'autofocus': isNew ? null : '' }, _('For a million tokens, like 2.50.'));
	const output = amount(_('Written'), price.output);
	const cached = amount(_('Read from the cache'), price.cached, {}, _('Empty when it costs the same.'));

	if (price.service && !services.some(function(item) { return item.identifier == price.service; }))
		service.appendChild(E('option', { 'value': price.service }, [ clean.plain(price.service) ]));
	service.value = price.service || '';
	service.disabled = !isNew;
	ask(_('Price of a model'), [
		{ node: page.field(_('Service'), service) }, model, input, output, cached
	], 'set_price', function() {
		return { service: service.value, model: model.input.value, input: input.input.value, output: output.input.value, cached: cached.input.value };
	}, done);
}

/* The part with the budget. reply: that of usage.list. */
function budgetSection(reply, done) {
	return page.section(_('Budget of this month'), [
		reply.budget ? usage.budget(reply.budget, reply.currency) : E('p', [ _('There is no limit.') ]),
		page.act(_('Change the budget'), 'cbi-button-edit', function() { editBudget(reply, done); }, 'budget/change')
	]);
}

/* The part with the prices. services: those of service.list. */
function pricesSection(reply, services, done) {
	const columns = [ { title: _('Model'), isName: true }, { title: _('Service') }, { title: _('Read'), isNumber: true },
		{ title: _('Written'), isNumber: true }, { title: _('Read from the cache'), isNumber: true }, { title: '' } ];
	const nameOf = function(identifier) {
		const service = services.find(function(item) { return item.identifier == identifier; });

		return clean.plain(service ? service.name : identifier) || _('any service');
	};
	const rows = (reply.prices || []).map(function(price, i) {
		return [
			clean.plain(price.model), nameOf(price.service), clean.plain(price.input), clean.plain(price.output), clean.plain(price.cached || price.input),
			page.buttons([
				page.act(_('Change'), 'cbi-button-edit', function() { editPrice(price, services, done); }, 'price-' + i + '/change'),
				page.act(_('Delete'), 'cbi-button-negative', function() {
					return dialog.ask(_('Delete a price'), _('Delete the price of "%s"? What was used stays counted.').format(clean.plain(price.model)), _('Delete'),
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

function months(items) {
	return items.map(function(item) { return item.month; }).filter(function(month, i, all) { return all.indexOf(month) == i; });
}

return view.extend({
	load: function() {
		return page.styled(Promise.all([ api.settled('usage'), api.settled('chats'), api.settled('services') ]));
	},

	render: function(results) {
		const reply = results[0].value;

		this.frame = page.frame(_('Usage'), [
			_('What models read and wrote, counted by the router. Costs are reckoned from the prices below. Months are those of UTC.')
		]);
		this.chats = (results[1].value || {}).item || [];
		this.services = (results[2].value || {}).service || [];
		this.reload = this.reload.bind(this);
		if (reply)
			this.draw(reply);
		else
			this.frame.fault(results[0].fault, true);
		return this.frame.node;
	},

	reload: function() {
		return api.call('usage').then(this.draw.bind(this));
	},

	draw: function(reply) {
		this.reply = reply;
		this.items = reply.usage || [];
		this.frame.fill([].concat(
			budgetSection(reply, this.reload),
			page.section(_('Months'), [ this.overview() ]),
			this.items.length ? page.section(_('By service and model'), this.month()) : [],
			this.chats.length ? page.section(_('By chat'), this.chat(this.chats)) : [],
			pricesSection(reply, this.services, this.reload)
		));
	},

	/* All months, newest first, the tokens of each as a bar to compare. */
	overview: function() {
		const rows = months(this.items).map(function(month) {
			return Object.assign(usage.total(this.items.filter(function(item) { return item.month == month; })), { month: month });
		}, this);
		const most = Math.max.apply(null, rows.map(usage.tokens));
		const columns = [ { title: _('Month'), isName: true } ].concat(usage.columns(this.items, this.reply.currency), { title: _('Compared') });

		return page.table(_('Months'), columns, rows.map(function(row) {
			return [ row.month ].concat(usage.cells(row, this.items), usage.bar(usage.tokens(row), most));
		}, this), _('No model was asked yet.'));
	},

	/* One month by service and model, with its sum, and the file of everything. */
	month: function() {
		const select = E('select', { 'class': 'cbi-input-select' }, months(this.items).map(function(month) { return E('option', { 'value': month }, [ month ]); }));
		const place = E('div');
		const show = L.bind(function() {
			const items = this.items.filter(function(item) { return item.month == select.value; });

			place.textContent = '';
			place.appendChild(usage.table(_('Usage of %s').format(select.value), items, this.reply.currency));
		}, this);

		select.addEventListener('change', show);
		show();
		return [
			E('div', { 'class': 'oasis-choices' }, [
				E('label', [ E('span', [ _('Month') ]), ' ', select ]),
				/* what may be looked at may be saved, by a viewer too */
				E('button', { 'type': 'button', 'class': 'btn cbi-button', 'click': this.save.bind(this) }, [ _('Save all as CSV') ])
			]), place
		];
	},

	chat: function(chats) {
		const select = E('select', { 'class': 'cbi-input-select' }, [ E('option', { 'value': '' }, [ _('Choose a chat') ]) ].concat(chats.map(function(item) {
			return E('option', { 'value': item.id }, [ clean.plain(item.title) || _('Untitled chat') ]);
		})));
		const place = E('div', { 'aria-live': 'polite' });

		select.addEventListener('change', L.bind(function() {
			const id = select.value;

			place.textContent = '';
			return id && this.frame.run(async function() {
				const reply = await api.call('chat_usage', id);

				if (select.value == id)
					place.appendChild(usage.table(_('Usage of a chat'), reply.usage || [], reply.currency, _('No model was asked in this chat.')));
			});
		}, this));
		return [ E('div', { 'class': 'oasis-choices' }, [ E('label', [ E('span', [ _('Chat') ]), ' ', select ]) ]), place ];
	},

	save: function() {
		page.download('oasis-usage.csv', 'text/csv', [ usage.csv(this.items, this.reply.currency) ]);
		this.frame.say(_('Saved as %s').format('oasis-usage.csv'));
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
