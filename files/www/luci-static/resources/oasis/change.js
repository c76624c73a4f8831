'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.clean as clean';
'require oasis.page as page';
'require oasis.proof as proof';

/*
 * A change after it was applied: its card with Undo, and the banner in which the owner keeps it or rolls it back while the clock runs.
 * The daemon holds the clock; the banner only shows it, and asks how the change ended.
 *
 * The banner listens to events(list, isReplay) of a run, applying(applying, summary), info(reply) and pending(change or none). It emits
 * ended(change, text) once for each change that it showed, and resized(). A card emits undo(change), which asks for a promise.
 */

/* while the clock runs: often enough to see that another page decided */
const LOOK_MS = 5000;
/* after it ran out: how often to ask for the end */
const AFTER_MS = 2000;
const ENDED = [ 'confirmed', 'rolled_back', 'rollback_failed' ];
/* from here on the banner changes its colour */
const URGENT_S = 15;

function stateText(change) {
	switch (change.state) {
	case 'applied': return change.confirm_in_s != null ? _('Applied, waiting to be kept') : _('Applied');
	case 'confirmed': return change.undone_by ? _('Undone later') : change.undoes ? _('Undo applied') : _('Kept');
	case 'rolled_back': return _('Rolled back: the earlier settings are active');
	case 'rollback_failed': return _('The earlier settings could not be restored');
	default: return clean.plain(change.state);
	}
}

function service(item) {
	return '%s %s %s'.format(item.ok ? '\u2713' : '\u2717', clean.plain(item.name), clean.plain(item.action));
}

function proofText(result) {
	switch (result) {
	case 'proved': return '\u2713 ' + _('Reachable: proved over a new connection');
	case 'asking': return _('Asking over a new connection whether this browser still reaches the router\u2026');
	case 'reused': return _('The connection is older than the change; a new one is tried in a moment\u2026');
	case 'silent': return _('The router does not answer over a new connection yet; trying again\u2026');
	case 'moved': return _('The router answers at its new address. Go on there.');
	case 'loopback': return _('This page comes through a tunnel, which proves nothing of the network.');
	case 'denied': return _('This login may not keep changes.');
	case 'login': return '\u2713 ' + _('This login reaches the router over a new connection. It did not make the change.');
	case 'unknown': return _('This page did not make the change, so it cannot prove that the router is still reached.');
	default: return _('It could not be proved that the router is still reached.');
	}
}

/* What was verified after the reload, and what could not be. */
function verified(change) {
	const of = function(result) {
		return (change.verified || []).filter(function(item) { return item.result == result; })
			.map(function(item) { return clean.plain(item.what); }).join(', ');
	};
	const lines = [ [ _('Verified: %s'), of('seen') ], [ _('Not verified: %s'), of('not read back') ] ];

	return lines.filter(function(line) { return line[1]; }).map(function(line) {
		return E('p', { 'class': 'oasis-small' }, [ line[0].format(line[1]) ]);
	});
}

function alarm(change) {
	if (change.state != 'rollback_failed')
		return null;

	return E('p', { 'class': 'oasis-fault', 'role': 'alert' }, [
		_('Oasis tries again at each start. Until then the settings may be a mix of old and new; look at them before going on.')
	]);
}

function about(change) {
	return [
		(change.services || []).length ? E('p', { 'class': 'oasis-small' }, [ change.services.map(service).join(' \u00b7 ') ]) : null
	].concat(verified(change), [ alarm(change) ]).filter(Boolean);
}

