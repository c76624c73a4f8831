'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.run as run';
'require oasis.alive as alive';
'require oasis.plan as plan';
'require oasis.change as change';
'require oasis.refused as refused';
'require oasis.page as page';
'require oasis.words as words';

/*
 * Runs that belong to no chat, on the pages beside it: an undo, a fix. Each has a box with its plan, what was refused, what
 * was changed and how it ended; above them stands the banner of the change that waits to be kept. Nothing is decided here:
 * plans are approved on their cards. After a reload the boxes of what still goes on come back.
 */

const SHOWN = {
	plan: function(box, event) { box.plan(event.plan); },
	approval: function(box, event) { if (box.plans[event.plan]) box.plans[event.plan].decide(event.decision); },
	refused: function(box, event) { box.put(refused.card(event, box.act)); },
	change: function(box, event) { box.change(event.change); },
	error: function(box, event) { box.fault(event.error); },
	note: function(box, event) { box.put(E('p', { 'class': 'oasis-small' }, [ words.plain(event.text) ])); }
};

function valueWords(value) {
	return value == null ? _('not set') : Array.isArray(value) ? value.map(words.plain).join(', ') : words.plain(value);
}

/* What somebody else changed since, so that it cannot be taken back. Shape: { package, section, option, now, expected }. */
function conflicts(items) {
	return page.table(_('Changed again since'), [ { title: _('Option'), isName: true }, { title: _('Now') }, { title: _('As the change left it') } ],
		items.map(function(item) {
			const place = [ item.package, item.section, item.option ].filter(Boolean).map(words.plain).join('.');

			return [ [ E('code', [ place ]) ], valueWords(item.now), valueWords(item.expected) ];
		}));
}

const Box = baseclass.extend({
	/* skip(): begins the same again and leaves conflicts as they are, or null */
	__init__: function(title, owner, skip) {
		this.owner = owner;
		this.skip = skip;
		this.plans = {};
		this.changes = {};
		this.follower = null;
		this.act = owner.isWriter ? {
			approve: function(item, word) {
				return api.call('approve', item.id, item.hash, word).then(function(reply) {
					owner.applying(reply.applying, item.summary);
					return reply;
				});
			},
			decline: function(item) { return api.call('decline', item.id); },
			force: this.force.bind(this)
		} : null;
		this.status = E('p', { 'class': 'oasis-small', 'role': 'status' }, [ _('Working\u2026') ]);
		this.body = E('div');
		this.node = E('section', { 'class': 'oasis-errand', 'aria-label': title, 'tabindex': '-1' }, [
			E('h3', [ title ]), this.body, this.status
		]);
	},

	put: function(node) {
		this.body.appendChild(node);
	},

	say: function(text) {
		this.status.textContent = text;
	},

	plan: function(item) {
		this.plans[item.id] = plan.card(item, this.act);
		this.put(this.plans[item.id].node);
	},

	/* Show how a change stands, instead of how it stood. */
	change: function(item) {
		const node = change.card(item, null), old = this.changes[item.id];

		if (old)
			old.replaceWith(node);
		else
			this.put(node);
		this.changes[item.id] = node;
	},

	fault: function(fault) {
		this.put(E('div', { 'class': 'oasis-fault', 'role': 'alert' }, [
			E('strong', [ words.plain(fault.message) ]), ' ', words.plain(fault.hint)
		]));
		if ((fault.conflicts || []).length)
			this.offerRest(fault.conflicts);
	},

	offerRest: function(items) {
		this.put(conflicts(items));
		if (!this.skip || !this.act)
			return;

		const button = page.button(_('Undo the rest and leave these as they are'), 'cbi-button-action', L.bind(function() {
			foot.remove();
			return this.begin(this.skip);
		}, this));
		const foot = E('div', { 'class': 'oasis-foot' }, [ button ]);

		this.put(foot);
	},

	/* The run that was refused is over by the time anybody has read why. */
	force: function(refusal) {
		if (this.follower)
			return Promise.reject(api.fault('busy', _('Oasis is still working on it.'), _('Wait for the end, then press again.')));
		return api.call('force', refusal.refused, refusal.force).then(this.begun.bind(this));
	},

	begin: function(work) {
		this.say(_('Working\u2026'));
		this.node.focus({ preventScroll: true });
		this.node.scrollIntoView({ block: 'nearest' });
		return work().then(this.begun.bind(this)).catch(L.bind(function(fault) {
			this.say('');
			this.fault(fault);
		}, this));
	},

	begun: function(reply) {
		this.runId = reply.run;
		this.follower = run.follow(reply.run, this.node, {
			events: this.events.bind(this), trouble: this.trouble.bind(this), end: this.end.bind(this), lost: this.lost.bind(this)
		});
	},

	events: function(events, reply, isFirst) {
		events.forEach(function(event) {
			if (SHOWN[event.type])
				SHOWN[event.type](this, event);
			if (event.type == 'applying' && !isFirst)
				this.owner.applying(event.applying);
			if (event.type == 'end')
				this.owner.banner.failed();
			if (event.type == 'change')
				this.owner.changed(event.change, isFirst);
		}, this);
		this.say(reply.state == 'waiting' ? _('Waiting for your decision') : _('Working\u2026'));
	},

	trouble: function(fault, pause_s) {
		this.say('%s %s'.format(fault.message, _('Trying again in %d s\u2026').format(pause_s)));
	},

	end: function(state) {
		this.over(state == 'cancelled' ? _('Stopped') : state == 'error' ? _('This ended with an error.') : _('Done'));
	},

	/* Without a run there is nobody left who waits for a decision; without a session nobody knows. */
	lost: function(fault) {
		if (fault.code == 'session' || fault.code == 'denied') {
			this.say('');
			return this.owner.frame.fault(fault);
		}
		Object.keys(this.plans).forEach(function(id) {
			if (!this.plans[id].isDecided)
				this.plans[id].decide('expired');
		}, this);
		this.over(_('Oasis was restarted meanwhile. The list of changes tells what was done.'));
	},

	over: function(text) {
		this.follower = null;
		this.say(text);
		this.owner.over();
	}
});

