'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.run as run';
'require oasis.clean as clean';

/*
 * What the chat page does: opens threads, sends messages, follows the run that answers, and carries out what the owner decides. It asks
 * the daemon, keeps the state and emits what changed; it knows no node but the page's, whose presence keeps runs followed.
 *
 * The state that it keeps: info (reply of the daemon's method), chats (newest first), chat (its id, "" for a new one), services, changes;
 * of the thread that is shown: messages (ids), earlier (how many stand before them), end (its last message), head (what it was asked for
 * with, "" for the one that goes on by itself), latest (the last message stored); run (the one that is followed, or null); opened (a
 * promise: the chat is there). Others set target, options, topic, files, draft and answerer.
 *
 * Emits info(reply), chats(), chat(), services(), thread(reply, changes), earlier(reply), empty(), events(list, isReplay, isOther),
 * sending(text, files), unsent(), taken(files), change(change), refreshed(change), plan(plan), planElsewhere(plan), note(text),
 * fault(fault, isWhole), cleared(), busy(text, isMoving), idle(text), say(text), focus() and resized().
 */

/* a title is made after the first answer */
const TITLE_MS = 6000;
/* of a long thread: what fills some screens and loads at once */
const PAGE_MESSAGES = 60;
/* what another run's events mean for this page: the change that comes of it */
const OF_OTHERS = [ 'applying', 'change', 'error', 'end' ];

function ids(reply) {
	return (reply.messages || []).map(function(message) { return message.id; });
}

