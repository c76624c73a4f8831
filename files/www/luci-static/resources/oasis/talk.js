'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.run as run';

/*
 * Sends messages and follows the run that answers, until it is over, stopped, or another chat is looked at. It asks the page
 * for its parts; where a message goes on is branches.js' to say.
 */

/* a title is made after the first answer */
const TITLE_MS = 6000;

const Talk = baseclass.extend({
	__init__: function(page) {
		this.page = page;
		this.follower = null;
		this.runId = null;
	},

	/* What is sent belongs to the chat that is being opened, so it waits for that. */
	send: function(text) {
		let bubble = null, files = [];

		this.page.composer.busy(_('Sending\u2026'));

		return this.page.opened.then(L.bind(function() {
			files = this.page.files.ready();
			if (!this.page.branches.isElsewhere())
				bubble = this.page.log.user(text, files);
			this.page.notices.clear();
			this.page.composer.busy(_('Sending\u2026'));
			return api.call('start', text, this.page.chat, this.page.branches.given(), this.page.services.given(),
				this.page.chat ? undefined : this.page.topics.given(), files.length ? files.map(function(file) { return file.id; }) : undefined,
				this.page.branches.carried());
		}, this)).then(L.bind(function(reply) {
			this.page.files.sent(files);
			this.page.services.taken();
			this.page.branches.taken();
			this.page.log.answeredBy(this.page.services.source());
			if (bubble)
				this.begun(reply);
			else
				this.branched(reply);
			return true;
		}, this)).catch(L.bind(function(fault) {
			if (bubble)
				bubble.remove();
			this.page.composer.idle('');
			this.page.trouble(fault);
			return false;
		}, this));
	},

	/* The message went to another place than the end of what is shown: its thread is shown, and its run in it. */
	branched: function(reply) {
		run.remember(reply);
		return this.page.open(reply.chat, { head: reply.message, run: reply.run });
	},

	/* A run was started from here. */
	begun: function(reply) {
		const isNew = reply.chat && this.page.chat != reply.chat;

		/* an undo may belong to no chat: then it is shown in this one */
		this.page.chat = reply.chat || this.page.chat;
		run.remember({ run: reply.run, chat: this.page.chat });
		if (isNew)
			this.page.refreshChats();
		this.follow(reply.run, true);
	},

	/* Follow a run; one begun here has nothing on the page yet. */
	follow: function(id, isOwn) {
		const self = this;

		this.runId = id;
		this.page.composer.busy(_('Working\u2026'));
		this.follower = run.follow(id, this.page.node, {
			events: function(events, reply, isFirst) {
				const isReplay = isFirst && !isOwn;

				if (isReplay && self.isElsewhere(events))
					return self.away();
				if (isReplay)
					self.page.log.rewind(events);
				self.page.log.apply(events);
				events.forEach(function(event) { self.page.noticed(event, isReplay); });
				self.page.composer.busy(reply.state == 'waiting' ? _('Waiting for your decision') : _('Working\u2026'), reply.state != 'waiting');
				if (isReplay)
					self.page.refreshInfo();
			},
			trouble: function(fault, pause_s) {
				self.page.composer.busy('%s %s'.format(fault.message, _('Trying again in %d s\u2026').format(pause_s)), false);
			},
			end: function(state) {
				run.forget();
				self.ended(id);
				self.over(state == 'cancelled' ? _('Stopped') : '');
				self.page.desk.refresh();
				window.setTimeout(self.page.refreshChats.bind(self.page), TITLE_MS);
				self.page.refreshChats();
			},
			lost: function(fault) {
				/* the end of a run is kept for minutes only; what it said is in the chat */
				self.ended(id);
				self.over('');
				if (fault.code != 'session')
					run.forget();
				if (fault.code == 'session' || isOwn)
					self.page.trouble(fault);
				else
					self.page.refreshInfo();
			}
		});
	},

	/* A run answers a message that is not in the thread shown. */
	isElsewhere: function(events) {
		const asked = events.find(function(event) { return event.type == 'message' && event.role == 'user'; });

		return asked && !this.page.log.holds(asked.id);
	},

	away: function() {
		this.follower.stop();
		this.over(_('Oasis is answering in another branch of this chat.'));
	},

	/* What was asked about runs when the page was filled is not so any more. */
	ended: function(id) {
		this.page.info.runs = (this.page.info.runs || []).filter(function(item) { return item.run != id; });
	},

	over: function(words) {
		this.follower = null;
		this.runId = null;
		this.page.composer.idle(words);
	},

	/* Stop looking; the run goes on in the daemon. */
	leave: function() {
		if (this.follower)
			this.follower.stop();
		this.follower = null;
		this.runId = null;
		this.page.composer.idle('');
	},

	stop: function() {
		if (!this.runId)
			return Promise.resolve();

		this.page.composer.busy(_('Stopping\u2026'));
		return api.call('cancel', this.runId).catch(this.page.trouble.bind(this.page));
	}
});

return baseclass.extend({
	/*
	 * page: its parts and { chat, node, opened, open(chat, where), trouble(fault), noticed(event, isReplay), refreshChats(), refreshInfo() }.
	 * Gives { runId, send(text), stop(), begun(reply), follow(run), leave() }.
	 */
	create: function(page) {
		return new Talk(page);
	}
});
