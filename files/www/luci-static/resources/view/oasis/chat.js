'use strict';
'require view';
'require oasis.rpc as api';
'require oasis.run as run';
'require oasis.chats as chats';
'require oasis.services as services';
'require oasis.composer as composer';
'require oasis.attachments as attachments';
'require oasis.secret as secret';
'require oasis.sent as sent';
'require oasis.topics as topics';
'require oasis.notices as notices';
'require oasis.transcript as transcript';
'require oasis.branches as branches';
'require oasis.desk as desk';
'require oasis.talk as talk';
'require oasis.exchange as exchange';
'require oasis.controls as controls';
'require oasis.page as page';
'require oasis.alive as alive';
'require oasis.happened as happened';
'require oasis.words as words';

/*
 * The chat page: joins the list of chats, the conversation, the banner of an unconfirmed change and the field to write in
 * with the daemon's methods. What is shown how is each part's own matter; talk.js, branches.js and desk.js do what is done with
 * runs, messages, and plans and changes.
 */

/* coming back to the tab looks again, but not at every click between windows */
const LOOK_MS = 5000;
/* of the conversation, and what stays free below the field */
const LOG_MIN_PX = 240;
const MARGIN_PX = 20;
/* of a long thread: what fills some screens and loads at once */
const PAGE_MESSAGES = 60;