function card(change, state) {
	const trouble = E('div', { 'role': 'alert' });
	const canUndo = state && state.isWriter && change.state == 'confirmed' && !change.undone_by;
	const undo = function(ev) {
		const button = ev.currentTarget;

		button.disabled = true;
		trouble.textContent = '';
		return state.emit('undo', change).catch(function(fault) { trouble.appendChild(page.fault(fault)); })
			.finally(function() { button.disabled = false; });
	};

	return E('section', { 'class': 'oasis-card oasis-change', 'aria-label': _('Change') + ': ' + clean.plain(change.summary), 'data-change': change.id, 'data-state': change.state }, [
		E('div', { 'class': 'oasis-head' }, [
			E('strong', [ clean.plain(change.summary) ]),
			E('span', { 'class': 'oasis-badge oasis-' + clean.plain(change.state) }, [ stateText(change) ])
		])
	].concat(about(change), [
		trouble,
		canUndo ? E('div', { 'class': 'oasis-foot' }, [
			page.button(_('Undo'), 'cbi-button-neutral', undo)
		]) : null
	]).filter(Boolean));
}

const Banner = baseclass.extend({
	__init__: function(state) {
		this.state = state;
		this.change = null;
		this.stop = function() {};
		this.left = E('strong', { 'class': 'oasis-clock', 'role': 'timer' });
		this.bar = E('div', { 'class': 'oasis-bar-fill' });
		this.text = E('p', { 'class': 'oasis-summary' });
		this.note = E('div', { 'aria-live': 'polite' });
		/* a button offered here stays until it is pressed or not needed any more, whatever the polls bring */
		this.offer = E('div', { 'aria-live': 'polite' });
		this.title = E('strong');
		this.hint = E('p', { 'class': 'oasis-small' });
		this.proof = E('p', { 'class': 'oasis-proof', 'role': 'status' });
		this.moved = E('div', { 'class': 'oasis-moved', 'aria-live': 'polite' });
		this.prover = null;
		this.buttons = !state.isWriter ? [] : [
			this.button('rollback', 'cbi-button-negative', _('Roll back now')),
			this.button('extend', 'cbi-button-neutral', _('More time')),
			this.button('confirm', 'cbi-button-positive important', _('Keep'))
		];
		this.node = this.render();
		proof.arrive();
		state.on({
			events: this.events, applying: this.applying, pending: this.pending,
			info: function(info) { this.pending(info.pending); }
		}, this);
	},

	render: function() {
		return E('section', { 'class': 'oasis-card oasis-pending', 'aria-label': _('Change waiting to be kept'), 'hidden': '' }, [
			E('div', { 'class': 'oasis-head' }, [ this.title, this.left ]),
			E('div', { 'class': 'oasis-bar', 'aria-hidden': 'true' }, [ this.bar ]),
			this.text, this.moved, this.proof,
			this.hint, this.note, this.offer, E('div', { 'class': 'oasis-foot' }, this.buttons)
		]);
	},

	button: function(verb, classes, label) {
		return page.button(label, classes, this.press.bind(this, verb));
	},

	enable: function(isOn) {
		this.buttons.forEach(function(button) { button.disabled = !isOn; });
	},

	say: function(child) {
		this.note.textContent = '';
		if (child)
			this.note.appendChild(child);
	},

	events: function(events, isReplay) {
		events.forEach(function(event) {
			if (event.type == 'applying' && !isReplay)
				this.applying(event.applying);
			else if (event.type == 'end' && this.isApplying())
				this.hide();
			else if (event.type == 'change') {
				proof.remember(event.change);
				/* an old event's clock is wrong by now: then the daemon is asked */
				if (!isReplay)
					this.pending(event.change);
			}
		}, this);
	},

	/* For a change that is shown already, only the clock is set. */
	show: function(change) {
		if (!this.change || this.change.id != change.id || this.change.state != change.state) {
			this.whole_s = 1;
			this.say(null);
			this.forgetProof();
			this.change = change;
			this.showState();
			this.prove();
		}

		this.change = change;
		this.seeProof(change);
		this.text.textContent = clean.plain(change.summary);
		this.node.hidden = false;
		this.run(change.confirm_in_s);
		this.watch(LOOK_MS);
		this.state.emit('resized');
	},

	/*
	 * A plan was approved and nothing is written yet. What is needed to prove the change and to find it again is stored now; where the
	 * router moves to another address, what comes next may never reach this page, so the link to it and the clock are shown now too.
	 * applying: what the daemon says of it, if anything; summary: the plan's, if it is known.
	 */
	applying: function(applying, summary) {
		if (!applying)
			return;
		proof.remember({ id: applying.change, nonce: applying.nonce });
		if (this.change && this.change.id == applying.change)
			this.text.textContent = clean.plain(summary || this.change.summary);
		else if (applying.new_address)
			this.show({ id: applying.change, state: 'applying', new_address: applying.new_address, confirm_in_s: applying.confirm_s, summary: summary });
	},

	isApplying: function() { return this.change != null && this.change.state != 'applied'; },

	/* The change that waits, as the daemon last described it, or none; one that is being applied will wait soon. */
	pending: function(change) {
		if (change && change.state == 'applied' && change.confirm_in_s != null)
			this.show(change);
		else if (!this.isApplying() || change && ENDED.indexOf(change.state) != -1)
			this.hide();
	},

	showState: function() {
		const isApplied = this.change.state == 'applied';

		this.title.textContent = isApplied ? _('Does everything still work?') : _('The router moves to its new address');
		this.hint.textContent = isApplied ? _('The change is active. Without your word the earlier settings come back when the time is over.')
			: _('The change is being applied. Without your word the earlier settings come back when the time is over.');
		this.enable(isApplied);
		this.showMoved(this.change);
	},

	hide: function() {
		this.stop();
		this.forgetProof();
		window.clearTimeout(this.look);
		this.change = null;
		this.node.hidden = true;
		this.state.emit('resized');
	},

	finish: function(change) {
		if (!this.change || this.change.id != change.id)
			return;

		this.hide();
		this.state.emit('ended', change, stateText(change));
	},

	showMoved: function(change) {
		const address = clean.plain(change.new_address), href = change.new_address ? proof.address(change) : null;

		this.moved.textContent = '';
		if (!change.new_address || change.new_address == window.location.hostname)
			return;
		[
			E(href ? 'a' : 'strong', { 'href': href }, [
				(change.state == 'applied' ? _('The router is now at %s: go on there') : _('The router will be at %s: go on there')).format(address)
			]),
			E('p', { 'class': 'oasis-small' }, [
				_('This page is at the old address and may lose the router. Open the link, log in there and press Keep. Your device may need a new address first: take its cable out and in again, or its Wi-Fi off and on.')
			])
		].forEach(function(node) { this.moved.appendChild(node); }, this);
	},

	/* Try to prove over a new connection that this browser still gets in; a login that may only look has nothing to prove. */
	prove: function() {
		if (!this.state.isWriter || this.change.proof)
			return;
		if (this.change.state == 'applied')
			this.showProof('asking');
		this.prover = proof.prove(this.change, this.showProof.bind(this));
	},

	showProof: function(result) {
		/* a proof stays; that the router moved matters more than that it is silent at its old address */
		const shown = this.proof.getAttribute('data-proof');

		if (shown == 'proved' || [ 'moved', 'login' ].indexOf(shown) != -1 && result != 'proved')
			return;
		this.proof.setAttribute('data-proof', result);
		this.proof.textContent = proofText(result);
		if (result != 'proved' && result != 'login')
			return;
		this.offer.textContent = '';
		if (this.isWanted)
			this.keep();
	},

	/* Keep was pressed, and only the proof was missing: now it is kept. */
	keep: function() {
		this.isWanted = false;
		this.enable(false);
		this.decide(api.call('confirm', this.change.id), true);
	},

	/* Another page may have proved it. */
	seeProof: function(change) {
		if (change.proof)
			this.showProof(change.proof == 'login' ? 'login' : 'proved');
	},

	forgetProof: function() {
		if (this.prover)
			this.prover.stop();
		this.prover = null;
		this.isWanted = false;
		this.proof.removeAttribute('data-proof');
		this.proof.textContent = '';
		this.offer.textContent = '';
	},

	run: function(seconds) {
		this.whole_s = Math.max(this.whole_s, seconds, 1);
		this.stop();
		this.stop = page.countdown(this.node, seconds, this.tick.bind(this), this.timeOver.bind(this));
	},

	tick: function(left_s) {
		this.left.textContent = page.clock(left_s);
		this.bar.style.width = '%f%%'.format(100 * left_s / this.whole_s);
		this.node.classList.toggle('oasis-urgent', left_s <= URGENT_S);
	},

	timeOver: function() {
		this.enable(false);
		this.say(E('p', { 'class': 'spinning' }, [ _('Time is over: the earlier settings are being restored\u2026') ]));
		this.watch(AFTER_MS);
	},

	/* Ask for the state of the change until it no longer waits; while the network changes, an answer may take a while. */
	watch: function(pause_ms) {
		window.clearTimeout(this.look);
		this.look = window.setTimeout(this.ask.bind(this, pause_ms), pause_ms);
	},

	ask: function(pause_ms) {
		const id = this.change && this.change.id;

		if (id == null || !document.contains(this.node))
			return;
		if (document.hidden && pause_ms != AFTER_MS)
			return this.watch(pause_ms);

		api.call('changes').then(L.bind(function(reply) {
			this.answered((reply.changes || []).filter(function(change) { return change.id == id; })[0], pause_ms);
		}, this)).catch(L.bind(this.unanswered, this, pause_ms));
	},

	answered: function(change, pause_ms) {
		if (change && ENDED.indexOf(change.state) != -1)
			return this.finish(change);
		if (change && change.state == 'applied' && this.change.state != 'applied')
			return this.show(change);
		if (change)
			this.seeProof(change);

		if (pause_ms != AFTER_MS)
			this.say(null);
		this.watch(pause_ms);
	},

	unanswered: function(pause_ms, fault) {
		if (fault.code != 'transport' && fault.code != 'absent')
			return this.say(page.fault(fault));

		this.say(E('p', [ _('The router does not answer at the moment. If that lasts, the earlier settings come back by themselves.') ]));
		this.watch(pause_ms);
	},

	press: function(verb, ev) {
		const button = ev.currentTarget;

		this.enable(false);
		button.classList.add('spinning');
		this.say(null);
		this.offer.textContent = '';
		this.isWanted = false;

		return this.decide(api.call(verb, this.change.id)).finally(function() {
			button.classList.remove('spinning');
		});
	},

	/* isLast: if it is refused because the proof is missing, do not try again, even if the proof has come meanwhile. */
	decide: function(call, isLast) {
		return call.then(L.bind(function(reply) {
			this.enable(true);
			if (reply.change.state == 'applied')
				this.show(reply.change);
			else
				this.finish(reply.change);
		}, this)).catch(L.bind(function(fault) {
			this.enable(true);
			this.offer.textContent = '';
			this.isWanted = fault.code == 'unproved';
			if (this.isWanted && !isLast && [ 'proved', 'login' ].indexOf(this.proof.getAttribute('data-proof')) != -1)
				return this.keep();
			if (this.isWanted)
				this.offer.appendChild(this.secondStep(fault));
			else
				this.say(page.fault(fault));
		}, this));
	},

	/* The weaker way: the owner decides without a proof. */
	secondStep: function(fault) {
		return E('div', [
			page.fault(fault),
			page.button(_('Keep without a proof'), 'cbi-button-neutral', L.bind(function(ev) {
				ev.currentTarget.disabled = true;
				return this.decide(api.call('confirm', this.change.id, true));
			}, this))
		]);
	}
});

return baseclass.extend({
	stateText: stateText,

	/* Nodes: the services that were reloaded, what was verified, and the alarm when the rollback failed. */
	about: about,

	/* A card's node; without a state it has no Undo. */
	card: card,

	/* Gives { node }. */
	banner: function(state) {
		return new Banner(state);
	}
});
