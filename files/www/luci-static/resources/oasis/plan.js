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

function badge(plan) {
	return E('span', { 'class': 'oasis-badge ' + (plan.risk == 'risky' ? 'oasis-risky' : 'oasis-low') },
		[ plan.risk == 'risky' ? _('risky') : _('low risk') ]);
}

return baseclass.extend({
	decisionWords: decisionWords,

	/*
	 * A card for a plan. act: { approve(plan), decline(plan) } give promises, or null for who may only look.
	 * Gives { node, decide(decision), expire_in(seconds), trouble(fault) }.
	 */
	card: function(plan, act) {
		const left = E('span', { 'class': 'oasis-small', 'role': 'timer' });
		const trouble = E('div', { 'role': 'alert' });
		const foot = E('div', { 'class': 'oasis-foot' });
		const details = E('details', { 'class': 'oasis-plan-details', 'open': '' }, [
			E('summary', [ _('Details') ]),
			(plan.words || []).length ? list(plan.words, 'oasis-words') : null,
			reasons(plan), services(plan)
		].concat(diffs(plan), [ commands(plan), safetyNet(plan) ]).filter(Boolean));
		const node = E('section', { 'class': 'oasis-card oasis-plan', 'aria-label': _('Proposed change'), 'data-plan': plan.id }, [
			E('div', { 'class': 'oasis-head' }, [
				E('strong', [ _('Proposed change') ]), badge(plan),
				E('code', { 'class': 'oasis-small', 'title': plan.hash }, [ words.plain(plan.short) ])
			]),
			E('p', { 'class': 'oasis-summary' }, [ words.plain(plan.summary) ]),
			details, trouble, foot
		]);
		let stop = null, decided = false;

		const decide = function(decision) {
			if (stop)
				stop();
			decided = true;
			details.open = false;
			node.setAttribute('data-decision', decision);
			trouble.textContent = '';
			foot.textContent = '';
			foot.appendChild(E('span', { 'class': 'oasis-state' }, [ decisionWords(decision) ]));
		};

		const press = function(verb, ev) {
			const buttons = foot.querySelectorAll('button');

			buttons.forEach(function(button) { button.disabled = true; });
			ev.currentTarget.classList.add('spinning');
			trouble.textContent = '';

			return act[verb](plan).then(function(reply) {
				decide(reply.decision);
			}).catch(function(fault) {
				if (decided)
					return;
				buttons.forEach(function(button) { button.disabled = false; button.classList.remove('spinning'); });
				trouble.appendChild(E('p', { 'class': 'oasis-fault' }, [ E('strong', [ words.plain(fault.message) ]), ' ', words.plain(fault.hint) ]));
			});
		};

		const expire_in = function(seconds) {
			if (stop)
				stop();
			if (decided || seconds == null)
				return;
			stop = words.countdown(node, seconds, function(left_s) {
				left.textContent = _('Expires in %s').format(words.clock(left_s));
			}, function() {
				decide('expired');
			});
		};

		const button = function(verb, classes, label) {
			return E('button', { 'type': 'button', 'class': 'btn cbi-button ' + classes, 'click': press.bind(null, verb) }, [ label ]);
		};

		if (plan.needs_approval) {
			foot.appendChild(left);
			if (act) {
				foot.appendChild(button('decline', 'cbi-button-neutral', _('Decline')));
				foot.appendChild(button('approve', 'cbi-button-positive important', _('Approve')));
			}
			expire_in(plan.expires_in_s);
		}

		return { node: node, decide: decide, expire_in: expire_in };
	}
});
