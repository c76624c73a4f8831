'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.run as run';
'require oasis.alive as alive';
'require oasis.change as change';
'require oasis.words as words';

/*
 * Plans and changes of the page: what is decided about them, the banner of the one that waits to be kept, and what is known
 * of each. It asks the page for its parts and for runs; it knows nothing of branches.
 */

const Desk = baseclass.extend({
	/* page: { log, list, notices, composer, talk, info, chat, open(), fit() } */
	__init__: function(page, isWriter) {
		this.page = page;
		this.changes = [];
		this.banner = change.banner(!isWriter, this.ended.bind(this));
	},

	of: function(chat) {
		return this.changes.filter(function(item) { return item.chat == chat; });
	},

	put: function(item) {
		this.changes = [ item ].concat(this.changes.filter(function(other) { return other.id != item.id; }));
	},

	noticed: function(event, isReplay) {
		if (event.type == 'applying' && !isReplay)
			this.applying(event.applying);
		if (event.type == 'end')
			this.banner.failed();
		if (event.type != 'change')
			return;
		alive.remember(event.change);
		this.put(event.change);
		/* an old event's clock is wrong by now: then the daemon is asked */
		if (!isReplay)
			this.showPending(event.change);
	},

	/* The run of a plan that was made elsewhere is not followed yet; where the open chat has one of its own, both are. */
	approve: function(plan, word) {
		return api.call('approve', plan.id, plan.hash, word).then(L.bind(function(reply) {
			this.applying(reply.applying, plan.summary);
			if (!this.page.talk.runId && plan.run)
				this.page.talk.follow(plan.run);
			else if (plan.run && plan.run != this.page.talk.runId)
				this.beside(plan.run);
			return reply;
		}, this));
	},

	/* Follow a run for what becomes of its change alone: the conversation on the page is another one's. */
	beside: function(id) {
		const page = this.page;

		run.follow(id, page.node, {
			events: L.bind(function(events, reply, isFirst) {
				const told = events.filter(function(event) { return [ 'applying', 'change', 'error', 'end' ].indexOf(event.type) != -1; });

				page.log.apply(told.filter(function(event) { return event.type == 'change' || event.type == 'error'; }));
				told.forEach(function(event) { this.noticed(event, isFirst); }, this);
				if (isFirst && told.length)
					page.refreshInfo();
			}, this),
			trouble: function() { /* the run of the open chat tells it */ },
			end: this.refresh.bind(this),
			lost: page.refreshInfo.bind(page)
		});
	},

	/* What a change needs to be proved and found again is known before it is made. */
	applying: function(told, summary) {
		if (!told)
			return;
		alive.remember({ id: told.change, nonce: told.nonce });
		this.banner.applying(told, summary);
		this.page.fit();
	},

	decline: function(plan) { return api.call('decline', plan.id); },

	/* The run of a forced plan is followed like the one that was refused, so that has to be over. */
	force: function(refusal) {
		if (this.page.talk.runId)
			return Promise.reject(api.fault('busy', _('Oasis is still answering.'), _('Wait for the end or stop it, then press again.')));

		return api.call('force', refusal.refused, refusal.force).then(L.bind(function(reply) {
			this.page.log.note(_('Proposed all the same: %s').format(words.plain(refusal.summary)));
			this.page.talk.begun(reply);
		}, this));
	},

	undo: function(item) {
		return api.call('undo', item.id).then(L.bind(function(reply) {
			if (reply.chat && reply.chat != this.page.chat) {
				run.remember(reply);
				return this.page.open(reply.chat);
			}

			this.page.talk.leave();
			this.page.log.note(_('Undo: %s').format(words.plain(item.summary)));
			this.page.talk.begun(reply);
		}, this));
	},

	showPending: function(item) {
		this.banner.pending(item);
		this.page.fit();
	},

	/* A change that waited was kept or put back. */
	ended: function(item) {
		this.put(item);
		if (item.chat == this.page.chat || this.page.log.has(item.id))
			this.page.log.change(item);
		this.page.composer.say(change.stateWords(item));
		this.page.fit();
		this.page.composer.focus();
	},

	/* What an undo did to an earlier change stands in the list only. */
	refresh: function() {
		const known = {};

		this.changes.forEach(function(item) { known[item.id] = JSON.stringify([ item.state, item.undone_by ]); });
		if (!this.changes.length)
			return Promise.resolve();

		return api.call('changes').then(L.bind(function(reply) {
			this.changes = reply.changes || [];
			this.changes.forEach(function(item) {
				if (this.page.log.has(item.id) && known[item.id] != JSON.stringify([ item.state, item.undone_by ]))
					this.page.log.change(item);
			}, this);
		}, this)).catch(function() { /* the cards stay as they are; the next end of a run asks again */ });
	},

	/* Plans that wait: those of this chat as cards, of others as a hint. */
	showWaiting: function() {
		const page = this.page;

		(page.info.waiting || []).forEach(function(plan) {
			if (plan.chat == page.chat || !page.list.get(plan.chat))
				page.log.plan(plan);
			else
				page.notices.plan(plan, page.open.bind(page, plan.chat));
		});
	}
});

return baseclass.extend({
	create: function(page, isWriter) {
		return new Desk(page, isWriter);
	}
});