const Errands = baseclass.extend({
	__init__: function(frame, isWriter, news) {
		this.frame = frame;
		this.isWriter = isWriter;
		this.news = news;
		this.boxes = [];
		this.banner = change.banner(!isWriter, this.ended.bind(this));
		this.place = E('div');
		this.node = E('div', { 'class': 'oasis-errands' }, [ this.banner.node, this.place ]);
	},

	open: function(title, skip) {
		const box = new Box(title, this, skip);

		this.boxes.unshift(box);
		this.place.insertBefore(box.node, this.place.firstChild);
		return box;
	},

	begin: function(title, work, skip) {
		return this.open(title, skip).begin(work);
	},

	has: function(id) {
		return this.boxes.some(function(box) { return box.runId == id; });
	},

	arrive: function(info) {
		const waiting = info.waiting || [];
		const going = waiting.map(function(item) { return { run: item.run, title: item.summary }; })
			.concat((info.runs || []).filter(function(item) { return !item.chat; }));

		this.show(info.pending);
		going.forEach(function(item) {
			if (item.run && !this.has(item.run))
				this.open(words.plain(item.title) || _('Under way')).begun(item);
		}, this);
	},

	show: function(item) {
		this.banner.pending(item);
	},

	applying: function(told, summary) {
		if (!told)
			return;
		alive.remember({ id: told.change, nonce: told.nonce });
		this.banner.applying(told, summary);
	},

	/* An old event's clock is wrong by now: then the daemon is asked. */
	changed: function(item, isReplay) {
		alive.remember(item);
		if (isReplay)
			api.call('pending').then(L.bind(function(reply) { this.show(reply.change); }, this)).catch(this.frame.fault.bind(this.frame));
		else
			this.show(item);
	},

	/* The change that waited was kept or put back. */
	ended: function(item) {
		const head = this.frame.node.querySelector('h2');

		this.boxes.forEach(function(box) {
			if (box.changes[item.id])
				box.change(item);
		});
		this.frame.say(change.stateWords(item));
		/* the button that was pressed is gone */
		head.setAttribute('tabindex', '-1');
		head.focus({ preventScroll: true });
		this.news();
	},

	over: function() {
		this.news();
	}
});

return baseclass.extend({
	/*
	 * frame: of page.js; news() is called when a run is over or a change was kept or put back.
	 * Gives { node, arrive(reply of info), begin(title, work, skip) }: work() and skip() give promises of { run, chat }.
	 */
	create: function(frame, isWriter, news) {
		return new Errands(frame, isWriter, news);
	}
});
