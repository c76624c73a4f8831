'use strict';
'require view';
'require oasis.rpc as api';
'require oasis.alive as alive';
'require oasis.page as page';
'require oasis.errands as errands';
'require oasis.findings as findings';
'require oasis.words as words';

/*
 * The doctor: what is wrong with this router, without a model. Looking changes nothing; a fix is a plan like any other.
 */

return view.extend({
	load: function() {
		return page.styled(api.settled('info'));
	},

	render: function(result) {
		const isWriter = page.isWriter();

		alive.arrive();
		this.isWriter = isWriter;
		this.look = page.button(_('Look again'), '', this.examine.bind(this));
		this.frame = page.frame(_('Doctor'),
			_('Looks for known faults by fixed rules; no model is asked. Nothing is changed by looking: a fix is shown to you as a plan first.'), [ this.look ]);
		this.errands = errands.create(this.frame, isWriter, function() {});
		this.verdict = E('p', { 'class': 'oasis-verdict', 'role': 'status' });
		this.place = E('div');
		this.frame.fill([ this.errands.node, this.verdict, this.place ]);
		window.setTimeout(this.begin.bind(this, result), 0);
		return this.frame.node;
	},

	begin: function(result) {
		this.errands.arrive(result.value || {});
		if (result.fault)
			return this.frame.fault(result.fault, true);
		return this.examine();
	},

	examine: async function() {
		this.frame.clear();
		this.look.disabled = true;
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
		this.look.disabled = false;
	},

	show: function(reply) {
		const found = reply.findings || [], checks = reply.checks || [];

		this.verdict.textContent = findings.verdict(found);
		this.place.textContent = '';
		findings.cards(found, this.isWriter ? this.fix.bind(this) : null).concat(findings.checks(checks, reply.took_ms || 0))
			.forEach(function(node) { this.place.appendChild(node); }, this);
	},

	fix: function(finding) {
		return this.errands.begin(_('Fix: %s').format(words.plain(finding.title)), function() { return api.call('fix', finding.id); });
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
