'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.clean as clean';
'require oasis.page as page';

/*
 * The card of a plan: what would be changed, why it needs a decision, and the two buttons. An approval carries the whole hash of the
 * plan shown. And the card of a refusal: what was not proposed, why, and how the owner can have it proposed anyway.
 *
 * Emits: applying(reply's applying, summary) and approved(plan) after an approval; force(refusal) asks for a promise.
 */

/* up to here a diff stands open */
const OPEN_LINES_MAX = 14;
/* a longer line is folded, and so much of it stands outside */
const LINE_MAX = 300, LINE_SHOWN = 120;
const MARKS = { '+': 'oasis-added', '-': 'oasis-removed' };

function decisionWords(decision) {
	switch (decision) {
	case 'approved': return _('Approved');
	case 'declined': return _('Declined');
	case 'expired': return _('Expired: nothing was changed');
	case 'noted': return _('Approved ahead: nothing is changed now');
	case 'automatic': return _('Low risk: applied without asking');
	default: return clean.whole(decision);
	}
}

/* One line of a card, whole; a long one is folded behind its beginning. */
function line(item) {
	const text = clean.whole(item);

	if (text.length <= LINE_MAX)
		return E('li', [ text ]);

	return E('li', [ E('details', { 'class': 'oasis-long' }, [
		E('summary', [ _('%s\u2026 (%d characters, open to read all)').format(text.slice(0, LINE_SHOWN), text.length) ]),
		E('div', { 'class': 'oasis-whole', 'tabindex': '0' }, [ text ])
	]) ]);
}

function list(items, classes) {
	return E('ul', { 'class': classes }, items.map(line));
}

/* Secrets that somebody else chose are shown in clear: the owner may want others. */
function chosen(plan) {
	const found = (plan.secrets || []).filter(function(secret) { return secret.value != null; });

	if (!found.length)
		return null;

	return E('div', { 'class': 'oasis-reasons oasis-chosen' }, [
		E('strong', [ _('Secrets in clear') ]),
		E('ul', found.map(function(secret) {
			return E('li', [ clean.whole(secret.where), ' (', clean.whole(secret.from), '): ', E('code', [ clean.whole(secret.value) ]) ]);
		}))
	]);
}

function diffLine(line) {
	return E('span', { 'class': 'oasis-line ' + (MARKS[line.op] || '') }, [ '%s %s\n'.format(line.op, clean.whole(line.text)) ]);
}

function countOf(lines, op) {
	return lines.filter(function(line) { return line.op == op; }).length;
}

/* One package, folded when it is long. */
function diffOf(part, open) {
	const lines = part.lines || [];

	return E('details', { 'class': 'oasis-diff', 'open': open ? '' : null }, [
		E('summary', [
			_('Difference in %s').format(clean.whole(part.package)), ' ',
			E('span', { 'class': 'oasis-count' }, [ '+%d \u2212%d'.format(countOf(lines, '+'), countOf(lines, '-')) ])
		]),
		E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, lines.map(diffLine))
	]);
}

function diffs(plan) {
	const parts = plan.diff || [];
	const total = parts.reduce(function(sum, part) { return sum + (part.lines || []).length; }, 0);

	return parts.map(function(part) { return diffOf(part, total <= OPEN_LINES_MAX); });
}

function reasons(plan) {
	if (!(plan.reasons || []).length)
		return null;

	return E('div', { 'class': 'oasis-reasons' }, [
		E('strong', [ plan.risk == 'risky' ? _('Why this is risky') : _('Please note') ]),
		list(plan.reasons)
	]);
}

function services(plan) {
	if (!(plan.services || []).length)
		return null;

	const names = plan.services.map(function(service) {
		return '%s (%s)'.format(clean.whole(service.name), clean.whole(service.action));
	});

	return E('p', { 'class': 'oasis-small' }, [ E('strong', [ _('Services') + ': ' ]), names.join(', ') ]);
}

function safetyNet(plan) {
	if (!plan.confirm_s)
		return null;

	return E('p', { 'class': 'oasis-small' }, [
		_('After it is applied you have %d seconds to keep it; otherwise everything is undone automatically.').format(plan.confirm_s)
	]);
}

function moved(plan) {
	if (!plan.new_address)
		return null;

	return E('p', { 'class': 'oasis-moved' }, [
		_('Afterwards the router is at another address: %s').format('http://%s/'.format(clean.whole(plan.new_address)))
	]);
}

function verdictWords(verdict) {
	switch (verdict) {
	case 'yes': return _('Will you still reach the router? Yes');
	case 'no': return _('Will you still reach the router? No');
	case 'cannot_tell': return _('Will you still reach the router? Unknown');
	default: return clean.whole(verdict);
	}
}

/* Whether the owner still gets in, as far as the router can tell. */
function reach(plan) {
	const verdict = plan.verdict || {};

	if (!verdict.verdict)
		return null;

	return E('div', { 'class': 'oasis-reach', 'data-verdict': clean.whole(verdict.verdict) }, [
		E('strong', [ verdictWords(verdict.verdict) ]),
		(verdict.reasons || []).length ? list(verdict.reasons) : null
	].filter(Boolean));
}

