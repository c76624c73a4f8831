'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.clean as clean';
'require oasis.page as page';
'require oasis.dialog as dialog';
'require oasis.message as messages';

/*
 * With what the next message is sent: the service that answers it, the system message of a new chat, and a preview of all that would be
 * sent to a model.
 */

const DEFAULT = 'default';

function labelOf(service) {
	const name = service.model && service.model != service.name ? '%s \u00b7 %s'.format(service.name, service.model) : service.name;

	return service.ready ? clean.plain(name) : _('%s (not set up)').format(clean.plain(name));
}

/*
 * The choice of the service and model that answers: for what is sent from now on in this chat, and from there for every chat. A thread
 * keeps its service until another one is chosen.
 *
 * Reads state.services. Sets state.options (of the next message, undefined where they change nothing for the thread) and state.answerer
 * (the label of who would answer now). Listens to services(), thread(reply) and taken(). prefer(identifier) asks for a promise.
 */
const Service = baseclass.extend({
	__init__: function(state) {
		this.state = state;
		this.active = this.inherited = '';
		this.select = E('select', { 'class': 'cbi-input-select', 'disabled': state.isWriter ? null : '', 'change': this.mark.bind(this) });
		this.note = E('span', { 'class': 'oasis-small' });
		this.always = page.link(_('Use in every chat'), this.keep.bind(this));
		this.node = E('span', { 'class': 'oasis-service', 'hidden': '' }, [
			E('label', [ E('span', { 'class': 'oasis-small' }, [ _('Answered by') ]), this.select ]), this.always,
			state.isWriter ? page.pageLink('services', _('Services')) : '', this.note
		]);
		state.on({
			services: L.bind(this.draw, this, ''), thread: this.follow,
			taken: function() {
				this.inherited = this.select.value;
				this.mark();
			}
		}, this);
	},

	find: function(identifier) {
		return this.state.services.find(function(item) { return item.identifier == identifier; });
	},

	/* The choice as it stands, with what belongs to it; "" is the default again. */
	mark: function() {
		const chosen = this.select.value, service = this.find(chosen || this.active);

		this.note.textContent = clean.plain(service && service.note);
		this.always.hidden = !this.state.isWriter || !chosen || chosen == this.active;
		this.state.service = chosen;
		this.state.options = chosen == this.inherited ? undefined : { provider_ptr: chosen };
		this.state.answerer = service ? labelOf(service) : '';
	},

	keep: function() {
		const wanted = this.select.value;

		this.always.disabled = true;
		return this.state.emit('prefer', wanted).then(L.bind(function() {
			this.state.services.forEach(function(item) { item.active = item.identifier == wanted; });
			this.draw(this.inherited ? wanted : '');
			this.select.focus();
		}, this), function() { /* the fault is shown above; the choice stays */ })
			.finally(L.bind(function() { this.always.disabled = false; }, this));
	},

	draw: function(chosen) {
		const services = this.state.services, active = services.find(function(service) { return service.active; });

		this.active = active ? active.identifier : '';
		this.select.textContent = '';
		this.select.appendChild(E('option', { 'value': '' }, [ active ? _('%s (default)').format(labelOf(active)) : _('Default') ]));
		services.forEach(function(service) {
			this.select.appendChild(E('option', {
				'value': service.identifier, 'title': service.note, 'disabled': service.ready ? null : ''
			}, [ labelOf(service) ]));
		}, this);
		this.node.hidden = !services.length;
		this.select.value = chosen;
		this.mark();
	},

	/* A thread is shown: its messages say which service it keeps. */
	follow: function(reply) {
		let kept = '';

		(reply.messages || []).forEach(function(message) {
			if (message.options && message.options.provider_ptr != null)
				kept = message.options.provider_ptr;
		});
		this.inherited = this.find(kept) ? kept : '';
		this.select.value = this.inherited;
		this.mark();
	}
});

/*
 * The choice of the system message that a new chat begins with. Sets state.topic, undefined for the default. Listens to empty(): an
 * empty chat is shown; a daemon that has no system messages leaves the choice hidden.
 */
const Topic = baseclass.extend({
	__init__: function(state) {
		this.state = state;
		this.select = E('select', { 'class': 'cbi-input-select', 'change': this.mark.bind(this) });
		this.node = E('p', { 'class': 'oasis-topic', 'hidden': '' }, [
			E('label', [ E('span', { 'class': 'oasis-small' }, [ _('This chat is about') ]), this.select ]), ' ',
			page.pageLink('topics', _('System messages'))
		]);
		state.on({ empty: this.load }, this);
	},

	mark: function() {
		this.state.topic = this.node.hidden || this.select.value == DEFAULT ? undefined : this.select.value;
	},

	/* The choice stays what it was while that topic is there. */
	load: async function() {
		const result = await api.settled('topics'), topics = result.value && result.value.topics || [];
		const chosen = this.select.value || DEFAULT;

		this.select.textContent = '';
		topics.forEach(function(topic) {
			this.select.appendChild(E('option', { 'value': topic.key, 'selected': topic.key == chosen ? '' : null }, [ clean.plain(topic.title) ]));
		}, this);
		this.node.hidden = !topics.length;
		this.mark();
		this.state.emit('resized');
	}
});

function decoded(parts) {
	const bytes = Uint8Array.from(parts.map(window.atob).join(''), function(letter) { return letter.charCodeAt(0); });

	return new TextDecoder().decode(bytes);
}

async function asked(given) {
	const first = await api.named('privacy', given), parts = [ first.data ];

	for (let part = 1; part < first.parts; part++)
		parts.push((await api.named('privacy', Object.assign({ part: part }, given))).data);
	return Object.assign({}, first, { text: decoded(parts) });
}

function shown(reply) {
	const service = reply.service || {}, name = clean.plain(service.name);

	if (!reply.url)
		return [ E('p', [ _('Nothing: %s answers on the router itself.').format(name) ]) ];
	return [
		E('p', [
			E('strong', [ service.is_local ? _('To %s, a server of your own').format(name) : _('To %s, outside your home').format(name) ]),
			E('br'), E('code', [ clean.plain(reply.method) + ' ' + clean.plain(reply.url) ]), E('br'),
			_('%d bytes, about %d tokens. Passwords and keys of the router are placeholders in it, and your key is not shown.').format(reply.bytes, reply.tokens)
		]),
		E('pre', { 'class': 'oasis-sent', 'tabindex': '0', 'aria-label': _('What would be sent') }, [ clean.plain(messages.pretty(reply.text)) ])
	];
}

return baseclass.extend({
	/* Gives { node }. */
	service: function(state) {
		return new Service(state);
	},

	/* Gives { node }. */
	topic: function(state) {
		return new Topic(state);
	},

	/* Show what the message in the field would send, or what an empty one would take along. */
	preview: function(state) {
		const given = {
			message: state.draft.trim() || _('(your message)'), chat: state.chat || undefined, service: state.service || undefined
		};
		const body = E('div', { 'role': 'status' }, [ _('Asking\u2026') ]);
		const box = dialog.open(_('What would be sent'), [ body ], []);

		return asked(given).then(function(reply) {
			body.textContent = '';
			shown(reply).forEach(function(node) { body.appendChild(node); });
		}, function(fault) {
			body.textContent = '';
			box.fault(fault);
		});
	}
});
