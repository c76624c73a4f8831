'use strict';
'require baseclass';
'require view';
'require ui';
'require oasis.rpc as api';
'require oasis.state as states';
'require oasis.clean as clean';
'require oasis.page as page';
'require oasis.change as change';
'require oasis.chats as chats';
'require oasis.transcript as transcript';
'require oasis.composer as composer';
'require oasis.options as options';
'require oasis.branches as branches';
'require oasis.conversation as conversation';

/*
 * The chat page: it creates the state and the parts, which know the state and not each other, and lays their nodes out. conversation.js
 * does what they ask for and lists the values of the state and the events.
 */

/* coming back to the tab refreshes the page, but not at every click between windows */
const LOOK_MS = 5000;
/* of the conversation, and what stays free below the field */
const LOG_MIN_PX = 240;
const MARGIN_PX = 20;
/* of the list of notices, and where this browser keeps the newest one that was seen */
const NOTICES = 10;
const SEEN = 'oasis-notice';
/* where this tab of the browser keeps which parts were missing when LuCI's menu was last asked for */
const MENU = 'oasis-parts';
/* pages of optional parts; where one is missing, its address shows this page */
const PAGES = { schedule: 'schedule', memory: 'memory', messenger: 'telegram' };

/* Store the newest notice that was seen, if given; gives the stored one. A browser that stores nothing shows the count again, no more. */
function seen(id) {
	try {
		if (id)
			window.localStorage.setItem(SEEN, id);
		return window.localStorage.getItem(SEEN) || '';
	}
	catch (error) {
		return '';
	}
}

/* LuCI keeps its menu until the login ends: with other parts, the next page asks for it again. names: of the missing parts. */
function renewMenu(names) {
	try {
		if (window.sessionStorage.getItem(MENU) === names)
			return;
		window.sessionStorage.setItem(MENU, names);
	}
	catch (error) { /* a browser that stores nothing stores no menu either */ }
	ui.menu.flushCache();
}

/*
 * The list of notices behind its number: those not seen count until the list was opened in this browser. Without the right to read them,
 * or without any, nothing is shown.
 */
const NoticeList = baseclass.extend({
	__init__: function(state) {
		this.state = state;
		this.newest = '';
		this.count = E('summary', { 'class': 'oasis-link' });
		this.list = E('ul', { 'class': 'oasis-notice-list' });
		this.node = E('details', { 'hidden': '', 'toggle': this.toggled.bind(this) }, [ this.count, this.list ]);
	},

	name: function(unseen) {
		this.count.textContent = unseen ? N_(unseen, '%d new notice', '%d new notices').format(unseen) : _('Notices');
	},

	toggled: function() {
		if (this.node.open) {
			seen(this.newest);
			this.name(0);
		}
		this.state.emit('resized');
	},

	/* Ask the daemon. Gives a promise that is never rejected. */
	refresh: function() {
		return api.call('notices').then(L.bind(function(reply) {
			const notices = reply.notices || [], last = seen();

			this.newest = reply.newest || '';
			this.list.textContent = '';
			notices.slice(-NOTICES).reverse().forEach(function(one) {
				this.list.appendChild(E('li', [ page.time(one.when_unix_s), ' ', clean.plain(one.text) ]));
			}, this);
			this.node.hidden = !notices.length;
			this.name(this.node.open ? 0 : notices.filter(function(one) { return one.id > last; }).length);
			this.state.emit('resized');
		}, this)).catch(function() { /* the chat is what this page is for, and shows what is wrong */ });
	}
});

/* Below the chats, folded: the optional parts that are not installed, each with the command that brings it. */
const Missing = baseclass.extend({
	__init__: function(state) {
		this.state = state;
		this.count = E('summary');
		this.list = E('ul', { 'class': 'oasis-rows' });
		this.node = E('details', { 'class': 'oasis-shelf', 'hidden': '' }, [
			this.count, E('p', { 'class': 'oasis-small' }, [ _('Install what you want under System, Software, or by its command:') ]), this.list
		]);
		state.on({ info: this.show }, this);
	},

	show: function(info) {
		const missing = info.missing || [];

		/* without the daemon nobody knows */
		if (info.missing)
			renewMenu(missing.map(function(one) { return one.part; }).join(' '));
		this.node.hidden = !missing.length;
		this.count.textContent = N_(missing.length, '%d part is not installed', '%d parts are not installed').format(missing.length);
		this.list.textContent = '';
		missing.map(api.missing).forEach(function(one) {
			this.list.appendChild(E('li', [ E('span', { 'class': 'oasis-row-text' }, [ clean.plain(one.title), E('br'), E('code', [ clean.plain(one.hint) ]) ]) ]));
		}, this);
	},

	/* The part whose page was asked for, undefined where this page was. */
	asked: function() {
		const part = PAGES[window.location.pathname.split('/').pop()];

		return (this.state.info.missing || []).filter(function(one) { return one.part == part; }).map(api.missing)[0];
	}
});

