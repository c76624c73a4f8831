'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.run as run';
'require oasis.clean as clean';
'require oasis.page as page';
'require oasis.plan as plan';
'require oasis.change as change';

/*
 * Runs that belong to no chat, on the pages other than the chat: an undo, a fix. Each has a box with its plan, its refusals, its change
 * and how it ended; above them stands the banner of the change that waits to be kept. After a reload of the page the boxes of what still
 * runs come back.
 *
 * Listens to info(reply), ended(change, text) and force(refusal). Emits events(list, isReplay) and pending(change) for the banner, fault(fault)
 * and decided(text) for the frame, and renew() when a run is over or a change was kept or rolled back.
 */

const SHOWN = {
	plan: function(box, event) { box.plan(event.plan); },
	approval: function(box, event) { if (box.plans[event.plan]) box.plans[event.plan].decide(event.decision); },
	refused: function(box, event) { box.refused(event); },
	change: function(box, event) { box.change(event.change); },
	error: function(box, event) { box.fault(event.error); },
	note: function(box, event) { box.put(E('p', { 'class': 'oasis-small' }, [ clean.plain(event.text) ])); }
};

function valueText(value) {
	return value == null ? _('not set') : Array.isArray(value) ? value.map(clean.plain).join(', ') : clean.plain(value);
}

/* What was changed again since by somebody else, so it cannot be undone. Shape: { package, section, option, now, expected }. */
function conflicts(items) {
	return page.table(_('Changed again since'), [ { title: _('Option'), isName: true }, { title: _('Now') }, { title: _('As the change left it') } ],
		items.map(function(item) {
			const place = [ item.package, item.section, item.option ].filter(Boolean).map(clean.plain).join('.');

			return [ [ E('code', [ place ]) ], valueText(item.now), valueText(item.expected) ];
		}));
}

const Box = baseclass.extend({
	/* skip(): begins the same again and leaves conflicts as they are, or null */
	__init__: function(title, state, skip) {
		this.state = state;
		this.skip = skip;
		this.plans = {};
		this.refusals = [];
		this.changes = {};
		this.follower = null;
		this.status = E('p', { 'class': 'oasis-small', 'role': 'status' }, [ _('Working\u2026') ]);
		this.body = E('div');
		this.node = E('section', { 'class': 'oasis-run', 'aria-label': title, 'tabindex': '-1' }, [
			E('h3', [ title ]), this.body, this.status
		]);
	},

	put: function(node) {
		this.body.appendChild(node);
	},

	say: function(text) {
		this.status.textContent = text;
	},

	/* the event of a plan that was made before this page has an old clock; that of the daemon's list is right */
	plan: function(item) {
		this.plans[item.id] = plan.card(this.waiting && this.waiting.id == item.id ? this.waiting : item, this.state);
		this.put(this.plans[item.id].node);
	},

	refused: function(refusal) {
		this.refusals.push(refusal);
		this.put(plan.refusal(refusal, this.state));
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
			E('strong', [ clean.plain(fault.message) ]), ' ', clean.plain(fault.hint)
		]));
		if ((fault.conflicts || []).length)
			this.offerRest(fault.conflicts);
	},

	offerRest: function(items) {
		this.put(conflicts(items));
		if (!this.skip || !this.state.isWriter)
			return;

		const foot = E('div', { 'class': 'oasis-foot' }, [
			page.button(_('Undo the rest and leave these as they are'), 'cbi-button-action', L.bind(function() {
				foot.remove();
				return this.begin(this.skip);
			}, this))
		]);

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
		}, this);
		this.state.emit('events', events, isFirst);
		if (isFirst && events.some(function(event) { return event.type == 'change'; }))
			api.call('pending').then(L.bind(function(reply) { this.state.emit('pending', reply.change); }, this)).catch(L.bind(this.state.emit, this.state, 'fault'));
		this.say(reply.state == 'waiting' ? _('Waiting for your decision') : _('Working\u2026'));
	},

	trouble: function(fault, pause_s) {
		this.say('%s %s'.format(fault.message, _('Trying again in %d s\u2026').format(pause_s)));
	},

	end: function(state) {
		this.over(state == 'cancelled' ? _('Stopped') : state == 'error' ? _('This ended with an error.') : _('Done'));
	},

	/* Without the run nothing waits for a decision any more; without a session nobody knows. */
	lost: function(fault) {
		if (fault.code == 'session' || fault.code == 'denied') {
			this.say('');
			return this.state.emit('fault', fault);
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
		this.state.emit('renew');
	}
});

const Panel = baseclass.extend({
	__init__: function(state) {
		this.state = state;
		this.boxes = [];
		this.place = E('div');
		this.node = E('div', { 'class': 'oasis-runs' }, [ change.banner(state).node, this.place ]);
		state.on({ info: this.arrive, ended: this.ended, force: this.force }, this);
	},

	open: function(title, skip) {
		const box = new Box(title, this.state, skip);

		this.boxes.unshift(box);
		this.place.insertBefore(box.node, this.place.firstChild);
		return box;
	},

	begin: function(title, work, skip) {
		return this.open(title, skip).begin(work);
	},

	/* Open boxes for the runs that are under way. info: reply of the daemon's method. */
	arrive: function(info) {
		const waiting = (info.waiting || []).map(function(item) { return { run: item.run, title: item.summary, plan: item }; });

		waiting.concat((info.runs || []).filter(function(item) { return !item.chat; })).forEach(function(item) {
			if (!item.run || this.boxes.some(function(box) { return box.runId == item.run; }))
				return;

			const box = this.open(clean.plain(item.title) || _('Under way'));

			box.waiting = item.plan;
			box.begun(item);
		}, this);
	},

	/* The change that waited was kept or rolled back. */
	ended: function(item, text) {
		this.boxes.forEach(function(box) {
			if (box.changes[item.id])
				box.change(item);
		});
		this.state.emit('decided', text);
		this.state.emit('renew');
	},

	force: function(refusal) {
		return this.boxes.find(function(box) { return box.refusals.indexOf(refusal) != -1; }).force(refusal);
	}
});

return baseclass.extend({
	/* Gives { node, begin(title, work, skip) }: work() and skip() give promises of { run, chat }. */
	create: function(state) {
		return new Panel(state);
	}
});
