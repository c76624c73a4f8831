'use strict';
'require view';
'require oasis.rpc as api';
'require oasis.offers as offers';
'require oasis.aliases as aliases';
'require oasis.nearby as nearby';
'require oasis.controls as controls';
'require oasis.page as page';
'require oasis.words as words';

/*
 * The page of AI services: which there are, in which order, which one answers, and the names that stand for them.
 */

return view.extend({
	load: function() {
		return page.styled(Promise.all([ api.settled('services'), api.settled('aliases') ]));
	},

	render: function(results) {
		const fault = results[0].fault || results[1].fault;

		this.reload = this.reload.bind(this);
		this.frame = page.frame(_('Services'), [
			_('Models in the cloud, at home, or none at all: the built-in service understands the most asked requests without the internet. The first one that is set up answers where a chat names no other.')
		]);
		this.nearby = nearby.create(L.bind(function(work, ev) { return this.frame.run(work, ev); }, this), this.reload);
		if (results[0].value)
			this.draw(results[0].value, results[1].value || {});
		if (fault)
			this.frame.fault(fault, true);
		return this.frame.node;
	},

	draw: function(offered, named) {
		const services = offered.service || [];
		const columns = [ { title: _('Service'), isName: true }, { title: _('Model') }, { title: _('State') }, { title: '' } ];

		this.services = services;
		this.frame.fill([
			page.section('', [
				page.table(_('Services'), columns, services.map(this.row, this)),
				page.act(_('Add a service'), 'cbi-button-add', this.add.bind(this), 'services/add')
			]),
			this.nearby.node,
			aliases.section(named, services, this.reload),
			E('p', [ page.way('usage', _('What services used and cost')) ])
		]);
	},

	reload: async function() {
		const replies = await Promise.all([ api.call('services'), api.call('aliases') ]);

		this.draw(replies[0], replies[1]);
	},

	row: function(service, place) {
		const told = E('div', { 'class': 'oasis-small', 'role': 'status' }, [
			!service.profile ? _('understands the most asked requests, without a model') : words.plain(service.ready ? service.base_url : service.note)
		]);
		const name = words.plain(service.name);

		return [
			[ name, service.identifier != service.profile && service.profile ? E('span', { 'class': 'oasis-small' }, [ ' (' + words.plain(service.identifier) + ')' ]) : '',
				service.active ? E('div', [ page.badge(_('in use'), 'good') ]) : '' ],
			words.plain(service.model) || '\u2013',
			[ page.badge(service.ready ? _('ready') : _('not set up'), service.ready ? '' : 'warn'), ' ', this.keyBadge(service), told ],
			page.buttons(this.buttons(service, place, name, told))
		];
	},

	keyBadge: function(service) {
		return service.has_key ? page.badge(_('key set'), 'good') : '';
	},

	buttons: function(service, place, name, told) {
		const act = L.bind(function(label, classes, what, press, words) {
			const button = page.act(label, classes, press, service.identifier + '/' + what);

			if (words) {
				button.setAttribute('aria-label', words);
				button.title = button.title || words;
			}
			return button;
		}, this);
		const up = act('\u2191', '', 'up', this.move.bind(this, service, place - 1), _('Move %s up').format(name));
		const down = act('\u2193', '', 'down', this.move.bind(this, service, place + 1), _('Move %s down').format(name));
		const test = act(_('Test'), '', 'test', this.test.bind(this, service, told));

		up.disabled = up.disabled || !place;
		down.disabled = down.disabled || place == this.services.length - 1;
		test.disabled = test.disabled || !service.ready;
		/* the built-in service has nothing to set */
		return [ up, down, test ].concat(service.profile ? [
			service.key == 'none' ? '' : act(_('Key\u2026'), '', 'key', L.bind(function() { return offers.key(service, this.reload); }, this)),
			act(_('Change'), 'cbi-button-edit', 'change', L.bind(function() { return offers.change(service, this.reload); }, this)),
			act(_('Delete'), 'cbi-button-negative', 'delete', L.bind(function() { return offers.remove(service, this.reload); }, this))
		] : []);
	},

	test: function(service, told, ev) {
		told.textContent = _('Asking\u2026');
		return this.frame.run(function() {
			return api.call('test_service', service.identifier).then(function(reply) {
				told.textContent = reply.ok ? _('%s answered after %d ms.').format(words.plain(reply.model), reply.ms)
					: words.plain(reply.fault.message + (reply.fault.hint ? ' \u2013 ' + reply.fault.hint : ''));
			}, function(fault) {
				told.textContent = words.plain(fault.message);
			});
		}, ev);
	},

	move: function(service, place, ev) {
		return this.frame.run(L.bind(function() {
			return api.named('change_service', { identifier: service.identifier, position: place }).then(this.reload);
		}, this), ev);
	},

	add: function(ev) {
		return this.frame.run(L.bind(async function() {
			const reply = await api.call('providers');

			offers.add(reply.providers || [], this.reload);
		}, this), ev);
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
