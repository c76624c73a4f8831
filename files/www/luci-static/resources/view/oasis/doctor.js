'use strict';
'require view';
'require oasis.rpc as api';
'require oasis.state as states';
'require oasis.clean as clean';
'require oasis.page as page';
'require oasis.panel as panel';

/*
 * The doctor: what is wrong with this router, without a model. A card for each finding with its evidence and what a fix would do, and the
 * list of checks. Examining changes nothing; a fix is a plan like any other.
 */

/* the worst first */
const ORDER = [ 'error', 'warning', 'info' ];
const KINDS = { error: 'bad', warning: 'warn', info: '' };
const MARKS = { ok: '\u2713', found: '!', skipped: '\u2013' };

function severityText(severity) {
	switch (severity) {
	case 'error': return _('Fault');
	case 'warning': return _('Warning');
	case 'info': return _('Note');
	default: return clean.plain(severity);
	}
}

function stateText(state) {
	switch (state) {
	case 'ok': return _('in order');
	case 'found': return _('something was found');
	case 'skipped': return _('left out');
	default: return clean.plain(state);
	}
}

function evidence(finding) {
	if (!(finding.evidence || []).length)
		return '';

	return E('details', { 'class': 'oasis-diff', 'open': finding.severity == 'info' ? null : '' }, [
		E('summary', [ _('What shows it') ]),
		E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, [ finding.evidence.map(clean.plain).join('\n') ])
	]);
}

function remedy(finding, state) {
	const plan = finding.fix;

	if (!plan)
		return '';

	return E('div', { 'class': 'oasis-remedy' }, [
		E('strong', [ _('What would mend it') ]), page.list(plan.words || []), (plan.commands || []).length ? page.commands(plan.commands) : '',
		state.isWriter ? E('div', { 'class': 'oasis-foot' }, [
			E('span', { 'class': 'oasis-small' }, [ _('You see the plan first and decide.') ]),
			page.busyButton(_('Fix\u2026'), 'cbi-button-action', function() { return state.emit('fix', finding); })
		]) : ''
	].filter(Boolean));
}

function card(finding, state) {
	return E('section', {
		'class': 'oasis-card oasis-finding oasis-finding-' + (KINDS[finding.severity] || 'note'), 'data-finding': finding.id, 'aria-label': clean.plain(finding.title)
	}, [
		E('div', { 'class': 'oasis-head' }, [ E('h3', [ clean.plain(finding.title) ]), page.badge(severityText(finding.severity), KINDS[finding.severity]) ]
			.concat(finding.foreign ? page.badge(_('words of others'), 'warn') : [])),
		E('p', [ clean.plain(finding.explanation) ]), evidence(finding),
		finding.advice ? E('p', { 'class': 'oasis-advice' }, [ E('strong', [ _('What to do:') ]), ' ', clean.plain(finding.advice) ]) : '', remedy(finding, state)
	].filter(Boolean));
}

function rank(finding) {
	const at = ORDER.indexOf(finding.severity);

	return at == -1 ? ORDER.length : at;
}

/* The result in one line. */
function verdictText(findings) {
	const count = function(severity) { return findings.filter(function(item) { return item.severity == severity; }).length; };
	const errors = count('error'), warnings = count('warning'), notes = count('info');
	const parts = [
		errors ? N_(errors, '%d fault', '%d faults').format(errors) : '', warnings ? N_(warnings, '%d warning', '%d warnings').format(warnings) : '',
		notes ? N_(notes, '%d note', '%d notes').format(notes) : ''
	].filter(Boolean);

	return parts.length ? parts.join(', ') : _('No fault was found.');
}

/* What was examined. */
function checkList(checks, took_ms) {
	return E('details', { 'class': 'oasis-checks' }, [
		E('summary', [ N_(checks.length, '%d check in %s s', '%d checks in %s s').format(checks.length, (took_ms / 1000).toFixed(1)) ]),
		E('ul', { 'class': 'oasis-rows' }, checks.map(function(check) {
			return E('li', { 'data-check': check.id, 'data-state': check.state }, [
				E('span', { 'class': 'oasis-mark', 'aria-hidden': 'true' }, [ MARKS[check.state] || '?' ]),
				E('span', { 'class': 'oasis-row-text' }, [
					clean.plain(check.title), check.why ? E('span', { 'class': 'oasis-small' }, [ ' \u2013 ', clean.plain(check.why) ]) : ''
				].filter(Boolean)),
				E('span', { 'class': 'oasis-small' }, [ stateText(check.state) ])
			]);
		}))
	]);
}

return view.extend({
	load: function() {
		return page.styled(api.settled('info'));
	},

	render: function(result) {
		this.state = states.create({ isWriter: page.isWriter() });
		this.again = page.button(_('Look again'), '', this.examine.bind(this));
		this.frame = page.frame(_('Doctor'),
			_('Looks for known faults by fixed rules; no model is asked. Nothing is changed by looking: a fix is shown to you as a plan first.'), [ this.again ], this.state);
		this.panel = panel.create(this.state);
		this.state.on({ fix: this.fix }, this);
		this.verdict = E('p', { 'class': 'oasis-verdict', 'role': 'status' });
		this.place = E('div');
		this.frame.fill([ this.panel.node, this.verdict, this.place ]);
		window.setTimeout(this.begin.bind(this, result), 0);
		return this.frame.node;
	},

	begin: function(result) {
		this.state.emit('info', result.value || {});
		if (result.fault)
			return this.frame.fault(result.fault, true);
		return this.examine();
	},

	examine: async function() {
		this.frame.notices.clear();
		this.again.disabled = true;
		this.verdict.classList.add('spinning');
		this.verdict.textContent = _('Looking\u2026');
		try {
			this.show(await api.call('examine'));
		}
		catch (fault) {
			this.verdict.textContent = '';
			this.frame.fault(fault);
		}
		this.verdict.classList.remove('spinning');
		this.again.disabled = false;
	},

	show: function(reply) {
		const found = reply.findings || [], checks = reply.checks || [];

		this.verdict.textContent = verdictText(found);
		this.place.textContent = '';
		found.slice().sort(function(a, b) { return rank(a) - rank(b); }).map(function(finding) { return card(finding, this.state); }, this)
			.concat(checkList(checks, reply.took_ms || 0)).forEach(function(node) { this.place.appendChild(node); }, this);
	},

	fix: function(finding) {
		return this.panel.begin(_('Fix: %s').format(clean.plain(finding.title)), function() { return api.call('fix', finding.id); });
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
