'use strict';
'require baseclass';
'require oasis.words as words';

/*
 * The plan card: what would be changed, why that asks for a decision, and the two buttons.
 * It knows no daemon: the decision goes to the functions it is given. An approval carries the whole hash of the plan shown.
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
	default: return words.whole(decision);
	}
}

/* One line of a card, whole; a long one is folded behind its beginning. */
function line(item) {
	const text = words.whole(item);

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

/* Secrets that somebody else chose stand in clear: the owner may know better than to take them. */
function chosen(plan) {
	const found = (plan.secrets || []).filter(function(secret) { return secret.value != null; });

	if (!found.length)
		return null;

	return E('div', { 'class': 'oasis-reasons oasis-chosen' }, [
		E('strong', [ _('Secrets in clear') ]),
		E('ul', found.map(function(secret) {
			return E('li', [ words.whole(secret.where), ' (', words.whole(secret.from), '): ', E('code', [ words.whole(secret.value) ]) ]);
		}))
	]);
}

function diffLine(line) {
	return E('span', { 'class': 'oasis-line ' + (MARKS[line.op] || '') }, [ '%s %s\n'.format(line.op, words.whole(line.text)) ]);
}

function countOf(lines, op) {
	return lines.filter(function(line) { return line.op == op; }).length;
}

/* One package, folded when it is long. */
function diffOf(part, open) {
	const lines = part.lines || [];

	return E('details', { 'class': 'oasis-diff', 'open': open ? '' : null }, [
		E('summary', [
			_('Difference in %s').format(words.whole(part.package)), ' ',
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

function commands(plan) {
	if (!(plan.uci || []).length)
		return null;

	return E('details', { 'class': 'oasis-diff' }, [
		E('summary', [ N_(plan.uci.length, '%d UCI command', '%d UCI commands').format(plan.uci.length) ]),
		E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, [ plan.uci.map(words.whole).join('\n') ])
	]);
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
		return '%s (%s)'.format(words.whole(service.name), words.whole(service.action));
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
		_('Afterwards the router is at another address: %s').format('http://%s/'.format(words.whole(plan.new_address)))
	]);
}

function verdictWords(verdict) {
	switch (verdict) {
	case 'yes': return _('Will you still reach the router? Yes');
	case 'no': return _('Will you still reach the router? No');
	case 'cannot_tell': return _('Will you still reach the router? Unknown');
	default: return words.whole(verdict);
	}
}

/* Whether the owner still gets in, as far as the router can tell. */
function reach(plan) {
	const verdict = plan.verdict || {};

	if (!verdict.verdict)
		return null;

	return E('div', { 'class': 'oasis-reach', 'data-verdict': words.whole(verdict.verdict) }, [
		E('strong', [ verdictWords(verdict.verdict) ]),
		(verdict.reasons || []).length ? list(verdict.reasons) : null
	].filter(Boolean));
}

/* Whose words are in it, beside the owner's. */
function others(plan) {
	const whose = plan.untrusted || [];

	if (!whose.length && !plan.tainted)
		return null;

	return E('p', { 'class': 'oasis-others' }, [
		whose.length ? _('Words of others are in it: %s').format(whose.map(words.whole).join(', ')) : _('Words of others were in sight when it was made.')
	]);
}

function forced(plan) {
	if (!(plan.forces || []).length)
		return null;

	return E('p', { 'class': 'oasis-forced' }, [ E('strong', [ _('Forced by you: %s').format(plan.forces.map(words.whole).join(', ')) ]) ]);
}

function badge(plan) {
	return E('span', { 'class': 'oasis-badge ' + (plan.risk == 'risky' ? 'oasis-risky' : 'oasis-low') },
		[ plan.risk == 'risky' ? _('risky') : _('low risk') ]);
}

function button(verb, classes, label, press) {
	return E('button', { 'type': 'button', 'class': 'btn cbi-button ' + classes, 'click': press.bind(null, verb) }, [ label ]);
}

const Card = baseclass.extend({
	__init__: function(plan, act) {
		this.plan = plan;
		this.act = act;
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
		].concat(diffs(plan), [ commands(plan), moved(plan), safetyNet(plan) ]).filter(Boolean));
	},

	render: function() {
		const plan = this.plan;

		return E('section', { 'class': 'oasis-card oasis-plan', 'aria-label': _('Proposed change'), 'data-plan': plan.id }, [
			E('div', { 'class': 'oasis-head' }, [
				E('strong', [ _('Proposed change') ]), badge(plan),
				E('code', { 'class': 'oasis-small', 'title': plan.hash }, [ words.whole(plan.short) ])
			]),
			E('p', { 'class': 'oasis-summary' }, [ words.whole(plan.summary) ]),
			this.details, this.trouble, this.foot
		]);
	},

	ask: function() {
		const press = this.press.bind(this);
		const approve = button('approve', 'cbi-button-positive important', _('Approve'), press);

		this.foot.appendChild(this.left);
		if (this.act) {
			if (this.plan.typed_word)
				this.foot.appendChild(this.wordField(approve));
			this.foot.appendChild(button('decline', 'cbi-button-neutral', _('Decline'), press));
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
			E('span', [ _('Type %s to approve it: the AI worker is not confined, %s').format(words.whole(word), words.whole(this.plan.unconfined)) ]), this.word
		]);
	},

	isTyped: function() {
		return !this.word || this.word.value == this.plan.typed_word;
	},

	press: function(verb, ev) {
		const buttons = this.foot.querySelectorAll('button');

		buttons.forEach(function(item) { item.disabled = true; });
		ev.currentTarget.classList.add('spinning');
		this.trouble.textContent = '';

		return this.act[verb](this.plan, this.word ? this.word.value : undefined)
			.then(L.bind(function(reply) {
				/* the run's own event knows more, and may be here first */
				if (!this.isDecided)
					this.decide(reply.decision);
			}, this))
			.catch(L.bind(this.refused, this, buttons));
	},

	refused: function(buttons, fault) {
		if (this.isDecided)
			return;

		buttons.forEach(function(item) {
			item.disabled = item.classList.contains('important') && !this.isTyped();
			item.classList.remove('spinning');
		}, this);
		this.trouble.appendChild(E('p', { 'class': 'oasis-fault' }, [ E('strong', [ words.whole(fault.message) ]), ' ', words.whole(fault.hint) ]));
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

	/* Set the clock anew. */
	expire_in: function(seconds) {
		this.stop();
		if (this.isDecided || seconds == null)
			return;

		this.stop = words.countdown(this.node, seconds, L.bind(function(left_s) {
			this.left.textContent = _('Expires in %s').format(words.clock(left_s));
		}, this), this.decide.bind(this, 'expired'));
	}
});

return baseclass.extend({
	/* The differences of a plan or a change, one node a package; long ones are folded. */
	diffs: diffs,

	/* A card for a plan: { node, decide(decision), expire_in(seconds) }. act: { approve(plan, word), decline(plan) } give promises, or null for who may only look. */
	card: function(plan, act) {
		return new Card(plan, act);
	}
});