/* Whose text is in it, other than the owner's. */
function others(plan) {
	const whose = plan.untrusted || [];

	if (!whose.length && !plan.tainted)
		return null;

	return E('p', { 'class': 'oasis-others' }, [
		whose.length ? _('Words of others are in it: %s').format(whose.map(clean.whole).join(', ')) : _('Words of others were in sight when it was made.')
	]);
}

function forced(plan) {
	if (!(plan.forces || []).length)
		return null;

	return E('p', { 'class': 'oasis-forced' }, [ E('strong', [ _('Forced by you: %s').format(plan.forces.map(clean.whole).join(', ')) ]) ]);
}

function badge(plan) {
	return E('span', { 'class': 'oasis-badge ' + (plan.risk == 'risky' ? 'oasis-risky' : 'oasis-low') },
		[ plan.risk == 'risky' ? _('risky') : _('low risk') ]);
}

const Card = baseclass.extend({
	__init__: function(plan, state) {
		this.plan = plan;
		this.state = state;
		this.isDecided = false;
		this.stop = function() {};
		this.left = E('span', { 'class': 'oasis-small', 'role': 'timer' });
		this.trouble = E('div', { 'role': 'alert' });
		this.foot = E('div', { 'class': 'oasis-foot' });
		this.details = this.renderDetails();
		this.node = this.render();
		if (plan.needs_approval)
			this.ask();
	},

	renderDetails: function() {
		const plan = this.plan;
		const isShut = (plan.verdict || {}).verdict == 'no';

		/* what shuts the owner out is read first, also on a small screen */
		return E('details', { 'class': 'oasis-plan-details', 'open': '' }, [
			E('summary', [ _('Details') ]),
			forced(plan), isShut ? reach(plan) : null,
			(plan.words || []).length ? list(plan.words, 'oasis-words') : null,
			chosen(plan), reasons(plan), isShut ? null : reach(plan), others(plan), services(plan)
		].concat(diffs(plan), [ (plan.uci || []).length ? page.commands(plan.uci, clean.whole) : null, moved(plan), safetyNet(plan) ]).filter(Boolean));
	},

	render: function() {
		const plan = this.plan;

		return E('section', { 'class': 'oasis-card oasis-plan', 'aria-label': _('Proposed change') + ': ' + clean.whole(plan.summary), 'data-plan': plan.id }, [
			E('div', { 'class': 'oasis-head' }, [
				E('strong', [ _('Proposed change') ]), badge(plan),
				E('code', { 'class': 'oasis-small', 'title': plan.hash }, [ clean.whole(plan.short) ])
			]),
			E('p', { 'class': 'oasis-summary' }, [ clean.whole(plan.summary) ]),
			this.details, this.trouble, this.foot
		]);
	},

	ask: function() {
		const approve = page.button(_('Approve'), 'cbi-button-positive important', this.press.bind(this, this.approve));

		this.foot.appendChild(this.left);
		if (this.state.isWriter) {
			if (this.plan.typed_word)
				this.foot.appendChild(this.wordField(approve));
			if (this.plan.choice)
				this.foot.appendChild(page.button('%s: %s'.format(clean.whole(this.plan.choice.say), clean.whole(this.plan.choice.text)),
					'cbi-button-neutral', this.press.bind(this, this.choose)));
			this.foot.appendChild(page.button(_('Decline'), 'cbi-button-neutral', this.press.bind(this, this.decline)));
			this.foot.appendChild(approve);
		}
		this.expire_in(this.plan.expires_in_s);
	},

	/* Where the worker is not confined, a word is typed before the button can be pressed. */
	wordField: function(approve) {
		const word = this.plan.typed_word;

		this.word = E('input', {
			'type': 'text', 'class': 'cbi-input-text', 'autocomplete': 'off', 'autocapitalize': 'none', 'spellcheck': 'false',
			'input': L.bind(function() { approve.disabled = !this.isTyped(); }, this),
			'keydown': function(ev) {
				if (ev.key == 'Enter' && !approve.disabled)
					approve.click();
			}
		});
		approve.disabled = true;

		return E('label', { 'class': 'oasis-word' }, [
			E('span', [ _('Type %s to approve it: the AI worker is not confined, %s').format(clean.whole(word), clean.whole(this.plan.unconfined)) ]), this.word
		]);
	},

	isTyped: function() {
		return !this.word || this.word.value == this.plan.typed_word;
	},

	approve: function() {
		const plan = this.plan, state = this.state;

		return api.call('approve', plan.id, plan.hash, this.word ? this.word.value : undefined).then(function(reply) {
			state.emit('applying', reply.applying, plan.summary);
			state.emit('approved', plan);
			return reply;
		});
	},

	decline: function() { return api.call('decline', this.plan.id); },

	/* The other reading of what was said: this plan is declined for it. */
	choose: function() { return api.call('decline', this.plan.id, this.plan.choice.say); },

	press: function(work, ev) {
		const buttons = this.foot.querySelectorAll('button');

		buttons.forEach(function(item) { item.disabled = true; });
		ev.currentTarget.classList.add('spinning');
		this.trouble.textContent = '';

		return work.call(this)
			.then(L.bind(function(reply) {
				/* the run's own event says more, and may come first */
				if (!this.isDecided)
					this.decide(reply.decision);
			}, this))
			.catch(L.bind(this.failed, this, buttons));
	},

	failed: function(buttons, fault) {
		if (this.isDecided)
			return;

		buttons.forEach(function(item) {
			item.disabled = item.classList.contains('important') && !this.isTyped();
			item.classList.remove('spinning');
		}, this);
		this.trouble.appendChild(page.fault(fault, clean.whole));
	},

	/* The decision is known: the buttons give way to it. */
	decide: function(decision) {
		this.stop();
		this.isDecided = true;
		this.details.open = false;
		this.node.setAttribute('data-decision', decision);
		this.trouble.textContent = '';
		this.foot.textContent = '';
		this.foot.appendChild(E('span', { 'class': 'oasis-state' }, [ decisionWords(decision) ]));
	},

	/* Set the clock. */
	expire_in: function(seconds) {
		this.stop();
		if (this.isDecided || seconds == null)
			return;

		this.stop = page.countdown(this.node, seconds, L.bind(function(left_s) {
			this.left.textContent = _('Expires in %s').format(page.clock(left_s));
		}, this), this.decide.bind(this, 'expired'));
	}
});

