'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.dialog as dialog';
'require oasis.page as page';
'require oasis.clean as clean';

/*
 * Names that stand for services: what each is for, which services it tries in which order, and the dialog that sets it.
 */

/* what the daemon takes */
const TARGETS = 8, NAME_CHARS = 32, MODEL_CHARS = 200;

/* What a usual name is for; "" for a name that the owner made up. */
function purpose(name) {
	return {
		chat: _('answers in chats that name no service'), title: _('names chats'), intent: _('understands short orders'),
		nano: _('smallest model'), milli: _('small model'), kilo: _('medium model'), mega: _('large model'), giga: _('largest model')
	}[name] || '';
}

function split(target) {
	const at = target.indexOf('/');

	return at == -1 ? { service: target, model: '' } : { service: target.substring(0, at), model: target.substring(at + 1) };
}

function targetText(target, services) {
	const parts = split(target), service = services.find(function(item) { return item.identifier == parts.service; });

	return clean.plain([ service ? service.name : parts.service, parts.model ].filter(Boolean).join(' \u00b7 '));
}

const Editor = baseclass.extend({
	__init__: function(alias, services, done) {
		this.services = services;
		this.name = E('input', {
			'type': 'text', 'class': 'cbi-input-text', 'maxlength': NAME_CHARS, 'value': alias.name || '', 'autofocus': alias.name ? null : '',
			'readonly': alias.name ? '' : null
		});
		this.rows = E('ol', { 'class': 'oasis-rows' });
		this.more = page.button(_('Add another one'), 'cbi-button-add', L.bind(function() { this.row({ service: '', model: '' }).querySelector('select').focus(); }, this));
		this.box = dialog.open(_('Alias'), [
			page.field(_('Name'), this.name, purpose(alias.name)),
			E('p', { 'class': 'oasis-small' }, [ _('The first one is asked; where it fails before a word of the answer, the next one. Without a model, the one of the service.') ]),
			this.rows, this.more
		], [ page.button(_('Save'), 'cbi-button-action important', L.bind(function() {
			return this.box.run(L.bind(function() { return api.call('set_alias', this.name.value.trim(), this.targets()).then(done); }, this));
		}, this)) ]);
		(alias.targets.length ? alias.targets.map(split) : [ { service: '', model: '' } ]).forEach(this.row, this);
	},

	row: function(target) {
		const select = E('select', { 'class': 'cbi-input-select', 'aria-label': _('Service') }, this.services.map(function(service) {
			return E('option', { 'value': service.identifier }, [ clean.plain(service.name) ]);
		}));
		const model = E('input', { 'type': 'text', 'class': 'cbi-input-text', 'maxlength': MODEL_CHARS, 'value': target.model, 'aria-label': _('Model') });
		const row = E('li', [
			select, model,
			page.button('\u2191', '', L.bind(this.up, this)), page.button('\u00d7', 'cbi-button-negative', L.bind(this.drop, this))
		]);

		row.children[2].setAttribute('aria-label', _('Move up'));
		row.children[3].setAttribute('aria-label', _('Remove'));
		/* a service that was deleted is shown by its name, so that the owner can correct it */
		if (target.service && !this.services.some(function(item) { return item.identifier == target.service; }))
			select.appendChild(E('option', { 'value': target.service }, [ clean.plain(target.service) ]));
		if (target.service)
			select.value = target.service;
		select.addEventListener('change', this.suggest.bind(this));
		this.rows.appendChild(row);
		this.suggest();
		return row;
	},

	/* An empty field shows the service's own model. */
	suggest: function() {
		Array.from(this.rows.children).forEach(function(row, place, all) {
			const service = this.services.find(function(item) { return item.identifier == row.children[0].value; });

			row.children[1].placeholder = service && service.model || '';
			row.children[2].disabled = !place;
			row.children[3].disabled = all.length == 1;
		}, this);
		this.more.disabled = this.rows.children.length >= TARGETS;
	},

	up: function(ev) {
		const row = ev.currentTarget.parentNode;

		this.rows.insertBefore(row, row.previousSibling);
		this.suggest();
		(row.children[2].disabled ? row.children[1] : row.children[2]).focus();
	},

	drop: function(ev) {
		ev.currentTarget.parentNode.remove();
		this.suggest();
		this.more.focus();
	},

	targets: function() {
		return Array.from(this.rows.children).map(function(row) { return [ row.children[0].value, row.children[1].value.trim() ].filter(Boolean).join('/'); });
	}
});

/* Set ones, and the usual names that are not set. Shape of the reply: that of alias.list. */
function known(reply) {
	const set = {};

	(reply.alias || []).forEach(function(item) { set[item.name] = item; });
	return (reply.usual || []).map(function(name) { return set[name] || { name: name, targets: [], ready: true }; })
		.concat((reply.alias || []).filter(function(item) { return (reply.usual || []).indexOf(item.name) == -1; }));
}

return baseclass.extend({
	/* The part of the page; act(work, ev) does something and fills the page anew. Gives nodes. */
	section: function(reply, services, done) {
		const columns = [ { title: _('Name'), isName: true }, { title: _('Asked in this order') }, { title: '' } ];
		const edit = function(item) { return function() { return new Editor(item, services, done); }; };
		const rows = known(reply).map(function(item) {
			const order = item.targets.map(function(target) { return E('li', [ targetText(target, services) ]); });

			return [
				[ E('span', [ clean.plain(item.name) ]), purpose(item.name) ? E('div', { 'class': 'oasis-small oasis-about-name' }, [ purpose(item.name) ]) : '' ],
				[ order.length ? E('ol', { 'class': 'oasis-order' }, order) : E('span', { 'class': 'oasis-small' }, [ _('the service in use') ]),
					item.ready ? '' : E('div', [ page.badge(_('cannot be used'), 'warn'), ' ', clean.plain(item.note) ]) ],
				page.buttons([
					page.act(_('Change'), 'cbi-button-edit', edit(item), 'alias-' + item.name + '/change'),
					order.length ? page.act(_('Delete'), 'cbi-button-negative', function() {
						return dialog.ask(_('Delete an alias'), _('Delete the alias "%s"?').format(clean.plain(item.name)), _('Delete'),
							function() { return api.call('remove_alias', item.name).then(done); });
					}, 'alias-' + item.name + '/delete') : ''
				])
			];
		});

		return page.section(_('Aliases'), [
			E('p', { 'class': 'cbi-section-descr' }, [ _('A name that stands for one or several services, in the order to try them: when the first does not answer, the next one does.') ]),
			page.table(_('Aliases'), columns, rows),
			page.act(_('Add an alias'), 'cbi-button-add', edit({ name: '', targets: [] }), 'aliases/add')
		]);
	}
});
