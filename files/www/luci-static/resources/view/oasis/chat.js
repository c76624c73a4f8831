'use strict';
'require view';
'require ui';
'require oasis.rpc as api';
'require oasis.run as run';
'require oasis.chats as chats';
'require oasis.services as services';
'require oasis.composer as composer';
'require oasis.notices as notices';
'require oasis.transcript as transcript';
'require oasis.change as change';
'require oasis.alive as alive';

/*
 * The chat page: joins the list of chats, the conversation, the banner of an unconfirmed change and the field to write in
 * with the daemon's methods. What is shown how is each part's own matter.
 */

/* a title is made after the first answer */
const TITLE_MS = 6000;
/* coming back to the tab looks again, but not at every click between windows */
const LOOK_MS = 5000;
/* of the conversation, and what stays free below the field */
const LOG_MIN_PX = 240;
const MARGIN_PX = 20;

return view.extend({
	load: function() {
		return Promise.all([
			api.settled('info'), api.settled('chats'), api.settled('services'), api.settled('changes')
		]);
	},

	render: function(results) {
		const write = L.hasViewPermission() !== false;
		const act = write ? { approve: this.approve.bind(this), decline: this.decline, force: this.force.bind(this), undo: this.undo.bind(this) } : null;

		alive.arrive();
		this.write = write;
		this.chat = '';
		this.info = {};
		this.changes = [];
		this.opened = new Promise(L.bind(function(resolve) { this.isOpen = resolve; }, this));
		this.follower = null;
		this.look_ms = Date.now();

		this.list = chats.list({ open: this.open.bind(this), fresh: this.fresh.bind(this), remove: write ? this.remove.bind(this) : null });
		this.services = services.choice(write ? this.select.bind(this) : null);
		this.composer = composer.create({ send: this.send.bind(this), stop: this.stop.bind(this) });
		this.log = transcript.create(act, this.composer.welcome(write));
		this.banner = change.banner(!write, this.ended.bind(this));
		this.notices = notices.create(this.fit.bind(this));
		this.main = E('div', { 'class': 'oasis-main' }, [
			E('div', { 'class': 'oasis-bar-top' }, [ this.services.node ]),
			this.notices.node, this.log.node, this.banner.node,
			write ? this.composer.node : E('p', { 'class': 'oasis-note' }, [ _('This login may look, but not write.') ])
		]);
		this.node = E('div', { 'class': 'oasis' }, [
			E('link', { 'rel': 'stylesheet', 'href': L.resource('oasis/chat.css') }),
			this.list.node, this.main
		]);

		window.addEventListener('resize', this.fit.bind(this));
		this.list.node.addEventListener('toggle', this.fit.bind(this));
		document.addEventListener('visibilitychange', this.lookAgain.bind(this));
		/* sizes are known once the page shows this node and its style */
		this.node.firstChild.addEventListener('load', this.fit.bind(this));
		window.setTimeout(this.begin.bind(this, results), 0);

		return this.node;
	},

	begin: function(results) {
		const faults = results.filter(function(result) { return result.fault; });

		this.fit();
		this.info = results[0].value || {};
		this.list.set((results[1].value || {}).item || []);
		this.services.set((results[2].value || {}).service || []);
		this.changes = (results[3].value || {}).changes || [];
		this.showPending(this.info.pending);

		return this.openFirst().then(L.bind(function() {
			this.isOpen();
			if (faults.length)
				this.notices.fault(faults[0].fault, true);
		}, this));
	},

	openFirst: function() {
		const going = (this.info.runs || [])[0] || {}, waiting = (this.info.waiting || [])[0] || {};
		const wanted = [ run.remembered().chat, going.chat, waiting.chat, this.list.newest() ].filter(this.list.has);

		return wanted.length ? this.open(wanted[0]) : this.fresh();
	},

	/* --- chats --- */

	fresh: function() {
		this.leave();
		this.show('', [], []);
		this.showWaiting();
		this.composer.focus();
		this.opened = Promise.resolve();
		return this.opened;
	},

	open: function(id) {
		this.leave();
		this.chat = id;

		this.opened = api.call('chat', id).then(L.bind(function(reply) {
			const own = this.changes.filter(function(item) { return item.chat == id; });
			const going = [].concat(this.info.runs || [], run.remembered(), this.info.waiting || [])
				.filter(function(item) { return item.run && item.chat == id; })[0];

			if (this.chat != id)
				return;
			this.show(id, reply.messages || [], own);
			if (going)
				this.follow(going.run);
			else
				this.showWaiting();
		}, this)).catch(L.bind(function(fault) {
			if (this.chat != id)
				return;
			this.show(id, [], []);
			this.trouble(fault);
		}, this));
		return this.opened;
	},

	show: function(id, messages, changes) {
		this.chat = id;
		this.notices.clear(this.info.unconfined);
		this.list.mark(id);
		this.log.show(messages, changes);
		this.fit();
	},

	remove: function(id) {
		return api.call('remove_chat', id).then(L.bind(function() {
			this.list.drop(id);
			if (this.chat == id)
				this.fresh();
		}, this)).catch(this.trouble.bind(this));
	},

	refreshChats: function() {
		return api.call('chats').then(L.bind(function(reply) {
			this.list.set(reply.item || []);
			this.list.mark(this.chat);
		}, this)).catch(function() { /* the old list stays; the next answer asks again */ });
	},

	select: function(identifier) {
		return api.call('select_service', identifier).catch(L.bind(function(fault) {
			this.trouble(fault);
			throw fault;
		}, this));
	},

	/* --- runs --- */

	/* What is sent belongs to the chat that is being opened, so it waits for that. */
	send: function(text) {
		let bubble = null;

		this.composer.busy(_('Sending\u2026'));

		return this.opened.then(L.bind(function() {
			bubble = this.log.user(text);
			this.notices.clear();
			this.composer.busy(_('Sending\u2026'));
			return api.call('start', text, this.chat);
		}, this)).then(L.bind(function(reply) {
			this.begun(reply);
			return true;
		}, this)).catch(L.bind(function(fault) {
			bubble.remove();
			this.composer.idle('');
			this.trouble(fault);
			return false;
		}, this));
	},

	/* A run was started from here. */
	begun: function(reply) {
		const isNew = reply.chat && this.chat != reply.chat;

		/* an undo may belong to no chat: then it is shown in this one */
		this.chat = reply.chat || this.chat;
		run.remember({ run: reply.run, chat: this.chat });
		if (isNew)
			this.refreshChats();
		this.follow(reply.run, true);
	},

	/* Follow a run; one begun here has nothing on the page yet. */
	follow: function(id, isOwn) {
		const self = this;

		this.runId = id;
		this.composer.busy(_('Working\u2026'));
		this.follower = run.follow(id, this.node, {
			events: function(events, reply, isFirst) {
				const isReplay = isFirst && !isOwn;

				if (isReplay)
					self.log.rewind(events);
				self.log.apply(events);
				events.forEach(function(event) { self.noticed(event, isReplay); });
				self.composer.busy(reply.state == 'waiting' ? _('Waiting for your decision') : _('Working\u2026'), reply.state != 'waiting');
				if (isReplay)
					self.refreshInfo();
			},
			trouble: function(fault, pause_s) {
				self.composer.busy('%s %s'.format(fault.message, _('Trying again in %d s\u2026').format(pause_s)), false);
			},
			end: function(state) {
				run.forget();
				self.over(state == 'cancelled' ? _('Stopped') : '');
				self.refreshChanges();
				window.setTimeout(self.refreshChats.bind(self), TITLE_MS);
				self.refreshChats();
			},
			lost: function(fault) {
				/* the end of a run is kept for minutes only; what it said is in the chat */
				self.over('');
				if (fault.code != 'session')
					run.forget();
				if (fault.code == 'session' || isOwn)
					self.trouble(fault);
				else
					self.refreshInfo();
			}
		});
	},

	over: function(words) {
		this.follower = null;
		this.runId = null;
		this.composer.idle(words);
	},

	/* Stop looking; the run goes on in the daemon. */
	leave: function() {
		if (this.follower)
			this.follower.stop();
		this.follower = null;
		this.runId = null;
		this.composer.idle('');
	},

	stop: function() {
		if (!this.runId)
			return Promise.resolve();

		this.composer.busy(_('Stopping\u2026'));
		return api.call('cancel', this.runId).catch(this.trouble.bind(this));
	},

	noticed: function(event, isReplay) {
		if (event.type != 'change')
			return;
		alive.remember(event.change);

		this.changes = [ event.change ].concat(this.changes.filter(function(item) { return item.id != event.change.id; }));
		/* an old event's clock is wrong by now: then the daemon is asked */
		if (!isReplay)
			this.showPending(event.change);
	},

	/* --- plans and changes --- */

	/* The run of a plan that was made elsewhere is not followed yet. */
	approve: function(plan, word) {
		return api.call('approve', plan.id, plan.hash, word).then(L.bind(function(reply) {
			if (!this.runId && plan.run)
				this.follow(plan.run);
			return reply;
		}, this));
	},

	decline: function(plan) { return api.call('decline', plan.id); },

	/* The run of a forced plan is followed like the one that was refused, so that has to be over. */
	force: function(refusal) {
		if (this.runId)
			return Promise.reject(api.fault('busy', _('Oasis is still answering.'), _('Wait for the end or stop it, then press again.')));

		return api.call('force', refusal.refused, refusal.force).then(L.bind(function(reply) {
			this.log.note(_('Proposed all the same: %s').format(refusal.summary));
			this.begun(reply);
		}, this));
	},

	undo: function(item) {
		return api.call('undo', item.id).then(L.bind(function(reply) {
			if (reply.chat && reply.chat != this.chat) {
				run.remember(reply);
				return this.open(reply.chat);
			}

			this.leave();
			this.log.note(_('Undo: %s').format(item.summary));
			this.begun(reply);
		}, this));
	},

	showPending: function(item) {
		if (item && item.state == 'applied' && item.confirm_in_s != null)
			this.banner.show(item);
		else
			this.banner.hide();
		this.fit();
	},

	/* A change that waited was kept or put back. */
	ended: function(item) {
		this.changes = [ item ].concat(this.changes.filter(function(other) { return other.id != item.id; }));
		if (item.chat == this.chat || this.log.has(item.id))
			this.log.change(item);
		this.composer.say(change.stateWords(item));
		this.fit();
		this.composer.focus();
	},

	/* What an undo did to an earlier change stands in the list only. */
	refreshChanges: function() {
		const known = {};

		this.changes.forEach(function(item) { known[item.id] = JSON.stringify([ item.state, item.undone_by ]); });
		if (!this.changes.length)
			return Promise.resolve();

		return api.call('changes').then(L.bind(function(reply) {
			this.changes = reply.changes || [];
			this.changes.forEach(function(item) {
				if (this.log.has(item.id) && known[item.id] != JSON.stringify([ item.state, item.undone_by ]))
					this.log.change(item);
			}, this);
		}, this)).catch(function() { /* the cards stay as they are; the next end of a run asks again */ });
	},

	/* Plans that wait: those of this chat as cards, of others as a hint. */
	showWaiting: function() {
		(this.info.waiting || []).forEach(function(plan) {
			if (plan.chat == this.chat || !this.list.has(plan.chat))
				this.log.plan(plan);
			else
				this.notices.plan(plan, this.open.bind(this, plan.chat));
		}, this);
	},

	refreshInfo: function() {
		return api.call('info').then(L.bind(function(reply) {
			this.info = reply;
			this.notices.clear(reply.unconfined || '');
			this.showWaiting();
			if (!reply.pending || !this.banner.isShown())
				this.showPending(reply.pending);
		}, this)).catch(this.trouble.bind(this));
	},

	/* --- the page --- */

	lookAgain: function() {
		if (document.hidden || !document.contains(this.node) || Date.now() - this.look_ms < LOOK_MS || this.follower)
			return;

		this.look_ms = Date.now();
		this.refreshInfo();
	},

	trouble: function(fault) { this.notices.fault(fault); },

	/* The conversation takes the height that the window leaves. */
	fit: function() {
		const box = this.log.node;

		if (!document.contains(box))
			return;

		const below = this.main.getBoundingClientRect().bottom - box.getBoundingClientRect().bottom;
		const above = box.getBoundingClientRect().top + window.scrollY;

		const isAtEnd = this.log.isAtEnd();

		box.style.height = Math.max(LOG_MIN_PX, window.innerHeight - above - below - MARGIN_PX) + 'px';
		if (isAtEnd)
			this.log.toEnd();
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