return view.extend({
	load: function() {
		return page.styled(Promise.all([
			api.settled('info'), api.settled('chats'), api.settled('services'), api.settled('changes')
		]), [ 'chat' ]);
	},

	render: function(replies) {
		const state = this.state = states.create({
			isWriter: page.isWriter(), info: {}, chats: [], chat: '', services: [], changes: [], messages: [], earlier: 0, end: '', head: '', latest: '',
			run: null, target: null, files: [], draft: '', answerer: ''
		});

		this.refreshed_ms = Date.now();
		this.list = chats.list(state);
		this.missing = new Missing(state);
		this.list.node.appendChild(this.missing.node);
		this.welcome = E('div', { 'class': 'oasis-welcome' }, [
			E('p', { 'class': 'oasis-summary' }, [ E('strong', [ _('What should the router do?') ]) ]),
			E('p', [ _('Say it in your own words. Nothing risky is changed before you agreed, and everything can be undone.') ]),
			E('div', state.isWriter ? this.examples() : [])
		]);
		if (state.isWriter)
			this.welcome.appendChild(options.topic(state).node);
		this.service = options.service(state);
		this.composer = composer.create(state);
		this.branches = branches.create(state);
		this.banner = change.banner(state);
		this.log = transcript.create(state, this.welcome);
		this.notices = page.notices(this.fit.bind(this));
		this.noticeList = new NoticeList(state);
		this.node = this.frame();
		this.conversation = conversation.create(state, this.node);
		state.on({
			chats: this.headline, chat: this.headline, services: this.hint, planElsewhere: this.planElsewhere, resized: this.fit,
			fault: this.notices.fault.bind(this.notices),
			cleared: function() { this.notices.clear(state.info.unconfined || ''); }
		}, this);

		window.addEventListener('resize', this.fit.bind(this));
		this.list.node.addEventListener('toggle', this.fit.bind(this));
		document.addEventListener('visibilitychange', this.cameBack.bind(this));
		/* sizes are known once the page shows this node */
		window.setTimeout(this.begin.bind(this, replies), 0);

		return this.node;
	},

	begin: function(replies) {
		this.fit();
		this.noticeList.refresh();
		return this.conversation.begin(replies).then(L.bind(function() {
			const part = this.missing.asked();

			if (part)
				this.notices.add('notice', [ clean.plain(part.text), ' ', E('code', [ clean.plain(part.hint) ]) ]);
		}, this));
	},

	examples: function() {
		return [ _('Is everything all right with my router?'), _('Turn on a guest Wi-Fi'), _('Why is the internet slow?') ].map(function(text) {
			return page.button(text, '', L.bind(function() {
				this.state.emit('draft', text);
				this.state.emit('focus');
			}, this));
		}, this);
	},

	/* The page's nodes. */
	frame: function() {
		const ask = L.bind(function(request) { return this.state.emit.bind(this.state, request); }, this);

		this.title = E('h3', { 'class': 'oasis-title' });
		this.about = E('div', { 'class': 'oasis-about', 'hidden': '' }, [
			page.link(_('Branches'), ask('showBranches')),
			page.link(_('Bookmarks'), ask('showBookmarks')),
			page.link(_('Usage'), ask('showUsage')),
			page.link(_('Export'), L.bind(function() { chats.save(this.state.chat, this.state.latest); }, this))
		]);
		this.main = E('div', { 'class': 'oasis-main' }, [
			E('div', { 'class': 'oasis-bar-top' }, [ this.title, this.about, this.noticeList.node ]),
			this.notices.node, this.log.node, this.banner.node
		]);
		this.main.appendChild(this.foot());

		return E('div', { 'class': 'oasis oasis-chat' }, [ this.list.node, this.main ]);
	},

	/* The field with what belongs to it. */
	foot: function() {
		if (!this.state.isWriter)
			return E('p', { 'class': 'oasis-note' }, [ _('This login may look, but not write.') ]);

		this.composer.above.insertBefore(this.branches.node, this.composer.above.firstChild);
		[ this.service.node, page.link(_('What would be sent?'), options.preview.bind(options, this.state)) ]
			.forEach(function(node) { this.composer.tools.appendChild(node); }, this);
		this.composer.files.dropOn(this.main);
		return this.composer.node;
	},

	/* Without a model the built-in service answers: an empty chat says once where to set one up. So it does where nothing answers. */
	hint: function() {
		const services = this.state.services;
		const isAlone = services.length > 0 && services.every(function(service) { return !service.profile || !service.ready; });

		if (isAlone && this.state.isWriter)
			this.welcome.appendChild(E('p', { 'class': 'oasis-small' }, [
				services.some(function(service) { return service.ready; })
					? _('Common requests are understood without any AI model. To say anything you like, set one up:')
					: _('Nothing here can answer yet. Set up an AI model:'), ' ', page.pageLink('services', _('Services'))
			]));
	},

	/* The name of the chat above it. */
	headline: function() {
		const id = this.state.chat, item = this.state.chats.find(function(one) { return one.id == id; }) || {};

		this.title.textContent = id ? clean.plain(item.title) || _('Untitled chat') : _('New chat');
		this.title.title = this.title.textContent;
		this.about.hidden = !id;
	},

	planElsewhere: function(plan) {
		this.notices.add('notice', [
			_('A plan in another chat waits for your decision: %s').format(clean.plain(plan.summary)), ' ',
			page.button(_('Open'), '', L.bind(function() { return this.state.emit('open', plan.chat); }, this))
		]);
	},

	/* The tab came to the front: something may have happened meanwhile. */
	cameBack: function() {
		if (document.hidden || !document.contains(this.node) || Date.now() - this.refreshed_ms < LOOK_MS || this.state.run)
			return;

		this.refreshed_ms = Date.now();
		this.state.emit('refreshInfo');
		this.noticeList.refresh();
	},

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
