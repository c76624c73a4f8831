'use strict';
'require baseclass';
'require view';
'require oasis.rpc as api';
'require oasis.clean as clean';
'require oasis.page as page';
'require oasis.dialog as dialog';
'require oasis.aliases as aliases';

/*
 * The page of AI services: which there are, in which order, which one answers, the dialogs that add and change them, the search for
 * servers at home, and the names that stand for services.
 */

/* what the daemon takes */
const WORD_CHARS = 256, KEY_CHARS = 4096;

function text(value, attributes) {
	return E('input', Object.assign({ 'type': 'text', 'class': 'cbi-input-text', 'maxlength': WORD_CHARS, 'value': value || '' }, attributes));
}

function choice(value, pairs) {
	/* what is set by other means stays what it is */
	const node = page.select(pairs.some(function(pair) { return pair[0] == value; }) ? pairs : pairs.concat([ [ value, value ] ]));

	node.value = value;
	return node;
}

/* A field for a key: no browser offers to fill it in, or to store it. */
function secret(attributes) {
	return E('input', Object.assign({
		'type': 'password', 'class': 'cbi-input-text', 'maxlength': KEY_CHARS, 'autocomplete': 'new-password', 'spellcheck': 'false'
	}, attributes));
}

function thinkingNames() {
	return [ [ '', _('as usual for the model') ], [ 'off', _('off') ], [ 'adaptive', _('as the model decides') ],
		[ 'low', _('little') ], [ 'medium', _('some') ], [ 'high', _('much') ] ];
}

/* Fill the list of a field with the models that a service has; gives their number. */
function lookUp(service, list) {
	return api.call('service_models', service.identifier).then(function(reply) {
		list.textContent = '';
		reply.models.forEach(function(model) { list.appendChild(E('option', { 'value': model.id })); });
		return reply.models.length;
	});
}

/* The dialog that changes a service; done() gives a promise. */
const Change = baseclass.extend({
	__init__: function(service, done) {
		const options = service.options || {};

		this.service = service;
		this.list = E('datalist', { 'id': 'oasis-models' });
		this.status = E('span', { 'class': 'oasis-small', 'role': 'status' });
		this.fields = {
			model: text(service.model, { 'list': 'oasis-models', 'autofocus': '' }),
			endpoint: text(service.base_url, { 'type': 'url' }),
			thinking: choice(String(options.thinking || ''), thinkingNames()),
			max_tokens: text(options.max_tokens, { 'type': 'number', 'min': '0' }),
			context_tokens: text(service.context_tokens || '', { 'type': 'number', 'min': '0' }),
			temperature: text(options.temperature == null ? '' : String(options.temperature), { 'type': 'number', 'min': '0', 'max': '2', 'step': '0.1' }),
			tool_mode: choice(service.tool_mode, [ [ 'auto', _('uses the tools of the router') ], [ 'none', _('answers without tools') ] ]),
			search: choice(options.search == null ? '' : options.search ? 'on' : 'off', [ [ '', _('as usual') ], [ 'on', _('on') ], [ 'off', _('off') ] ])
		};
		this.box = dialog.open(_('Change a service'), this.nodes(), [
			page.button(_('Save'), 'cbi-button-action important', L.bind(function() {
				return this.box.run(L.bind(function() { return api.named('change_service', this.given()).then(done); }, this));
			}, this))
		]);
	},

	nodes: function() {
		const f = this.fields;

		return [
			E('p', [ E('strong', [ clean.plain(this.service.name) ]) ]),
			page.field(_('Model'), E('span', [ f.model, this.list ])),
			E('p', [ page.link(_('Look up its models'), this.find.bind(this)), ' ', this.status ]),
			page.field(_('Address'), f.endpoint),
			page.field(_('Thinking'), f.thinking),
			E('details', { 'class': 'oasis-plan-details' }, [
				E('summary', [ _('More') ]),
				page.field(_('Longest answer in tokens'), f.max_tokens, _('Empty for the usual.')),
				page.field(_('Room for a chat in tokens'), f.context_tokens, _('Empty for the usual.')),
				page.field(_('Temperature'), f.temperature, _('0 to 2; low answers alike each time.')),
				page.field(_('Tools'), f.tool_mode),
				page.field(_('Web search of the service'), f.search, _('Where the service has one; it may cost extra.'))
			])
		];
	},

	find: function(ev) {
		const pressed = ev.currentTarget;

		pressed.disabled = true;
		this.status.textContent = _('Asking\u2026');
		return lookUp(this.service, this.list).then(L.bind(function(count) {
			this.status.textContent = N_(count, '%d model: press the arrow in the field', '%d models: type, or press the arrow in the field').format(count);
		}, this)).catch(L.bind(function(fault) {
			this.status.textContent = '';
			this.box.fault(fault);
		}, this)).finally(function() { pressed.disabled = false; });
	},

	/* An address that was not changed is not sent, so that the provider's own stays in use. */
	given: function() {
		const service = this.service, f = this.fields;

		return {
			identifier: service.identifier, model: f.model.value.trim(), thinking: f.thinking.value, tool_mode: f.tool_mode.value,
			endpoint: f.endpoint.value.trim() == service.base_url ? undefined : f.endpoint.value.trim(),
			temperature: f.temperature.value, search: f.search.value,
			max_tokens: Number(f.max_tokens.value) || 0, context_tokens: Number(f.context_tokens.value) || 0
		};
	}
});

