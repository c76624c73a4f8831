'use strict';
'require baseclass';
'require oasis.words as words';

/*
 * The plan card: what would be changed, why that asks for a decision, and the two buttons.
 * It knows no daemon: the decision goes to the functions it is given. An approval carries the whole hash of the plan shown.
 */

/* up to here a diff stands open */
const OPEN_LINES_MAX = 14;
const MARKS = { '+': 'oasis-added', '-': 'oasis-removed' };

function decisionWords(decision) {
	switch (decision) {
	case 'approved': return _('Approved');
	case 'declined': return _('Declined');
	case 'expired': return _('Expired: nothing was changed');
	case 'automatic': return _('Low risk: applied without asking');
	default: return words.plain(decision);
	}
}

function list(items, classes) {
	return E('ul', { 'class': classes }, items.map(function(item) { return E('li', [ words.plain(item) ]); }));
}

function diffLine(line) {
	return E('span', { 'class': 'oasis-line ' + (MARKS[line.op] || '') }, [ '%s %s\n'.format(line.op, words.plain(line.text)) ]);
}

function countOf(lines, op) {
	return lines.filter(function(line) { return line.op == op; }).length;
}

/* One package, folded when it is long. */
function diffOf(part, open) {
	const lines = part.lines || [];

	return E('details', { 'class': 'oasis-diff', 'open': open ? '' : null }, [
		E('summary', [
			_('Difference in %s').format(words.plain(part.package)), ' ',
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
		E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, [ plan.uci.map(words.plain).join('\n') ])
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
		return '%s (%s)'.format(words.plain(service.name), words.plain(service.action));
	});

	return E('p', { 'class': 'oasis-small' }, [ E('strong', [ _('Services') + ': ' ]), names.join(', ') ]);
}

function safetyNet(plan) {
	if (!plan.confirm_s)
		return null;

	return E('p', { 'class': 'oasis-small' }, [
		_('After it is applied you have %d seconds to keep it; otherwise everything is put back.').format(plan.confirm_s)
	]);
}

function moved(plan) {
	if (!plan.new_address)
		return null;

	return E('p', { 'class': 'oasis-moved' }, [
		_('Afterwards the router is at another address: %s').format('http://%s/'.format(words.plain(plan.new_address)))
	]);
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

		return E('details', { 'class': 'oasis-plan-details', 'open': '' }, [
			E('summary', [ _('Details') ]),
			(plan.words || []).length ? list(plan.words, 'oasis-words') : null,
			reasons(plan), services(plan)
		].concat(diffs(plan), [ commands(plan), moved(plan), safetyNet(plan) ]).filter(Boolean));
	},

	render: function() {
		const plan = this.plan;

		return E('section', { 'class': 'oasis-card oasis-plan', 'aria-label': _('Proposed change'), 'data-plan': plan.id }, [
			E('div', { 'class': 'oasis-head' }, [
				E('strong', [ _('Proposed change') ]), badge(plan),
				E('code', { 'class': 'oasis-small', 'title': plan.hash }, [ words.plain(plan.short) ])
			]),
			E('p', { 'class': 'oasis-summary' }, [ words.plain(plan.summary) ]),
			this.details, this.trouble, this.foot
		]);
	},

	ask: function() {
		const press = this.press.bind(this);

		this.foot.appendChild(this.left);
		if (this.act) {
			this.foot.appendChild(button('decline', 'cbi-button-neutral', _('Decline'), press));
			this.foot.appendChild(button('approve', 'cbi-button-positive important', _('Approve'), press));
		}
		this.expire_in(this.plan.expires_in_s);
	},

	press: function(verb, ev) {
		const buttons = this.foot.querySelectorAll('button');

		buttons.forEach(function(item) { item.disabled = true; });
		ev.currentTarget.classList.add('spinning');
		this.trouble.textContent = '';

		return this.act[verb](this.plan)
			.then(L.bind(function(reply) { this.decide(reply.decision); }, this))
			.catch(L.bind(this.refused, this, buttons));
	},

	refused: function(buttons, fault) {
		if (this.isDecided)
			return;

		buttons.forEach(function(item) {
			item.disabled = false;
			item.classList.remove('spinning');
		});
		this.trouble.appendChild(E('p', { 'class': 'oasis-fault' }, [ E('strong', [ words.plain(fault.message) ]), ' ', words.plain(fault.hint) ]));
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
	/* A card for a plan: { node, decide(decision), expire_in(seconds) }. act: { approve(plan), decline(plan) } give promises, or null for who may only look. */
	card: function(plan, act) {
		return new Card(plan, act);
	}
});