function kindWords(kind) {
	switch (kind) {
	case 'reachability': return _('you may not reach the router any more');
	case 'unknown': return _('names or values are not known, or look wrong');
	case 'exec': return _('this runs code as root');
	default: return clean.whole(kind);
	}
}

/* What may be forced takes two presses, the second below the reasons. */
const Refusal = baseclass.extend({
	__init__: function(refusal, state) {
		this.refusal = refusal;
		this.state = state;
		this.heading = E('strong', [ _('Why it was refused') ]);
		this.why = E('div', { 'class': 'oasis-reasons' }, [ this.heading, page.list(refusal.reasons || [], clean.whole) ]);
		this.trouble = E('div', { 'role': 'alert' });
		this.foot = E('div', { 'class': 'oasis-foot' });
		this.node = this.render();
		this.offer();
	},

	render: function() {
		const refusal = this.refusal;

		return E('section', { 'class': 'oasis-card oasis-refused', 'aria-label': _('Refused change'), 'data-refused': refusal.refused }, [
			E('div', { 'class': 'oasis-head' }, [
				E('strong', [ _('Refused change') ]), E('span', { 'class': 'oasis-badge oasis-no' }, [ _('refused') ])
			]),
			E('p', { 'class': 'oasis-summary' }, [ clean.whole(refusal.summary) ]),
			this.why, (refusal.uci || []).length ? page.commands(refusal.uci, clean.whole) : null,
			refusal.tainted ? E('p', { 'class': 'oasis-others' }, [ _('Words of others were in sight when it was made.') ]) : null,
			refusal.hint ? E('p', { 'class': 'oasis-small' }, [ clean.whole(refusal.hint) ]) : null,
			this.trouble, this.foot
		].filter(Boolean));
	},

	offer: function() {
		this.heading.textContent = _('Why it was refused');
		this.why.classList.remove('oasis-asked');
		this.foot.textContent = '';
		if (this.state.isWriter && this.refusal.refused)
			this.foot.appendChild(page.button(_('Propose anyway'), 'cbi-button-neutral', this.confirm.bind(this)));
	},

	/* The second step: the same reasons, now as what is forced. */
	confirm: function() {
		const no = page.button(_('No'), 'cbi-button-neutral', this.withdraw.bind(this));

		this.heading.textContent = _('Propose it although %s?').format(this.refusal.force.map(kindWords).join(', '));
		this.why.classList.add('oasis-asked');
		this.foot.textContent = '';
		this.foot.appendChild(no);
		this.foot.appendChild(page.button(_('Yes, propose it'), 'cbi-button-negative', this.force.bind(this)));
		no.focus();
	},

	withdraw: function() {
		this.offer();
		this.foot.firstChild.focus();
	},

	force: function(ev) {
		const buttons = this.foot.querySelectorAll('button');

		buttons.forEach(function(item) { item.disabled = true; });
		ev.currentTarget.classList.add('spinning');
		this.trouble.textContent = '';

		return this.state.emit('force', this.refusal).then(L.bind(function() {
			this.foot.textContent = '';
			this.foot.appendChild(E('span', { 'class': 'oasis-state' }, [ _('Proposed all the same') ]));
		}, this)).catch(L.bind(function(fault) {
			this.offer();
			this.trouble.appendChild(page.fault(fault, clean.whole));
		}, this));
	}
});

return baseclass.extend({
	/* The differences of a plan or a change, one node a package; long ones are folded. */
	diffs: diffs,

	/* A card for a plan: { node, isDecided, decide(decision), expire_in(seconds) }. */
	card: function(plan, state) {
		return new Card(plan, state);
	},

	/* The node of a card for a refusal. */
	refusal: function(refusal, state) {
		return new Refusal(refusal, state).node;
	}
});
