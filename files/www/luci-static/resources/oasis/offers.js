'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.dialog as dialog';
'require oasis.controls as controls';
'require oasis.words as words';

/*
 * The dialog in which services are added, changed, tried, put in order and taken away. A key goes to the daemon and is
 * never shown again: what is known of it is whether there is one.
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

/* A field for a key: no browser offers to fill it in, or to keep it. */
function secret() {
	return E('input', { 'type': 'password', 'class': 'cbi-input-text', 'maxlength': KEY_CHARS, 'autocomplete': 'new-password', 'spellcheck': 'false' });
}

const Editor = baseclass.extend({
	__init__: function(services, changed) {
		this.changed = changed;
		this.box = dialog.open(_('Services'), []);
		this.list(services);
	},

	fill: function(nodes, buttons) {
		this.box.body.textContent = '';
		nodes.forEach(function(node) { this.box.body.appendChild(node); }, this);
		this.box.trouble.textContent = '';
		this.box.buttons(buttons, _('Close'));
		(this.box.body.querySelector('[autofocus]') || this.box.foot.firstChild).focus();
	},

	back: function() {
		return controls.button(_('Back'), '', L.bind(this.list, this, this.services));
	},

	list: function(services) {
		this.services = services;
		this.fill([
			E('p', { 'class': 'oasis-small' }, [ _('The first one answers where a chat names no other.') ]),
			E('ul', { 'class': 'oasis-rows' }, services.map(this.row, this))
		], [ controls.button(_('Add a service'), 'cbi-button-add', this.choose.bind(this)) ]);
	},

	row: function(service, place) {
		const name = words.plain(service.name);
		const told = E('div', { 'class': 'oasis-small', 'role': 'status' }, [ words.plain(service.ready ? service.base_url : service.note) ]);
		const test = controls.button(_('Test'), '', L.bind(this.test, this, service, told));
		const offline = !service.profile;

		test.disabled = !service.ready;
		return E('li', [
			E('span', { 'class': 'oasis-row-text' }, [
				E('strong', [ name ]), service.model ? ' \u00b7 ' + words.plain(service.model) : '',
				service.active ? ' \u00b7 ' + _('in use') : '', told
			]),
			test,
			controls.menu(_('More about %s').format(name), [
				service.active || !service.ready ? '' : controls.button(_('Use in every chat'), '', L.bind(this.send, this, 'select_service', [ service.identifier ])),
				place ? controls.button(_('Move up'), '', L.bind(this.move, this, service, place - 1)) : '',
				place < this.services.length - 1 ? controls.button(_('Move down'), '', L.bind(this.move, this, service, place + 1)) : '',
				offline ? '' : controls.button(_('Change'), '', L.bind(this.edit, this, service)),
				offline ? '' : controls.button(_('Delete'), 'cbi-button-negative', L.bind(this.ask, this, service))
			])
		]);
	},

	test: function(service, told, ev) {
		const pressed = ev.currentTarget;

		pressed.disabled = true;
		told.textContent = _('Asking\u2026');
		return api.call('test_service', service.identifier).then(function(reply) {
			told.textContent = reply.ok ? _('%s answered after %d ms.').format(words.plain(reply.model), reply.ms)
				: words.plain(reply.fault.message + (reply.fault.hint ? ' \u2013 ' + reply.fault.hint : ''));
		}, function(fault) { told.textContent = words.plain(fault.message); })
			.finally(function() { pressed.disabled = false; });
	},

	move: function(service, place) {
		return this.send('change_service', [ service.identifier, undefined, undefined, undefined, undefined, undefined, undefined, place ]);
	},

	ask: function(service) {
		this.fill([ E('p', [ _('Delete the service "%s" and its key? Chats that it answered stay.').format(words.plain(service.name)) ]) ], [
			this.back(),
			controls.button(_('Delete'), 'cbi-button-negative important', L.bind(this.send, this, 'remove_service', [ service.identifier ]))
		]);
	},

	choose: function() {
		return api.call('providers').then(L.bind(function(reply) {
			const select = E('select', { 'class': 'cbi-input-select', 'autofocus': '' }, reply.providers.map(function(provider) {
				return E('option', { 'value': provider.profile }, [ words.plain(provider.name) ]);
			}));

			this.fill([ field(_('Provider'), select) ], [
				this.back(),
				controls.button(_('Next'), 'cbi-button-action important', L.bind(function() {
					this.add(reply.providers.find(function(provider) { return provider.profile == select.value; }));
				}, this))
			]);
		}, this)).catch(this.box.fault.bind(this.box));
	},

	add: function(provider) {
		const endpoint = text('', { 'placeholder': provider.endpoint, 'type': 'url', 'autofocus': '' });
		const model = text('', { 'placeholder': provider.model });
		const key = secret();

		this.fill([
			field(_('Address'), endpoint, provider.endpoint ? _('Leave it empty for the usual one.') : _('Like http://192.168.1.20:8000/v1')),
			field(_('Model'), model, _('It can be chosen from a list afterwards.')),
			provider.key == 'none' ? E('span') : field(_('Key'), key, provider.key == 'required' ? '' : _('Only where the server asks for one.'))
		], [
			this.back(),
			controls.button(_('Add'), 'cbi-button-action important', L.bind(function() {
				return this.send('add_service', [ provider.profile, endpoint.value || undefined, model.value || undefined, key.value || undefined ]);
			}, this))
		]);
	},

	edit: function(service) {
		const options = service.options || {};
		const list = E('datalist', { 'id': 'oasis-models' });
		const model = text(service.model, { 'list': 'oasis-models', 'autofocus': '' });
		const endpoint = text(service.base_url, { 'type': 'url' });
		const thinking = text(String(options.thinking || ''));
		const most = text(options.max_tokens, { 'type': 'number', 'min': '0' });
		const room = text(service.context_tokens || '', { 'type': 'number', 'min': '0' });
		const key = secret();
		const find = controls.link(_('Look up its models'), L.bind(this.find, this, service, list));

		this.fill([
			field(_('Model'), E('span', [ model, list, ' ', find ])),
			field(_('Address'), endpoint),
			service.key == 'none' ? E('span') : field(_('Key'), key, service.has_key ? _('One is set; it stays when this is empty.') : _('None is set.')),
			field(_('Thinking'), thinking, _('off, adaptive, low, medium, high or a number of tokens; empty for the usual.')),
			field(_('Longest answer in tokens'), most),
			field(_('Room for a chat in tokens'), room)
		], [
			this.back(),
			service.has_key ? controls.button(_('Forget the key'), '', L.bind(this.send, this, 'set_key', [ service.identifier, '' ])) : '',
			controls.button(_('Save'), 'cbi-button-action important', L.bind(function() {
				const change = [ service.identifier, model.value, endpoint.value == service.base_url ? undefined : endpoint.value,
					thinking.value, Number(most.value) || 0, Number(room.value) || 0 ];

				return key.value ? this.send('set_key', [ service.identifier, key.value ], [ 'change_service', change ])
					: this.send('change_service', change);
			}, this))
		].filter(Boolean));
	},

	find: function(service, list, ev) {
		const pressed = ev.currentTarget;

		pressed.disabled = true;
		return api.call('service_models', service.identifier).then(function(reply) {
			list.textContent = '';
			reply.models.forEach(function(model) { list.appendChild(E('option', { 'value': model.id })); });
			pressed.textContent = _('%d models: type, or press the arrow').format(reply.models.length);
		}).catch(this.box.fault.bind(this.box)).finally(function() { pressed.disabled = false; });
	},

	/* Do one thing, or two, and show the list as it then is; a button that was pressed hands on its event as well. */
	send: function(method, args, second) {
		return api.call.apply(api, [ method ].concat(args))
			.then(function() { return Array.isArray(second) ? api.call.apply(api, [ second[0] ].concat(second[1])) : null; })
			.then(function() { return api.call('services'); })
			.then(L.bind(function(reply) {
				this.changed(reply.service || []);
				this.list(reply.service || []);
			}, this)).catch(this.box.fault.bind(this.box));
	}
});

return baseclass.extend({
	/* Open the dialog; changed(services) is called with what there is afterwards. */
	open: function(services, changed) {
		return new Editor(services, changed);
	}
});