/* Ask what to add; done(identifier) gives a promise. providers: those of service.providers. */
function askNew(providers, done) {
	const kind = page.select(providers.map(function(provider) {
		return [ provider.profile, provider.local ? _('%s (at home)').format(clean.plain(provider.name)) : clean.plain(provider.name) ];
	}), { 'autofocus': '' });
	const endpoint = text('', { 'type': 'url' }), model = text(''), key = secret();
	const keyField = page.field(_('Key'), key), hint = E('span', { 'class': 'oasis-small' });
	const chosen = function() { return providers.find(function(provider) { return provider.profile == kind.value; }); };
	const follow = function() {
		const provider = chosen();

		endpoint.placeholder = provider.endpoint;
		model.placeholder = provider.model;
		hint.textContent = provider.endpoint ? _('Leave it empty for the usual one.') : _('Like http://192.168.1.20:8000/v1');
		keyField.hidden = provider.key == 'none';
		key.placeholder = provider.key == 'required' ? '' : _('only where the server asks for one');
	};
	const send = function() {
		return api.call('add_service', chosen().profile, endpoint.value.trim() || undefined, model.value.trim() || undefined,
			!keyField.hidden && key.value || undefined).then(function(reply) { return done(reply.identifier); });
	};
	const box = dialog.open(_('Add a service'), [
		page.field(_('Provider'), kind), E('label', { 'class': 'oasis-field' }, [ E('span', [ _('Address') ]), endpoint, hint ]),
		page.field(_('Model'), model, _('It can be chosen from a list afterwards.')), keyField
	], [ page.button(_('Add'), 'cbi-button-action important', function() { return box.run(send); }) ]);

	box.onClose = function() { key.value = ''; };
	kind.addEventListener('change', follow);
	follow();
}

/* Set a key, or remove it; it goes to the daemon and is never shown again: what is known of it is whether there is one. */
function askKey(service, done) {
	const input = secret({ 'autofocus': '' });
	const set = function(value) {
		return box.run(function() { return api.call('set_key', service.identifier, value).then(done); });
	};
	const save = function(ev) {
		ev.preventDefault();
		return input.value ? set(input.value) : input.focus();
	};
	const box = dialog.open(_('Key of a service'), [
		E('form', { 'submit': save, 'autocomplete': 'off' }, [
			page.field(clean.plain(service.name), input, service.has_key ? _('One is set. It is never shown; a new one takes its place.') : _('None is set.'))
		])
	], [].concat(
		service.has_key ? page.button(_('Forget the key'), 'cbi-button-negative', function() { return set(''); }) : [],
		page.button(_('Save'), 'cbi-button-action important', save)
	));

	box.onClose = function() { input.value = ''; };
}

/* Ask before it goes. */
function askRemoval(service, done) {
	return dialog.ask(_('Delete a service'), _('Delete the service "%s" and its key? Chats that it answered stay.').format(clean.plain(service.name)),
		_('Delete'), function() { return api.call('remove_service', service.identifier).then(done); });
}

/*
 * Model servers of the home network: searched for on request, listed, and put into use after they answered. run(work, ev) does something
 * and shows its fault; done() draws the services anew.
 */
