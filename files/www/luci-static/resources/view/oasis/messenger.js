'use strict';
'require view';
'require oasis.rpc as api';
'require oasis.dialog as dialog';
'require oasis.page as page';
'require oasis.clean as clean';

/*
 * The page of the messenger: the bot's token, who may write to it, whether plans can be approved there, and what happened
 * meanwhile. A token, a pairing code and a secret are shown or taken in dialogs alone, and kept in no field of the page.
 */

const NOTICES = 20;

function role(name) {
	return name == 'owner' ? _('owner') : _('guest');
}

return view.extend({
	load: function() {
		return page.styled(Promise.all([ api.settled('messenger'), api.settled('notices') ]));
	},

	render: function(results) {
		this.reload = this.reload.bind(this);
		this.frame = page.frame(_('Messenger'), [
			_('Talk with the router by Telegram, from anywhere. Make a bot with @BotFather there, enter its token here, switch it on and pair your telephone. Strangers get no answer.')
		]);
		this.notices = (results[1].value || {}).notices || [];
		if (results[0].fault)
			this.frame.fault(results[0].fault, true);
		else
			this.draw(results[0].value);
		return this.frame.node;
	},

	draw: function(state) {
		this.frame.fill([ this.bot(state), this.people(state), this.approving(state), this.noticeSection(state) ]);
	},

	bot: function(state) {
		const kind = state.state == 'on' ? 'good' : state.state == 'off' ? '' : 'warn';
		const label = state.state == 'on' ? _('on') : state.state == 'off' ? _('off') : _('waiting');

		return page.section(_('Bot'), [
			E('p', [ page.badge(label, kind), ' ', state.bot ? '@' + clean.plain(state.bot) : '', ' ', E('span', { 'class': 'oasis-small' }, [ state.state == 'off' ? '' : clean.plain(state.problem) ]) ]),
			E('p', [ state.has_token ? _('A token is set.') : _('No token is set.') ]),
			page.buttons([
				page.act(state.has_token ? _('Another token') : _('Enter the token'), 'cbi-button-edit', this.token.bind(this), 'bot/token'),
				page.act(state.enabled ? _('Switch off') : _('Switch on'), '', L.bind(this.set, this, 'enabled', !state.enabled), 'bot/switch')
			])
		]);
	},

	people: function(state) {
		const columns = [ { title: _('Name'), isName: true }, { title: _('May') }, { title: _('Since') }, { title: '' } ];
		const rows = (state.people || []).map(function(one) {
			const name = clean.plain(one.name) || _('Somebody');

			return [ name, role(one.role), page.time(one.paired_unix_s),
				page.buttons([ page.act(_('Forget'), 'cbi-button-negative', L.bind(this.forget, this, one.id, name), one.id + '/forget') ]) ];
		}, this);

		return page.section(_('Who may write'), [
			page.table(_('Who may write'), columns, rows, _('Nobody is paired yet.')),
			page.buttons([
				page.act(_('Pair your telephone'), 'cbi-button-add', L.bind(this.pair, this, 'owner'), 'people/owner'),
				page.act(_('Let a guest ask'), '', L.bind(this.pair, this, 'guest'), 'people/guest')
			])
		]);
	},

	approving: function(state) {
		return page.section(_('Approving there'), [
			E('p', [ _('Plans that wait can always be declined there. Approving is off until you switch it on; what is risky then needs a code of six digits from an authenticator, which nobody gets by taking over the bot.') ]),
			E('p', [ page.badge(state.approve ? _('on') : _('off'), state.approve ? 'warn' : ''), ' ',
				state.has_secret ? _('An authenticator is set up.') : _('No authenticator is set up.') ]),
			page.buttons([
				page.act(state.approve ? _('Switch off') : _('Switch on'), '', L.bind(this.set, this, 'approve', !state.approve), 'approve/switch'),
				page.act(_('Set up an authenticator'), '', this.secret.bind(this), 'approve/secret')
			])
		]);
	},

	noticeSection: function(state) {
		const rows = this.notices.slice(-NOTICES).reverse().map(function(one) {
			return E('li', [ page.time(one.when_unix_s), ' ', clean.plain(one.text) ]);
		});

		return page.section(_('What happened'), [
			rows.length ? E('ul', rows) : E('p', { 'class': 'oasis-nothing' }, [ _('Nothing has happened since the router started.') ]),
			E('p', [ state.notices ? _('Owners are notified of this in the messenger.') : _('Nobody is notified of this in the messenger.') ]),
			page.buttons([ page.act(state.notices ? _('Do not tell there') : _('Tell it there'), '', L.bind(this.set, this, 'notices', !state.notices), 'notices/switch') ])
		]);
	},

	set: function(name, value, ev) {
		return this.frame.run(L.bind(function() { return api.call('set_' + name, value).then(this.draw.bind(this)); }, this), ev);
	},

	token: function() {
		const input = E('input', { 'type': 'password', 'class': 'cbi-input-password', 'autocomplete': 'off', 'spellcheck': 'false', 'autofocus': '' });
		const save = L.bind(function(ev) {
			ev.preventDefault();
			return box.run(L.bind(function() {
				return api.call('set_key', 'telegram', input.value.trim()).then(this.reload);
			}, this));
		}, this);
		const box = dialog.open(_('The token of the bot'), [
			E('form', { 'submit': save, 'autocomplete': 'off' }, [ page.field(_('Token'), input) ]),
			E('p', { 'class': 'oasis-small' }, [ _('It is kept on the router and never shown again; empty, it is taken away.') ])
		], [ page.button(_('Save'), 'cbi-button-action important', save) ]);

		box.onClose = function() { input.value = ''; };
	},

	pair: function(who, ev) {
		return this.frame.run(L.bind(async function() {
			const reply = await api.call('pair', who);
			const box = dialog.open(who == 'owner' ? _('Pair your telephone') : _('Let a guest ask'), [
				E('p', [ _('Send this to %s within %d minutes; who sends it is %s there:').format(reply.bot ? '@' + clean.plain(reply.bot) : _('the bot'), Math.round(reply.expires_in_s / 60), role(who)) ]),
				E('p', { 'class': 'oasis-code' }, [ E('code', [ reply.code ]) ])
			]);

			box.onClose = this.reload;
		}, this), ev);
	},

	secret: function(ev) {
		return this.frame.run(L.bind(async function() {
			const reply = await api.call('new_secret');
			const input = E('input', { 'type': 'text', 'class': 'cbi-input-text', 'inputmode': 'numeric', 'autocomplete': 'off', 'maxlength': '8', 'autofocus': '' });
			const save = L.bind(function(ev) {
				ev.preventDefault();
				return box.run(L.bind(function() { return api.call('keep_code', input.value.replace(/\s/g, '')).then(this.reload); }, this));
			}, this);
			const box = dialog.open(_('Set up an authenticator'), [
				E('p', [ _('Enter this in an authenticator, as a link or by hand. It is shown once.') ]),
				E('p', { 'class': 'oasis-code' }, [ E('a', { 'href': reply.uri }, [ reply.secret ]) ]),
				E('form', { 'submit': save, 'autocomplete': 'off' }, [ page.field(_('Code that it shows now'), input) ])
			], [ page.button(_('Keep it'), 'cbi-button-action important', save) ]);
		}, this), ev);
	},

	forget: function(id, name) {
		return dialog.ask(_('Forget somebody'), _('%s gets no answer any more.').format(name), _('Forget'),
			L.bind(function() { return api.call('unpair', id).then(this.reload); }, this));
	},

	reload: function() {
		return api.call('messenger').then(this.draw.bind(this));
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
