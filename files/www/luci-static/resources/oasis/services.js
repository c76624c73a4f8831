'use strict';
'require baseclass';
'require oasis.controls as controls';
'require oasis.page as page';
'require oasis.words as words';

/*
 * The choice of the service and model that answers: for what is sent from now on in this chat, and from there for every
 * chat. A thread keeps its service until another one is chosen. It knows no daemon.
 */

function labelOf(service) {
	const name = service.model && service.model != service.name ? '%s \u00b7 %s'.format(service.name, service.model) : service.name;

	return service.ready ? words.plain(name) : _('%s (not set up)').format(words.plain(name));
}

const Choice = baseclass.extend({
	__init__: function(prefer) {
		this.prefer = prefer;
		this.known = [];
		this.active = this.inherited = '';
		this.select = E('select', { 'class': 'cbi-input-select', 'disabled': prefer ? null : '', 'change': this.mark.bind(this) });
		this.note = E('span', { 'class': 'oasis-small' });
		this.always = controls.link(_('Use in every chat'), this.keep.bind(this));
		this.node = E('span', { 'class': 'oasis-service', 'hidden': '' }, [
			E('label', [ E('span', { 'class': 'oasis-small' }, [ _('Answered by') ]), this.select ]), this.always,
			prefer ? page.way('services', _('Services')) : '', this.note
		]);
	},

	find: function(identifier) {
		return this.known.find(function(item) { return item.identifier == identifier; });
	},

	/* The choice as it stands, with what belongs to it. */
	mark: function() {
		const service = this.find(this.select.value || this.active);

		this.note.textContent = words.plain(service && service.note);
		this.always.hidden = !this.prefer || !this.select.value || this.select.value == this.active;
	},

	keep: function() {
		const wanted = this.select.value;

		this.always.disabled = true;
		return this.prefer(wanted).then(L.bind(function() {
			this.known.forEach(function(item) { item.active = item.identifier == wanted; });
			this.set(this.known, this.inherited ? wanted : '');
			this.select.focus();
		}, this), function() { /* told by whoever was asked; the choice stays */ })
			.finally(L.bind(function() { this.always.disabled = false; }, this));
	},

	set: function(services, chosen) {
		const active = services.find(function(service) { return service.active; });

		this.known = services;
		this.active = active ? active.identifier : '';
		this.select.textContent = '';
		this.select.appendChild(E('option', { 'value': '' }, [ active ? _('%s (default)').format(labelOf(active)) : _('Default') ]));
		services.forEach(function(service) {
			this.select.appendChild(E('option', {
				'value': service.identifier, 'title': service.note, 'disabled': service.ready ? null : ''
			}, [ labelOf(service) ]));
		}, this);
		this.node.hidden = !services.length;
		this.select.value = chosen || '';
		this.mark();
	},

	/* A thread is shown: its messages tell which service it keeps. */
	follow: function(messages) {
		let kept = '';

		messages.forEach(function(message) {
			if (message.options && message.options.provider_ptr != null)
				kept = message.options.provider_ptr;
		});
		this.inherited = this.find(kept) ? kept : '';
		this.select.value = this.inherited;
		this.mark();
	},

	/* The options of the next message, where they change something for the thread; "" is the default again. */
	given: function() {
		return this.select.value == this.inherited ? undefined : { provider_ptr: this.select.value };
	},

	/* The message was taken. */
	taken: function() {
		this.inherited = this.select.value;
	},

	/* Who answered: a message's provider and model; without one, who would answer now. */
	source: function(message) {
		const service = this.find(message ? message.provider : this.select.value || this.active);

		if (!message)
			return service ? labelOf(service) : '';
		return [ service ? service.name : message.provider, message.model ].filter(Boolean).join(' \u00b7 ');
	}
});

return baseclass.extend({
	/* prefer(identifier) gives a promise; null for who may only look. Gives { node, set(services), follow(messages), given(), taken(), source(message) }. */
	choice: function(prefer) {
		return new Choice(prefer);
	}
});
