'use strict';
'require view';
'require oasis.rpc as api';
'require oasis.page as page';
'require oasis.clean as clean';

/*
 * The audit log: who decided what about which plan, whether the chain of lines is whole, and the log as a file.
 */

/* what one reply carries, and what fits on some screens */
const PAGE_LINES = 200;
const SHOWN_LINES = 50;
const SHORT_CHARS = 8;

function whatWords(what) {
	switch (what) {
	case 'approved': return _('approved');
	case 'declined': return _('declined');
	case 'automatic': return _('low risk, not asked');
	case 'expired': return _('expired');
	case 'cancelled': return _('cancelled');
	case 'closed': return _('closed, for want of a clock');
	default: return clean.plain(what);
	}
}

function roleWords(role) {
	switch (role) {
	case 'owner': return _('owner');
	case 'policy': return _('policy');
	case 'daemon': return _('nobody in time');
	case 'schedule': return _('schedule');
	default: return clean.plain(role);
	}
}

function many(items) {
	return [].concat(items || []).map(clean.plain).filter(function(item, i, all) { return all.indexOf(item) == i; }).join(', ');
}

/* The values that occur, each with its name, behind one that lets everything through. */
function namesOf(lines, key, name) {
	const names = { '': _('All') };

	lines.forEach(function(line) { names['=' + line[key]] = name(line[key]); });
	return names;
}

function cells(line) {
	return [
		[ page.time(line.when_unix_s) ],
		[ page.badge(whatWords(line.what), line.what == 'approved' ? 'good' : line.what == 'automatic' ? '' : 'warn') ],
		roleWords(line.role),
		many([].concat(line.packages || [], line.services || [])),
		[
			E('code', { 'title': clean.plain(line.plan_hash) }, [ clean.plain(String(line.plan_hash || '').slice(0, SHORT_CHARS)) ]), ' ',
			(line.forces || []).length ? page.badge(_('forced: %s').format(many(line.forces)), 'bad') : '',
			line.tainted ? page.badge(_('words of others'), 'warn') : ''
		].filter(Boolean)
	];
}

return view.extend({
	load: function() {
		return page.styled(Promise.all([ api.settled('audit', PAGE_LINES), api.settled('verify_audit') ]));
	},

	render: function(results) {
		const fault = results.map(function(result) { return result.fault; }).filter(Boolean)[0];

		this.frame = page.frame(_('Audit'), _('One line for each decision about a plan. Each line holds the hash of the line before it, so that a removed or altered one shows.'), [
			page.button(_('Check the chain'), '', L.bind(function(ev) { return this.frame.run(this.verify.bind(this), ev); }, this)), ' ',
			page.button(_('Download'), '', L.bind(function(ev) { return this.frame.run(this.download.bind(this), ev); }, this))
		]);
		this.chain = E('div', { 'role': 'status' });
		this.place = E('div');
		this.older = page.button(_('Show older lines'), '', L.bind(function(ev) { return this.frame.run(this.more.bind(this), ev); }, this));
		this.foot = E('div', { 'class': 'oasis-foot' }, [ this.older ]);

		this.lines = (results[0].value || {}).lines || [];
		this.hasMore = this.lines.length == PAGE_LINES;
		this.limit = SHOWN_LINES;
		this.filter = this.bar();
		this.frame.fill([ this.chain, this.filter.node, this.place, this.foot ]);
		this.show();
		if (results[1].value)
			this.showChain(results[1].value);
		if (fault)
			this.frame.fault(fault, true);
		return this.frame.node;
	},

	bar: function() {
		return page.filter(_('Package, service or plan'), [
			{ label: _('Decision'), names: namesOf(this.lines, 'what', whatWords) },
			{ label: _('By'), names: namesOf(this.lines, 'role', roleWords) }
		], this.show.bind(this));
	},

	fits: function(line) {
		const what = this.filter.chosen(0), role = this.filter.chosen(1);

		return (!what || what == '=' + line.what) && (!role || role == '=' + line.role) &&
			this.filter.fits([ line.plan, line.plan_hash, whatWords(line.what), roleWords(line.role) ].concat(line.packages || [], line.services || [], line.forces || []));
	},

	show: function() {
		const shown = this.lines.filter(this.fits, this);
		const columns = [ { title: _('When') }, { title: _('Decision') }, { title: _('By') }, { title: _('Packages and services') }, { title: _('Plan') } ];

		this.filter.say(shown.length == this.lines.length ? N_(shown.length, '%d line', '%d lines').format(shown.length)
			: _('%d of %d lines').format(shown.length, this.lines.length));
		this.older.hidden = !this.hasMore && shown.length <= this.limit;
		this.place.textContent = '';
		this.place.appendChild(page.table(_('Decisions, newest first'), columns, shown.slice(0, this.limit).map(cells),
			this.lines.length ? _('No line fits.') : _('Nothing was decided yet.')));
	},

	more: async function() {
		this.limit += SHOWN_LINES;
		if (this.hasMore && this.lines.filter(this.fits, this).length < this.limit)
			await this.fetch();
		this.show();
	},

	/* A full reply may have another one behind it. */
	fetch: async function() {
		const found = (await api.call('audit', PAGE_LINES, this.lines.length)).lines || [], bar = this.filter.node;

		this.hasMore = found.length == PAGE_LINES;
		this.lines = this.lines.concat(found);
		if (!this.filter.isUsed()) {
			this.filter = this.bar();
			bar.replaceWith(this.filter.node);
		}
	},

	verify: async function() {
		this.chain.textContent = '';
		this.showChain(await api.call('verify_audit'));
	},

	showChain: function(reply) {
		const broken = reply.broken, nodes = [
			broken ? E('div', { 'class': 'alert-message danger error' }, [
				E('strong', [ _('The chain is broken at line %d of %s.').format(broken.line, clean.plain(broken.file)) ]), ' ', clean.plain(broken.reason)
			]) : E('p', [ page.badge(_('whole'), 'good'), ' ', N_(reply.lines, 'The chain of %d line is whole.', 'The chain of %d lines is whole.').format(reply.lines) ]),
			reply.torn ? E('p', { 'class': 'oasis-small' }, [ _('The last line of %s was torn by a power cut; the next decision cuts it off.').format(clean.plain(reply.torn)) ]) : ''
		];

		this.chain.textContent = '';
		nodes.filter(Boolean).forEach(function(node) { this.chain.appendChild(node); }, this);
	},

	/* The whole log, oldest line first, as it stands in its files: whoever has it can check the chain without us. */
	download: async function() {
		let all = [], last = [];

		do {
			last = (await api.call('audit', PAGE_LINES, all.length)).lines || [];
			all = all.concat(last);
		} while (last.length == PAGE_LINES);

		page.download('oasis-audit.jsonl', 'application/jsonl', [ all.reverse().map(function(line) { return JSON.stringify(line) + '\n'; }).join('') ]);
		this.frame.say(N_(all.length, '%d line was saved.', '%d lines were saved.').format(all.length));
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
