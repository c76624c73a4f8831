'use strict';
'require view';
'require oasis.rpc as api';
'require oasis.page as page';
'require oasis.prices as prices';
'require oasis.sums as sums';
'require oasis.words as words';

/*
 * The page of what models used: this month's budget, the months, one month by service and model, one chat, and the prices.
 */

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
			prices.budget(reply, this.reload),
			page.section(_('Months'), [ this.overview() ]),
			this.items.length ? page.section(_('By service and model'), this.month()) : [],
			this.chats.length ? page.section(_('By chat'), this.chat(this.chats)) : [],
			prices.list(reply, this.services, this.reload)
		));
	},

	/* All months, newest first, the tokens of each as a bar beside the others. */
	overview: function() {
		const rows = months(this.items).map(function(month) {
			return Object.assign(sums.total(this.items.filter(function(item) { return item.month == month; })), { month: month });
		}, this);
		const most = Math.max.apply(null, rows.map(sums.tokens));
		const columns = [ { title: _('Month'), isName: true } ].concat(sums.columns(this.items, this.reply.currency), { title: _('Compared') });

		return page.table(_('Months'), columns, rows.map(function(row) {
			return [ row.month ].concat(sums.cells(row, this.items), sums.bar(sums.tokens(row), most));
		}, this), _('No model was asked yet.'));
	},

	/* One month by service and model, with its sum, and the file of everything. */
	month: function() {
		const select = E('select', { 'class': 'cbi-input-select' }, months(this.items).map(function(month) { return E('option', { 'value': month }, [ month ]); }));
		const place = E('div');
		const show = L.bind(function() {
			const items = this.items.filter(function(item) { return item.month == select.value; });

			place.textContent = '';
			place.appendChild(sums.table(_('Usage of %s').format(select.value), items, this.reply.currency));
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
			return E('option', { 'value': item.id }, [ words.plain(item.title) || _('Untitled chat') ]);
		})));
		const place = E('div', { 'aria-live': 'polite' });

		select.addEventListener('change', L.bind(function() {
			const id = select.value;

			place.textContent = '';
			return id && this.frame.run(async function() {
				const reply = await api.call('chat_usage', id);

				if (select.value == id)
					place.appendChild(sums.table(_('Usage of a chat'), reply.usage || [], reply.currency, _('No model was asked in this chat.')));
			});
		}, this));
		return [ E('div', { 'class': 'oasis-choices' }, [ E('label', [ E('span', [ _('Chat') ]), ' ', select ]) ]), place ];
	},

	save: function() {
		page.download('oasis-usage.csv', 'text/csv', [ sums.csv(this.items, this.reply.currency) ]);
		this.frame.say(_('Saved as %s').format('oasis-usage.csv'));
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
