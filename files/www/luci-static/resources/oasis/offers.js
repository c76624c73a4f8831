'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.dialog as dialog';
'require oasis.controls as controls';
'require oasis.words as words';

/*
 * The dialogs in which a service is added, changed, given a key and taken away. A key goes to the daemon and is never shown
 * again: what is known of it is whether there is one.
 */

/* what the daemon takes */
const WORD_CHARS = 256, KEY_CHARS = 4096;

function field(label, input, hint) {
	return E('label', { 'class': 'oasis-field' }, [
		E('span', [ label ]), input, hint ? E('span', { 'class': 'oasis-small' }, [ hint ]) : ''
	]);
}

function text(value, attributes) {
	return E('input', Object.assign({ 'type': 'text', 'class': 'cbi-input-text', 'maxlength': WORD_CHARS, 'value': value || '' }, attributes));
}

function choice(value, pairs) {
	const select = E('select', { 'class': 'cbi-input-select' }, pairs.map(function(pair) { return E('option', { 'value': pair[0] }, [ pair[1] ]); }));

	/* what is set by other means stays what it is */
	if (!pairs.some(function(pair) { return pair[0] == value; }))
		select.appendChild(E('option', { 'value': value }, [ value ]));
	select.value = value;
	return select;
}

/* A field for a key: no browser offers to fill it in, or to keep it. */
function secret(attributes) {
	return E('input', Object.assign({
		'type': 'password', 'class': 'cbi-input-text', 'maxlength': KEY_CHARS, 'autocomplete': 'new-password', 'spellcheck': 'false'
	}, attributes));
}

function thinkingWords() {
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

const Change = baseclass.extend({
	__init__: function(service, done) {
		const options = service.options || {};

		this.service = service;
		this.list = E('datalist', { 'id': 'oasis-models' });
		this.told = E('span', { 'class': 'oasis-small', 'role': 'status' });
		this.fields = {
			model: text(service.model, { 'list': 'oasis-models', 'autofocus': '' }),
			endpoint: text(service.base_url, { 'type': 'url' }),
			thinking: choice(String(options.thinking || ''), thinkingWords()),
			max_tokens: text(options.max_tokens, { 'type': 'number', 'min': '0' }),
			context_tokens: text(service.context_tokens || '', { 'type': 'number', 'min': '0' }),
			temperature: text(options.temperature == null ? '' : String(options.temperature), { 'type': 'number', 'min': '0', 'max': '2', 'step': '0.1' }),
			tool_mode: choice(service.tool_mode, [ [ 'auto', _('uses the tools of the router') ], [ 'none', _('answers without tools') ] ]),
			search: choice(options.search == null ? '' : options.search ? 'on' : 'off', [ [ '', _('as usual') ], [ 'on', _('on') ], [ 'off', _('off') ] ])
		};
		this.box = dialog.open(_('Change a service'), this.nodes(), [
			controls.button(_('Save'), 'cbi-button-action important', L.bind(function() {
				return this.box.run(L.bind(function() { return api.named('change_service', this.given()).then(done); }, this));
			}, this))
		]);
	},

	nodes: function() {
		const f = this.fields;

		return [
			E('p', [ E('strong', [ words.plain(this.service.name) ]) ]),
			field(_('Model'), E('span', [ f.model, this.list ])),
			E('p', [ controls.link(_('Look up its models'), this.find.bind(this)), ' ', this.told ]),
			field(_('Address'), f.endpoint),
			field(_('Thinking'), f.thinking),
			E('details', { 'class': 'oasis-plan-details' }, [
				E('summary', [ _('More') ]),
				field(_('Longest answer in tokens'), f.max_tokens, _('Empty for the usual.')),
				field(_('Room for a chat in tokens'), f.context_tokens, _('Empty for the usual.')),
				field(_('Temperature'), f.temperature, _('0 to 2; low answers alike each time.')),
				field(_('Tools'), f.tool_mode),
				field(_('Web search of the service'), f.search, _('Where the service has one; it may cost extra.'))
			])
		];
	},

	find: function(ev) {
		const pressed = ev.currentTarget;

		pressed.disabled = true;
		this.told.textContent = _('Asking\u2026');
		return lookUp(this.service, this.list).then(L.bind(function(count) {
			this.told.textContent = N_(count, '%d model: press the arrow in the field', '%d models: type, or press the arrow in the field').format(count);
		}, this)).catch(L.bind(function(fault) {
			this.told.textContent = '';
			this.box.fault(fault);
		}, this)).finally(function() { pressed.disabled = false; });
	},

	/* What is not touched is not sent: an address that comes from the provider stays its matter. */
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

return baseclass.extend({
	/* Ask what to add; done(identifier) gives a promise. providers: those of service.providers. */
	add: function(providers, done) {
		const kind = E('select', { 'class': 'cbi-input-select', 'autofocus': '' }, providers.map(function(provider) {
			return E('option', { 'value': provider.profile }, [ provider.local ? _('%s (at home)').format(words.plain(provider.name)) : words.plain(provider.name) ]);
		}));
		const endpoint = text('', { 'type': 'url' }), model = text(''), key = secret();
		const keyField = field(_('Key'), key), hint = E('span', { 'class': 'oasis-small' });
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
			field(_('Provider'), kind), E('label', { 'class': 'oasis-field' }, [ E('span', [ _('Address') ]), endpoint, hint ]),
			field(_('Model'), model, _('It can be chosen from a list afterwards.')), keyField
		], [ controls.button(_('Add'), 'cbi-button-action important', function() { return box.run(send); }) ]);

		box.onClose = function() { key.value = ''; };
		kind.addEventListener('change', follow);
		follow();
	},

	/* done() is called when it was changed and gives a promise. */
	change: function(service, done) {
		return new Change(service, done);
	},

	/* Set a key, or take it away. */
	key: function(service, done) {
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
				field(words.plain(service.name), input, service.has_key ? _('One is set. It is never shown; a new one takes its place.') : _('None is set.'))
			])
		], [].concat(
			service.has_key ? controls.button(_('Forget the key'), 'cbi-button-negative', function() { return set(''); }) : [],
			controls.button(_('Save'), 'cbi-button-action important', save)
		));

		box.onClose = function() { input.value = ''; };
	},

	/* Ask before it goes. */
	remove: function(service, done) {
		return dialog.ask(_('Delete a service'), _('Delete the service "%s" and its key? Chats that it answered stay.').format(words.plain(service.name)),
			_('Delete'), function() { return api.call('remove_service', service.identifier).then(done); });
	},

	lookUp: lookUp,
	field: field
});