const Nearby = baseclass.extend({
	__init__: function(run, done) {
		this.run = run;
		this.done = done;
		this.found = E('div', { 'role': 'status' });
		this.node = page.section(_('At home'), [
			E('p', [ _('A model on a computer of your own costs nothing, and what you say stays at home. Every device that the router knows is asked on the four ports that such servers usually have (Ollama, LM Studio, llama.cpp, vLLM).') ]),
			page.act(_('Look for servers at home'), '', this.search.bind(this), 'services/look'),
			this.found
		]);
	},

	search: function(ev) {
		this.found.textContent = _('Asking\u2026');
		return this.run(L.bind(function() {
			return api.call('find_servers').then(this.show.bind(this), L.bind(function(fault) {
				this.found.textContent = '';
				throw fault;
			}, this));
		}, this), ev);
	},

	show: function(reply) {
		const rows = (reply.servers || []).map(this.row, this);

		this.found.textContent = '';
		this.found.appendChild(rows.length
			? page.table(_('Servers at home'), [ { title: _('Server'), isName: true }, { title: _('Models') }, { title: '' } ], rows)
			: E('p', [ N_(reply.asked, 'None answered, of %d device. A server must listen on the network, not only on its own machine: for Ollama OLLAMA_HOST=0.0.0.0.',
				'None answered, of %d devices. A server must listen on the network, not only on its own machine: for Ollama OLLAMA_HOST=0.0.0.0.').format(reply.asked) ]));
	},

	row: function(server) {
		const models = (server.models || []).map(clean.plain);
		const use = page.act(_('Use'), 'cbi-button-action', this.use.bind(this, server), 'nearby/' + server.endpoint);

		use.disabled = use.disabled || server.is_set;
		return [
			[ clean.plain(server.name || server.host), E('span', { 'class': 'oasis-small' }, [ ' ' + clean.plain(server.endpoint) ]) ],
			models.slice(0, 4).join(', ') || _('no model yet'),
			server.is_set ? _('is a service already') : use
		];
	},

	/* A service that does not answer is kept and not put into use. */
	use: function(server, ev) {
		return this.run(L.bind(async function() {
			const added = await api.named('add_service', {
				name: server.profile, endpoint: server.endpoint, model: (server.models || [])[0]
			});
			const tried = await api.call('test_service', added.identifier);

			if (tried.ok)
				await api.call('select_service', added.identifier);
			this.found.textContent = '';
			await this.done();
			if (!tried.ok)
				throw Object.assign(new Error(tried.fault.message), { hint: tried.fault.hint, code: tried.fault.code });
		}, this), ev);
	}
});

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
		this.nearby = new Nearby(this.frame.run.bind(this.frame), this.reload);
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
			E('p', [ page.pageLink('usage', _('What services used and cost')) ])
		]);
	},

	reload: async function() {
		const replies = await Promise.all([ api.call('services'), api.call('aliases') ]);

		this.draw(replies[0], replies[1]);
	},

	row: function(service, place) {
		const status = E('div', { 'class': 'oasis-small', 'role': 'status' }, [
			!service.profile && service.ready ? _('understands the most asked requests, without a model') : clean.plain(service.ready ? service.base_url : service.note)
		]);
		const name = clean.plain(service.name);

		return [
			[ name, service.identifier != service.profile && service.profile ? E('span', { 'class': 'oasis-small' }, [ ' (' + clean.plain(service.identifier) + ')' ]) : '',
				service.active ? E('div', [ page.badge(_('in use'), 'good') ]) : '' ],
			clean.plain(service.model) || '\u2013',
			[ page.badge(service.ready ? _('ready') : _('not set up'), service.ready ? '' : 'warn'), ' ', this.keyBadge(service), status ],
			page.buttons(this.buttons(service, place, name, status))
		];
	},

	keyBadge: function(service) {
		return service.has_key ? page.badge(_('key set'), 'good') : '';
	},

	buttons: function(service, place, name, status) {
		const act = L.bind(function(label, classes, what, press, name) {
			const node = page.act(label, classes, press, service.identifier + '/' + what);

			if (name) {
				node.setAttribute('aria-label', name);
				node.title = node.title || name;
			}
			return node;
		}, this);
		const up = act('\u2191', '', 'up', this.move.bind(this, service, place - 1), _('Move %s up').format(name));
		const down = act('\u2193', '', 'down', this.move.bind(this, service, place + 1), _('Move %s down').format(name));
		const test = act(_('Test'), '', 'test', this.test.bind(this, service, status));

		up.disabled = up.disabled || !place;
		down.disabled = down.disabled || place == this.services.length - 1;
		test.disabled = test.disabled || !service.ready;
		/* the built-in service has nothing to set */
		return [ up, down, test ].concat(service.profile ? [
			service.key == 'none' ? '' : act(_('Key\u2026'), '', 'key', L.bind(function() { return askKey(service, this.reload); }, this)),
			act(_('Change'), 'cbi-button-edit', 'change', L.bind(function() { return new Change(service, this.reload); }, this)),
			act(_('Delete'), 'cbi-button-negative', 'delete', L.bind(function() { return askRemoval(service, this.reload); }, this))
		] : []);
	},

	test: function(service, status, ev) {
		status.textContent = _('Asking\u2026');
		return this.frame.run(function() {
			return api.call('test_service', service.identifier).then(function(reply) {
				status.textContent = reply.ok ? _('%s answered after %d ms.').format(clean.plain(reply.model), reply.ms)
					: clean.plain(reply.fault.message + (reply.fault.hint ? ' \u2013 ' + reply.fault.hint : ''));
			}, function(fault) {
				status.textContent = clean.plain(fault.message);
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

			askNew(reply.providers || [], this.reload);
		}, this), ev);
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
