'use strict';
'require view';
'require oasis.rpc as api';
'require oasis.state as states';
'require oasis.dialog as dialog';
'require oasis.page as page';
'require oasis.panel as panel';
'require oasis.clean as clean';

/*
 * Scheduled jobs: what the router is asked at a time, again and again, or when something happens, and the results. A run that is begun
 * here, or a plan that waits, is shown above the list; plans are approved on their cards.
 */

/* what the daemon takes */
const WISH_CHARS = 2000, WHEN_CHARS = 200;
/* of the notices, those that are about jobs */
const KINDS = [ 'schedule_result', 'schedule_waiting' ];
const RESULTS = 20;

function examples() {
	return _('As you would say it: every weekday at 7:00, tomorrow at 8 pm, on the first of every month at 6:30. Also 22:00 daily, 2026-12-24 18:00, or cron: 30 22 * * mon-fri. For events: on wan_down, on wan_up, on new_device, on disk_full, on failed_logins.');
}

/* The dialog that adds a job, or changes one; done() gives a promise. */
function edit(job, done) {
	const when = E('input', { 'type': 'text', 'class': 'cbi-input-text', 'maxlength': WHEN_CHARS, 'value': job.when || '', 'autofocus': '', 'aria-describedby': 'oasis-when' });
	const wish = E('textarea', { 'class': 'cbi-input-textarea', 'rows': '4', 'maxlength': WISH_CHARS });
	const box = dialog.open(job.id ? _('Change a scheduled job') : _('Add a scheduled job'), [
		page.field(_('When'), when),
		E('p', { 'class': 'oasis-small', 'id': 'oasis-when' }, [ examples() ]),
		page.field(_('What is to be done then'), wish)
	], [
		page.button(_('Save'), 'cbi-button-action important', function() {
			return box.run(function() {
				return (job.id ? api.call('change_job', job.id, when.value, wish.value) : api.call('add_job', when.value, wish.value)).then(done);
			});
		})
	]);

	wish.value = job.wish || '';
}

/* What became of the plan of the last run: as the badge in place of "off", and as a line below the job. */
function outcome(job) {
	const plan = job.plan || {}, said = clean.plain(plan.summary || '');

	return {
		waiting: [ _('waits for you'), _('Its plan waits for you: %s').format(said) ],
		expired: [ _('not decided'), _('Its plan waited, nobody decided in time, and nothing was done: %s').format(said) ],
		declined: [ _('declined'), _('Its plan was declined, and nothing was done: %s').format(said) ],
		cancelled: [ _('stopped'), _('Its plan was stopped while it waited, and nothing was done: %s').format(said) ],
		lost: [ _('lost'), _('Its plan was lost when Oasis ended while it waited, and nothing was done: %s').format(said) ]
	}[plan.state];
}

function state(job) {
	const over = outcome(job);

	if (over && (job.plan.state == 'waiting' || !(job.active || job.enabled)))
		return page.badge(over[0], 'warn');
	return job.active ? page.badge(_('under way'), 'warn') : job.enabled ? page.badge(_('on'), 'good') : page.badge(_('off'));
}

function notes(job) {
	const found = (job.calls || []).length ? [ _('Calls %s').format(job.calls.map(function(call) { return clean.plain(call.tool); }).join(', ')) ] : [];

	if (outcome(job))
		found.unshift(outcome(job)[1]);
	if (job.ahead)
		found.push(N_(job.ahead, '%d plan is approved ahead', '%d plans are approved ahead').format(job.ahead));
	return found.concat([ job.timezone, job.note ].filter(Boolean).map(clean.plain));
}

/* When, as it was understood, and its next moments as the clock of the router shows them. */
function time(job) {
	const moments = (job.moments || []).map(clean.plain);

	return [ E('span', { 'title': clean.plain(job.when) }, [ clean.plain(job.understood || job.when) ]) ].concat(moments.length ? [
		E('div', { 'class': 'oasis-small' }, [ moments.join(', ') ])
	] : []);
}

