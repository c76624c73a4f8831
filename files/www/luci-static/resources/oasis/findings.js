'use strict';
'require baseclass';
'require oasis.page as page';
'require oasis.controls as controls';
'require oasis.words as words';

/*
 * What the doctor found: a card for each finding with its evidence and what a fix would do, and the list of what was
 * looked at. It knows no daemon: a fix is the page's matter.
 */

/* the worst first */
const ORDER = [ 'error', 'warning', 'info' ];
const KINDS = { error: 'bad', warning: 'warn', info: '' };
const MARKS = { ok: '\u2713', found: '!', skipped: '\u2013' };

function severityWords(severity) {
	switch (severity) {
	case 'error': return _('Fault');
	case 'warning': return _('Warning');
	case 'info': return _('Note');
	default: return words.plain(severity);
	}
}

function stateWords(state) {
	switch (state) {
	case 'ok': return _('in order');
	case 'found': return _('something was found');
	case 'skipped': return _('left out');
	default: return words.plain(state);
	}
}

function list(items) {
	return E('ul', items.map(function(item) { return E('li', [ words.plain(item) ]); }));
}

function evidence(finding) {
	if (!(finding.evidence || []).length)
		return '';

	return E('details', { 'class': 'oasis-diff', 'open': finding.severity == 'info' ? null : '' }, [
		E('summary', [ _('What shows it') ]),
		E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, [ finding.evidence.map(words.plain).join('\n') ])
	]);
}

function remedy(finding, fix) {
	const plan = finding.fix;

	if (!plan)
		return '';

	return E('div', { 'class': 'oasis-remedy' }, [
		E('strong', [ _('What would mend it') ]), list(plan.words || []),
		(plan.commands || []).length ? E('details', { 'class': 'oasis-diff' }, [
			E('summary', [ N_(plan.commands.length, '%d UCI command', '%d UCI commands').format(plan.commands.length) ]),
			E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, [ plan.commands.map(words.plain).join('\n') ])
		]) : '',
		fix ? E('div', { 'class': 'oasis-foot' }, [
			E('span', { 'class': 'oasis-small' }, [ _('You see the plan first and decide.') ]),
			controls.button(_('Fix\u2026'), 'cbi-button-action', function(ev) {
				const pressed = ev.currentTarget;

				pressed.disabled = true;
				return fix(finding).finally(function() { pressed.disabled = false; });
			})
		]) : ''
	].filter(Boolean));
}

function card(finding, fix) {
	return E('section', {
		'class': 'oasis-card oasis-finding oasis-finding-' + (KINDS[finding.severity] || 'note'), 'data-finding': finding.id, 'aria-label': words.plain(finding.title)
	}, [
		E('div', { 'class': 'oasis-head' }, [ E('h3', [ words.plain(finding.title) ]), page.badge(severityWords(finding.severity), KINDS[finding.severity]) ]
			.concat(finding.foreign ? page.badge(_('words of others'), 'warn') : [])),
		E('p', [ words.plain(finding.explanation) ]), evidence(finding),
		finding.advice ? E('p', { 'class': 'oasis-advice' }, [ E('strong', [ _('What to do:') ]), ' ', words.plain(finding.advice) ]) : '', remedy(finding, fix)
	].filter(Boolean));
}

function rank(finding) {
	const at = ORDER.indexOf(finding.severity);

	return at == -1 ? ORDER.length : at;
}

return baseclass.extend({
	/* Nodes, the worst first. fix(finding) gives a promise, or null for who may only look. */
	cards: function(findings, fix) {
		return findings.slice().sort(function(a, b) { return rank(a) - rank(b); }).map(function(finding) { return card(finding, fix); });
	},

	/* How it stands, in one line. */
	verdict: function(findings) {
		const count = function(severity) { return findings.filter(function(item) { return item.severity == severity; }).length; };
		const errors = count('error'), warnings = count('warning'), notes = count('info');
		const parts = [
			errors ? N_(errors, '%d fault', '%d faults').format(errors) : '', warnings ? N_(warnings, '%d warning', '%d warnings').format(warnings) : '',
			notes ? N_(notes, '%d note', '%d notes').format(notes) : ''
		].filter(Boolean);

		return parts.length ? parts.join(', ') : _('No fault was found.');
	},

	/* What was looked at. */
	checks: function(checks, took_ms) {
		return E('details', { 'class': 'oasis-checks' }, [
			E('summary', [ N_(checks.length, '%d check in %s s', '%d checks in %s s').format(checks.length, (took_ms / 1000).toFixed(1)) ]),
			E('ul', { 'class': 'oasis-rows' }, checks.map(function(check) {
				return E('li', { 'data-check': check.id, 'data-state': check.state }, [
					E('span', { 'class': 'oasis-mark', 'aria-hidden': 'true' }, [ MARKS[check.state] || '?' ]),
					E('span', { 'class': 'oasis-row-text' }, [
						words.plain(check.title), check.why ? E('span', { 'class': 'oasis-small' }, [ ' \u2013 ', words.plain(check.why) ]) : ''
					].filter(Boolean)),
					E('span', { 'class': 'oasis-small' }, [ stateWords(check.state) ])
				]);
			}))
		]);
	}
});