return view.extend({
	load: function() {
		return page.styled(Promise.all([
			api.settled('info'), api.settled('chats'), api.settled('services'), api.settled('changes')
		]), [ 'chat' ]);
	},

	render: function(results) {
		const write = L.hasViewPermission() !== false;

		alive.arrive();
		this.write = write;
		this.chat = '';
		this.info = {};
		this.opened = new Promise(L.bind(function(resolve) { this.isOpen = resolve; }, this));
		this.look_ms = Date.now();

		this.talk = talk.create(this);
		this.list = chats.list(this.listHands());
		this.services = services.choice(write ? this.prefer.bind(this) : null);
		this.topics = topics.choice();
		this.composer = composer.create({
			send: this.talk.send.bind(this.talk), stop: this.talk.stop.bind(this.talk), obstacle: L.bind(function() { return this.files.obstacle(); }, this)
		});
		this.branches = branches.create(this, write);
		this.desk = desk.create(this, write);
		this.log = transcript.create(this.logHands(), this.welcome(), write, this.services.source.bind(this.services));
		this.notices = notices.create(this.fit.bind(this));
		this.node = this.frame();

		window.addEventListener('resize', this.fit.bind(this));
		this.list.node.addEventListener('toggle', this.fit.bind(this));
		document.addEventListener('visibilitychange', this.lookAgain.bind(this));
		/* sizes are known once the page shows this node */
		window.setTimeout(this.begin.bind(this, results), 0);

		return this.node;
	},

	listHands: function() {
		const hands = { open: L.bind(function(id, at) { return this.open(id, { at: at }); }, this), fresh: this.fresh.bind(this) };

		return this.write ? Object.assign(hands, {
			rename: this.rename.bind(this), archive: this.archive.bind(this), remove: this.remove.bind(this),
			take: L.bind(function() { exchange.take(this.info.upstream, { open: this.open.bind(this), changed: this.refreshChats.bind(this) }); }, this)
		}) : hands;
	},

	logHands: function() {
		const hands = { earlier: this.earlier.bind(this) };

		[ 'edit', 'branch', 'bookmark', 'about', 'forget', 'turn' ].forEach(function(name) { hands[name] = this.branches[name].bind(this.branches); }, this);
		[ 'approve', 'decline', 'force', 'undo' ].forEach(function(name) { hands[name] = this.desk[name].bind(this.desk); }, this);
		return hands;
	},

	welcome: function() {
		const node = this.composer.welcome(this.write);

		if (this.write)
			node.appendChild(this.topics.node);
		return node;
	},

	/* Without a model the built-in service answers: where to set one up is said once, in an empty chat. */
	hint: function(services) {
		const isAlone = services.length > 0 && services.every(function(service) { return !service.profile || !service.ready; });

		if (isAlone && this.write && !this.advice) {
			this.advice = E('p', { 'class': 'oasis-small' }, [
				_('Common requests are understood without any AI model. To say anything you like, set one up:'), ' ', page.way('services', _('Services'))
			]);
			this.log.welcome.appendChild(this.advice);
		}
	},

	/* The message in the field, or what an empty one would bring along. */
	showSent: function() {
		const given = { message: this.composer.area.value.trim() || _('(your message)') }, chosen = this.services.select.value;

		if (this.chat)
			given.chat = this.chat;
		if (chosen)
			given.service = chosen;
		return sent.show(given);
	},

	/* The page's nodes. */
	frame: function() {
		this.title = E('h3', { 'class': 'oasis-title' });
		this.about = E('div', { 'class': 'oasis-about', 'hidden': '' }, [
			controls.link(_('Branches'), L.bind(this.branches.showTree, this.branches)),
			controls.link(_('Bookmarks'), L.bind(this.branches.showBookmarks, this.branches)),
			controls.link(_('Usage'), L.bind(this.showUsage, this)),
			controls.link(_('Export'), L.bind(function() { exchange.save(this.chat, this.branches.latest); }, this))
		]);
		this.main = E('div', { 'class': 'oasis-main' });
		this.happened = happened.create(this.fit.bind(this));
		[
			E('div', { 'class': 'oasis-bar-top' }, [ this.title, this.about, this.happened.node ]),
			this.notices.node, this.log.node, this.desk.banner.node, this.foot()
		].forEach(function(node) { this.main.appendChild(node); }, this);

		return E('div', { 'class': 'oasis oasis-chat' }, [
			this.list.node, this.main
		]);
	},

	/* The field with what belongs to it. */
	foot: function() {
		if (!this.write)
			return E('p', { 'class': 'oasis-note' }, [ _('This login may look, but not write.') ]);

		this.files = attachments.create(this.composer.area, this.main, {
			say: this.composer.say.bind(this.composer), trouble: this.trouble.bind(this), changed: this.fit.bind(this),
			focus: this.composer.focus.bind(this.composer)
		});
		[ this.branches.node, this.files.node ].forEach(function(node) { this.composer.above.appendChild(node); }, this);
		[ this.files.button, this.files.input, this.files.config, secret.button(this.composer.insert.bind(this.composer)), this.services.node,
			this.write ? controls.link(_('What would be sent?'), this.showSent.bind(this)) : '' ]
			.filter(Boolean).forEach(function(node) { this.composer.tools.appendChild(node); }, this);
		return this.composer.node;
	},

	begin: function(results) {
		const faults = results.filter(function(result) { return result.fault; });

		this.fit();
		this.info = results[0].value || {};
		this.list.set((results[1].value || {}).item || []);
		this.services.set((results[2].value || {}).service || []);
		this.hint((results[2].value || {}).service || []);
		this.desk.changes = (results[3].value || {}).changes || [];
		this.desk.showPending(this.info.pending);
		this.happened.look();

		return this.openFirst().then(L.bind(function() {
			this.isOpen();
			if (faults.length)
				this.notices.fault(faults[0].fault, true);
		}, this));
	},

	openFirst: function() {
		const going = (this.info.runs || [])[0] || {}, waiting = (this.info.waiting || [])[0] || {};
		const wanted = [ run.remembered().chat, going.chat, waiting.chat, this.list.newest() ].filter(this.list.get, this.list);

		return wanted.length ? this.open(wanted[0]) : this.fresh();
	},

	/* --- chats --- */

	fresh: function() {
		this.talk.leave();
		this.show('', {}, {});
		if (this.write)
			this.topics.load().then(this.fit.bind(this));
		this.desk.showWaiting();
		this.composer.focus();
		this.opened = Promise.resolve();
		return this.opened;
	},

	/*
	 * Show a chat. where: { head: end of the thread to show, else the newest; at: message to bring into sight, isFocused: with the
	 * keyboard; run: a run begun just now }, all of which may be absent.
	 */
	open: function(id, where) {
		where = where || {};
		this.talk.leave();
		this.chat = id;

		this.opened = this.read(id, where).then(L.bind(function(reply) {
			const going = [].concat(where.run ? { run: where.run, chat: id } : [], this.info.runs || [], run.remembered(), this.info.waiting || [])
				.filter(function(item) { return item.run && item.chat == id; })[0];

			if (this.chat != id || !reply)
				return;
			this.show(id, reply, where);
			if (going)
				this.talk.follow(going.run);
			else
				this.desk.showWaiting();
		}, this)).catch(L.bind(function(fault) {
			if (this.chat != id)
				return;
			this.show(id, {}, {});
			this.trouble(fault);
		}, this));
		return this.opened;
	},

	/* A message that is looked for may stand in another thread than the newest: then the one that ends with it is shown. */
	read: async function(id, where) {
		const reply = await api.call('chat', id, where.head, undefined, PAGE_MESSAGES);
		const has = function(message) { return message.id == where.at; };

		if (where.head || !where.at || (reply.messages || []).some(has))
			return reply;
		where.head = where.at;
		return api.call('chat', id, where.at, undefined, PAGE_MESSAGES);
	},

	show: function(id, reply, where) {
		this.chat = id;
		this.earlierOf = reply.earlier || 0;
		this.notices.clear(this.info.unconfined);
		this.list.mark(id);
		this.log.show(reply, id ? this.desk.of(id) : []);
		this.branches.shown(reply, where.head);
		this.services.follow(reply.messages || []);
		this.headline();
		this.fit();
		if (where.at && !this.log.reveal(where.at, where.isFocused) && this.earlierOf)
			this.seek(where.at);
	},

	/* Put older messages of the thread in front of those shown. */
	earlier: async function(button) {
		const id = this.chat, end = this.branches.end;

		if (button)
			button.disabled = true;
		try {
			const reply = await api.call('chat', id, end, this.log.first(), PAGE_MESSAGES);

			if (this.chat != id || this.branches.end != end)
				return false;
			this.earlierOf = (reply.messages || []).length ? reply.earlier : 0;
			this.log.prepend(Object.assign(reply, { earlier: this.earlierOf }));
			return true;
		}
		catch (fault) {
			if (button)
				button.disabled = false;
			this.trouble(fault);
			return false;
		}
	},

	/* A message of this thread that is further up. */
	seek: async function(at) {
		while (this.earlierOf && await this.earlier()) {
			if (this.log.reveal(at))
				return;
		}
	},

	/* The name of the chat above it. */
	headline: function() {
		const item = this.list.get(this.chat) || {};

		this.title.textContent = this.chat ? words.plain(item.title) || _('Untitled chat') : _('New chat');
		this.title.title = this.title.textContent;
		this.about.hidden = !this.chat;
	},

	remove: function(id) {
		return api.call('remove_chat', id).then(L.bind(function() {
			this.list.drop(id);
			if (this.chat == id)
				this.fresh();
		}, this));
	},

	rename: function(id, title) {
		return api.call('rename_chat', id, title).then(this.refreshChats.bind(this));
	},

	archive: function(id, isArchived) {
		return api.call('archive_chat', id, isArchived).then(this.refreshChats.bind(this)).catch(this.trouble.bind(this));
	},

	refreshChats: function() {
		return api.call('chats').then(L.bind(function(reply) {
			this.list.set(reply.item || []);
			this.list.mark(this.chat);
			this.headline();
		}, this)).catch(function() { /* the old list stays; the next answer asks again */ });
	},

	prefer: function(identifier) {
		return api.call('select_service', identifier).catch(L.bind(function(fault) {
			this.trouble(fault);
			throw fault;
		}, this));
	},

	noticed: function(event, isReplay) {
		this.desk.noticed(event, isReplay);
		if (event.type == 'message')
			this.branches.stored(event.id);
		if (event.type == 'title') {
			this.list.title(event.chat, event.title);
			this.headline();
		}
	},

	/* --- the page --- */

	refreshInfo: function() {
		return api.call('info').then(L.bind(function(reply) {
			this.info = reply;
			this.notices.clear(reply.unconfined || '');
			this.desk.showWaiting();
			if (!reply.pending || !this.desk.banner.isShown())
				this.desk.showPending(reply.pending);
		}, this)).catch(this.trouble.bind(this));
	},

	lookAgain: function() {
		if (document.hidden || !document.contains(this.node) || Date.now() - this.look_ms < LOOK_MS || this.talk.follower)
			return;

		this.look_ms = Date.now();
		this.refreshInfo();
		this.happened.look();
	},

	showUsage: function() {
		const chat = this.chat;

		return L.require('oasis.about').then(function(about) { about.usage(chat); });
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