return view.extend({
	load: function() {
		return page.styled(Promise.all([ api.settled('jobs'), api.settled('notices'), api.settled('info') ]));
	},

	render: function(results) {
		this.state = states.create({ isWriter: page.isWriter() });
		this.reload = this.reload.bind(this);
		this.frame = page.frame(_('Schedule'), [
			_('What is said to the router by itself, at a time or when something happens. Nobody is there then, so only what is of low risk is done; everything else waits for you, unless you approve it ahead.')
		], [], this.state);
		this.panel = panel.create(this.state);
		this.state.on({ renew: this.reload });
		this.place = E('div');
		this.results = E('div');
		this.frame.fill([ this.panel.node, this.place, this.results ]);
		window.setTimeout(this.begin.bind(this, results), 0);
		return this.frame.node;
	},

	begin: function(results) {
		this.state.emit('info', results[2].value || {});
		if (results[0].fault)
			return this.frame.fault(results[0].fault, true);
		this.draw(results[0].value);
		this.showResults(results[1].value || {});
	},

	draw: function(reply) {
		const columns = [ { title: _('Order'), isName: true, isWide: true }, { title: _('When') }, { title: _('Next') }, { title: _('State') }, { title: '' } ];

		this.frame.put(this.place, [
			reply.trusted === false ? E('div', { 'class': 'alert-message warning' }, [ _('The clock of the router is not set yet: nothing is done until it is.') ]) : '',
			reply.note ? E('div', { 'class': 'alert-message warning' }, [ clean.plain(reply.note) ]) : '',
			page.section('', [
				page.table(_('Scheduled jobs'), columns, (reply.entries || []).map(this.row, this), _('There is no scheduled job yet.')),
				E('p', { 'class': 'oasis-small' }, [ _('It is %s on the router.').format(clean.plain(reply.now || '')) ]),
				page.act(_('Add a scheduled job'), 'cbi-button-add', L.bind(edit, null, {}, this.reload), 'jobs/add')
			])
		]);
	},

	row: function(job) {
		const title = clean.plain(job.wish), said = notes(job), id = job.id;

		return [
			[ E('span', [ title ]) ].concat(said.map(function(text) { return E('div', { 'class': 'oasis-small' }, [ text ]); })),
			time(job),
			job.next_unix_s ? page.time(job.next_unix_s) : '\u2013',
			state(job),
			page.buttons([
				page.act(_('Run now'), '', L.bind(this.go, this, 'run_job', title, id), id + '/run'),
				page.act(_('Approve ahead'), '', L.bind(this.go, this, 'approve_job', title, id), id + '/ahead'),
				page.act(job.enabled ? _('Switch off') : _('Switch on'), '', L.bind(this.set, this, id, !job.enabled), id + '/switch'),
				page.act(_('Change'), 'cbi-button-edit', L.bind(edit, null, job, this.reload), id + '/change'),
				page.act(_('Delete'), 'cbi-button-negative', L.bind(this.remove, this, id, title), id + '/delete')
			])
		];
	},

	/* The results of the last runs, the newest first. */
	showResults: function(reply) {
		const found = (reply.notices || []).filter(function(one) { return KINDS.indexOf(one.kind) != -1; }).reverse().slice(0, RESULTS);

		this.results.textContent = '';
		if (!found.length)
			return;
		this.results.appendChild(page.section(_('What came of it'), [ page.table(_('Results'), [ { title: _('Time') }, { title: _('Result'), isName: true, isWide: true } ],
			found.map(function(one) { return [ page.time(one.when_unix_s), clean.plain(one.text) ]; })) ]));
	},

	go: function(method, title, id) {
		return this.panel.begin(method == 'run_job' ? _('Run: %s').format(title) : _('Ahead: %s').format(title), function() { return api.call(method, id); });
	},

	set: function(id, isOn, ev) {
		return this.frame.run(L.bind(function() {
			return api.call('switch_job', id, isOn).then(this.reload);
		}, this), ev);
	},

	remove: function(id, title) {
		return dialog.ask(_('Delete a scheduled job'), _('Delete "%s"? Its chat stays.').format(title), _('Delete'),
			L.bind(function() { return api.call('remove_job', id).then(this.reload); }, this));
	},

	reload: function() {
		return Promise.all([ api.call('jobs').then(this.draw.bind(this)), api.call('notices').then(this.showResults.bind(this)) ]).catch(this.frame.fault.bind(this.frame));
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
