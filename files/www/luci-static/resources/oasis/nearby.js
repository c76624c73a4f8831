'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.page as page';
'require oasis.words as words';

/*
 * Model servers of the home network: looked for when somebody presses, listed, and put into use after they answered.
 */

const Nearby = baseclass.extend({
	__init__: function(run, done) {
		this.run = run;
		this.done = done;
		this.found = E('div', { 'role': 'status' });
		this.node = page.section(_('At home'), [
			E('p', [ _('A model on a computer of your own costs nothing, and what you say stays at home. Every device that the router knows is asked on the four ports that such servers usually have (Ollama, LM Studio, llama.cpp, vLLM).') ]),
			page.act(_('Look for servers at home'), '', this.look.bind(this), 'services/look'),
			this.found
		]);
	},

	look: function(ev) {
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
		const models = (server.models || []).map(words.plain);
		const use = page.act(_('Use'), 'cbi-button-action', this.use.bind(this, server), 'nearby/' + server.endpoint);

		use.disabled = use.disabled || server.is_set;
		return [
			[ words.plain(server.name || server.host), E('span', { 'class': 'oasis-small' }, [ ' ' + words.plain(server.endpoint) ]) ],
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

return baseclass.extend({
	/* run(work, ev) does something and tells its fault; done() draws the services anew. Gives { node }. */
	create: function(run, done) {
		return new Nearby(run, done);
	}
});