const Conversation = baseclass.extend({
	__init__: function(state, node) {
		this.state = state;
		this.node = node;
		this.follower = null;
		state.opened = new Promise(L.bind(function(resolve) { this.isOpen = resolve; }, this));
		state.on({
			open: this.open, fresh: this.fresh, loadEarlier: this.loadEarlier, rename: this.rename, archive: this.archive, remove: this.remove,
			refreshChats: this.refreshChats, refreshInfo: this.refreshInfo, prefer: this.prefer, send: this.send, stop: this.stop,
			approved: this.approved, force: this.force, undo: this.undo, ended: this.ended
		}, this);
	},

	/* Fill the page. replies: { value } or { fault } each of info, chats, services, changes. */
	begin: function(replies) {
		const state = this.state, values = replies.map(function(reply) { return reply.value || {}; });
		const faults = replies.filter(function(reply) { return reply.fault; });

		state.info = values[0];
		this.setChats(values[1].item || []);
		state.services = values[2].service || [];
		state.changes = values[3].changes || [];
		state.emit('services');
		state.emit('info', state.info);

		return this.openFirst().then(L.bind(function() {
			this.isOpen();
			if (faults.length)
				state.emit('fault', faults[0].fault, true);
		}, this));
	},

	openFirst: function() {
		const info = this.state.info, under = (info.runs || [])[0] || {}, waiting = (info.waiting || [])[0] || {};
		const newest = this.state.chats.find(function(item) { return !item.archived; }) || {};
		const wanted = [ run.remembered().chat, under.chat, waiting.chat, newest.id ].filter(this.find, this);

		return wanted.length ? this.open(wanted[0]) : this.fresh();
	},

	/* --- chats --- */

	find: function(id) {
		return this.state.chats.find(function(item) { return item.id == id; });
	},

	setChats: function(list) {
		this.state.chats = list.slice().sort(function(a, b) { return (b.updated_unix_s || 0) - (a.updated_unix_s || 0); });
		this.state.emit('chats');
	},

	fresh: function() {
		this.leave();
		this.show('', {}, {});
		if (this.state.isWriter)
			this.state.emit('empty');
		this.showWaiting();
		this.state.emit('focus');
		this.state.opened = Promise.resolve();
		return this.state.opened;
	},

	/*
	 * Show a chat. where: { head: end of the thread to show, else the newest; at: message to bring into sight, isFocused: with the
	 * keyboard; run: a run begun just now }, all of which may be absent.
	 */
	open: function(id, where) {
		const state = this.state;

		where = where || {};
		this.leave();
		state.chat = id;

		state.opened = this.read(id, where).then(L.bind(function(reply) {
			const known = [].concat(where.run ? { run: where.run, chat: id } : [], state.info.runs || [], run.remembered(), state.info.waiting || [])
				.filter(function(item) { return item.run && item.chat == id; })[0];

			if (state.chat != id || !reply)
				return;
			this.show(id, reply, where);
			if (known)
				this.follow(known.run);
			else
				this.showWaiting();
		}, this)).catch(L.bind(function(fault) {
			if (state.chat != id)
				return;
			this.show(id, {}, {});
			state.emit('fault', fault);
		}, this));
		return state.opened;
	},

	/* A message that is looked for may stand in another thread than the newest: then the one that ends with it is shown. */
	read: async function(id, where) {
		const reply = await api.call('chat', id, where.head, undefined, PAGE_MESSAGES);

		if (where.head || !where.at || ids(reply).indexOf(where.at) != -1)
			return reply;
		where.head = where.at;
		return api.call('chat', id, where.at, undefined, PAGE_MESSAGES);
	},

	show: function(id, reply, where) {
		const state = this.state;

		Object.assign(state, {
			chat: id, messages: ids(reply), earlier: reply.earlier || 0, end: reply.head || '', latest: reply.head || '', head: where.head || ''
		});
		state.emit('cleared');
		state.emit('thread', reply, id ? state.changes.filter(function(item) { return item.chat == id; }) : []);
		state.emit('chat');
		state.emit('resized');
		if (where.at && !state.emit('reveal', where.at, where.isFocused) && state.earlier)
			this.seek(where.at);
	},

	/* Put older messages of the thread in front of those shown. */
	loadEarlier: async function(button) {
		const state = this.state, id = state.chat, end = state.end;

		if (button)
			button.disabled = true;
		try {
			const reply = await api.call('chat', id, end, state.messages[0] || '', PAGE_MESSAGES);

			if (state.chat != id || state.end != end)
				return false;
			state.earlier = reply.earlier = ids(reply).length ? reply.earlier : 0;
			state.messages = ids(reply).concat(state.messages);
			state.emit('earlier', reply);
			return true;
		}
		catch (fault) {
			if (button)
				button.disabled = false;
			state.emit('fault', fault);
			return false;
		}
	},

	/* Bring a message of this thread into sight that is further up. */
	seek: async function(at) {
		while (this.state.earlier && await this.loadEarlier()) {
			if (this.state.emit('reveal', at))
				return;
		}
	},

	remove: function(id) {
		return api.call('remove_chat', id).then(L.bind(function() {
			this.setChats(this.state.chats.filter(function(item) { return item.id != id; }));
			if (this.state.chat == id)
				this.fresh();
		}, this));
	},

	rename: function(id, title) {
		return api.call('rename_chat', id, title).then(this.refreshChats.bind(this));
	},

	archive: function(id, isArchived) {
		return api.call('archive_chat', id, isArchived).then(this.refreshChats.bind(this)).catch(this.fault.bind(this));
	},

	refreshChats: function() {
		return api.call('chats').then(L.bind(function(reply) { this.setChats(reply.item || []); }, this))
			.catch(function() { /* the old list stays; the next answer asks again */ });
	},

	prefer: function(identifier) {
		return api.call('select_service', identifier).catch(L.bind(function(fault) {
			this.fault(fault);
			throw fault;
		}, this));
	},

	fault: function(fault) { this.state.emit('fault', fault); },

	refreshInfo: function() {
		return api.call('info').then(L.bind(function(reply) {
			this.state.info = reply;
			this.state.emit('cleared');
			this.state.emit('info', reply);
			this.showWaiting();
		}, this)).catch(this.fault.bind(this));
	},

	/* --- messages and the run that answers --- */

	/* Where the next message goes on: ids, undefined where the daemon knows it by itself. */
	parents: function() {
		const state = this.state;

		return state.target ? state.target.parents : state.head ? [ state.latest ] : undefined;
	},

	/* What is sent belongs to the chat that is being opened, so it waits for that. */
	send: function(text) {
		const state = this.state;
		let isShown = false;

		state.emit('busy', _('Sending\u2026'));

		return state.opened.then(L.bind(async function() {
			const files = state.files, target = state.target;

			isShown = !target || !!target.isHere;
			if (isShown)
				state.emit('sending', text, files);
			state.emit('cleared');
			state.emit('busy', _('Sending\u2026'));

			const reply = await api.call('start', text, state.chat, this.parents(), state.options, state.chat ? undefined : state.topic,
				files.length ? files.map(function(file) { return file.id; }) : undefined, target && target.bookmark || undefined);

			state.emit('taken', files);
			if (isShown)
				this.begun(reply);
			else
				this.branched(reply);
			return true;
		}, this)).catch(L.bind(function(fault) {
			if (isShown)
				state.emit('unsent');
			state.emit('idle', '');
			this.fault(fault);
			return false;
		}, this));
	},

	/* The message went to another place than the end of what is shown: its thread is shown, and its run in it. */
	branched: function(reply) {
		run.remember(reply);
		return this.open(reply.chat, { head: reply.message, run: reply.run });
	},

	/* A run was started from here. An undo may belong to no chat: then it is shown in this one. */
	begun: function(reply) {
		const isNew = reply.chat && this.state.chat != reply.chat;

		this.state.chat = reply.chat || this.state.chat;
		run.remember({ run: reply.run, chat: this.state.chat });
		if (isNew)
			this.refreshChats();
		this.follow(reply.run, true);
	},

	/* Follow a run; one begun here has nothing on the page yet. */
	follow: function(id, isOwn) {
		const state = this.state;

		state.run = id;
		state.emit('busy', _('Working\u2026'));
		this.follower = run.follow(id, this.node, {
			events: L.bind(function(events, reply, isFirst) {
				const isReplay = isFirst && !isOwn;

				if (isReplay && this.isElsewhere(events))
					return this.away();
				state.emit('events', events, isReplay);
				this.noticed(events);
				state.emit('busy', reply.state == 'waiting' ? _('Waiting for your decision') : _('Working\u2026'), reply.state != 'waiting');
				if (isReplay)
					this.refreshInfo();
			}, this),
			trouble: function(fault, pause_s) {
				state.emit('busy', '%s %s'.format(fault.message, _('Trying again in %d s\u2026').format(pause_s)), false);
			},
			end: L.bind(function(result) {
				run.forget();
				this.forgetRun(id);
				this.over(result == 'cancelled' ? _('Stopped') : '');
				this.refreshChanges();
				window.setTimeout(this.refreshChats.bind(this), TITLE_MS);
				this.refreshChats();
			}, this),
			lost: L.bind(function(fault) {
				/* the end of a run is kept for minutes only; its answer is in the chat */
				this.forgetRun(id);
				this.over('');
				if (fault.code != 'session')
					run.forget();
				if (fault.code == 'session' || isOwn)
					this.fault(fault);
				else
					this.refreshInfo();
			}, this)
		});
	},

	/* Keep what events tell of messages, titles and changes. */
	noticed: function(events) {
		const state = this.state;

		events.forEach(function(event) {
			if (event.type == 'message') {
				state.latest = event.id;
				if (state.messages.indexOf(event.id) == -1)
					state.messages.push(event.id);
			}
			else if (event.type == 'title') {
				state.chats.forEach(function(item) { item.title = item.id == event.chat ? event.title : item.title; });
				state.emit('chats');
			}
			else if (event.type == 'change')
				this.keepChange(event.change);
		}, this);
	},

	/* Tell whether a run answers a message that is not in the thread shown. */
	isElsewhere: function(events) {
		const asked = events.find(function(event) { return event.type == 'message' && event.role == 'user'; });

		return asked && this.state.messages.indexOf(asked.id) == -1;
	},

	away: function() {
		this.follower.stop();
		this.over(_('Oasis is answering in another branch of this chat.'));
	},

	/* The daemon's list of runs, asked for when the page was filled, is older than the end of this one. */
	forgetRun: function(id) {
		this.state.info.runs = (this.state.info.runs || []).filter(function(item) { return item.run != id; });
	},

	over: function(text) {
		this.follower = this.state.run = null;
		this.state.emit('idle', text);
	},

	/* Stop following; the run goes on in the daemon. */
	leave: function() {
		if (this.follower)
			this.follower.stop();
		this.over('');
	},

	stop: function() {
		if (!this.state.run)
			return Promise.resolve();

		this.state.emit('busy', _('Stopping\u2026'));
		return api.call('cancel', this.state.run).catch(this.fault.bind(this));
	},

	/* --- plans and changes --- */

	keepChange: function(item) {
		this.state.changes = [ item ].concat(this.state.changes.filter(function(other) { return other.id != item.id; }));
	},

	/* The run of a plan that was made elsewhere is not followed yet; where the open chat has one of its own, both are. */
	approved: function(plan) {
		if (!this.state.run && plan.run)
			this.follow(plan.run);
		else if (plan.run && plan.run != this.state.run)
			this.followOther(plan.run);
	},

	/* Follow a run for its change alone: the conversation on the page is that of another run. */
	followOther: function(id) {
		run.follow(id, this.node, {
			events: L.bind(function(events, reply, isFirst) {
				const wanted = events.filter(function(event) { return OF_OTHERS.indexOf(event.type) != -1; });

				this.state.emit('events', wanted, isFirst, true);
				this.noticed(wanted);
				if (isFirst && wanted.length)
					this.refreshInfo();
			}, this),
			trouble: function() { /* the run of the open chat shows it */ },
			end: this.refreshChanges.bind(this),
			lost: this.refreshInfo.bind(this)
		});
	},

	/* The run of a forced plan is followed like the one that was refused, so that has to be over. */
	force: function(refusal) {
		if (this.state.run)
			return Promise.reject(api.fault('busy', _('Oasis is still answering.'), _('Wait for the end or stop it, then press again.')));

		return api.call('force', refusal.refused, refusal.force).then(L.bind(function(reply) {
			this.state.emit('note', _('Proposed all the same: %s').format(clean.plain(refusal.summary)));
			this.begun(reply);
		}, this));
	},

	undo: function(item) {
		return api.call('undo', item.id).then(L.bind(function(reply) {
			if (reply.chat && reply.chat != this.state.chat) {
				run.remember(reply);
				return this.open(reply.chat);
			}

			this.leave();
			this.state.emit('note', _('Undo: %s').format(clean.plain(item.summary)));
			this.begun(reply);
		}, this));
	},

	/* A change that waited was kept or rolled back. */
	ended: function(item, text) {
		this.keepChange(item);
		this.state.emit('change', item);
		this.state.emit('say', text);
		this.state.emit('focus');
	},

	/* What an undo did to an earlier change stands in the daemon's list only. */
	refreshChanges: function() {
		const known = {}, mark = function(item) { return JSON.stringify([ item.state, item.undone_by ]); };

		this.state.changes.forEach(function(item) { known[item.id] = mark(item); });
		if (!this.state.changes.length)
			return Promise.resolve();

		return api.call('changes').then(L.bind(function(reply) {
			this.state.changes = reply.changes || [];
			this.state.changes.forEach(function(item) {
				if (known[item.id] != mark(item))
					this.state.emit('refreshed', item);
			}, this);
		}, this)).catch(function() { /* the cards stay as they are; the next end of a run asks again */ });
	},

	/* Plans that wait: those of this chat as cards, of others as a notice. */
	showWaiting: function() {
		(this.state.info.waiting || []).forEach(function(plan) {
			this.state.emit(plan.chat == this.state.chat || !this.find(plan.chat) ? 'plan' : 'planElsewhere', plan);
		}, this);
	}
});

return baseclass.extend({
	/* node: of the page. Gives { begin(replies) }. */
	create: function(state, node) {
		return new Conversation(state, node);
	}
});
