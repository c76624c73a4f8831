'use strict';
'require baseclass';
'require view';
'require oasis.rpc as api';
'require oasis.run as run';
'require oasis.state as states';
'require oasis.clean as clean';
'require oasis.page as page';
'require oasis.plan as plan';
'require oasis.change as change';
'require oasis.panel as panel';

/*
 * Changes and rollback: what Oasis changed on this router, the change that waits to be kept, and undoing. One entry for each change; its
 * difference is loaded when it is unfolded.
 */

/* coming back to the tab looks again, but not at every click between windows */
const LOOK_MS = 5000;

const FOUND_MS = 2500;

const STATES = {
	all: function() { return true; },
	standing: function(item) { return item.state == 'confirmed' && !item.undone_by; },
	waiting: function(item) { return item.state == 'applied'; },
	undone: function(item) { return !!item.undone_by; },
	rolled_back: function(item) { return item.state == 'rolled_back'; },
	rollback_failed: function(item) { return item.state == 'rollback_failed'; },
	upstream: function(item) { return item.source == 'upstream'; }
};

function stateNames() {
	return {
		all: _('All'), standing: _('In force'), waiting: _('Waiting to be kept'), undone: _('Undone later'), rolled_back: _('Rolled back'),
		rollback_failed: _('Could not be rolled back'), upstream: _('From the earlier Oasis')
	};
}

function proofText(proof) {
	switch (proof) {
	case 'connection': return _('The router was reached over a new connection.');
	case 'login': return _('Kept from a login over SSH that was newer than the change.');
	case 'console': return _('Kept at the console, which proves nothing of the network.');
	case 'word': return _('Kept by the owner, without a proof.');
	default: return clean.plain(proof);
	}
}

function title(item) {
	return clean.plain(item.summary || (item.words || []).slice(0, 2).join(', ') || item.id);
}

function fact(name, content) {
	return content == null || content === '' ? null : E('div', [ E('dt', [ name ]), E('dd', Array.isArray(content) ? content : [ content ]) ]);
}

const Entry = baseclass.extend({
	__init__: function(item, state) {
		this.item = item;
		this.state = state;
		this.isLoaded = false;
		this.diff = E('div');
		this.body = E('div', { 'class': 'oasis-entry-body' });
		this.node = E('details', { 'class': 'oasis-entry', 'data-change': item.id, 'data-state': item.state, 'toggle': this.toggled.bind(this) }, [
			this.head(), this.body
		]);
	},

	head: function() {
		const item = this.item, isBad = item.state == 'rollback_failed';
		const kind = isBad ? 'bad' : item.state == 'applied' ? 'warn' : item.state == 'confirmed' && !item.undone_by ? 'good' : '';

		return E('summary', [
			E('span', { 'class': 'oasis-entry-title' }, [ title(item) ]),
			E('span', { 'class': 'oasis-entry-badges' }, [
				page.badge(change.stateText(item), kind),
				item.risk == 'risky' ? page.badge(_('risky'), 'warn') : '',
				item.source == 'upstream' ? page.badge(_('From the earlier Oasis')) : ''
			].filter(Boolean)),
			E('span', { 'class': 'oasis-entry-when oasis-small' }, [
				page.time(item.when_unix_s), (item.packages || []).length ? ' \u00b7 ' + item.packages.map(clean.plain).join(', ') : ''
			])
		]);
	},

	toggled: function() {
		if (!this.node.open || this.isLoaded)
			return;

		this.isLoaded = true;
		this.fill();
		this.diff.appendChild(E('p', { 'class': 'spinning' }, [ _('Loading the difference\u2026') ]));
		return api.call('change', this.item.id).then(L.bind(function(reply) {
			this.diff.textContent = '';
			plan.diffs(reply.change).forEach(function(node) { this.diff.appendChild(node); }, this);
			if (!(reply.change.diff || []).length)
				this.diff.appendChild(E('p', { 'class': 'oasis-small' }, [ _('No difference is kept of this change.') ]));
		}, this)).catch(L.bind(function(fault) {
			this.isLoaded = false;
			this.diff.textContent = '';
			this.diff.appendChild(page.fault(fault));
		}, this));
	},

	fill: function() {
		const item = this.item;

		this.body.textContent = '';
		[
			(item.words || []).length ? page.list(item.words) : null, this.facts(), this.diff, this.foot()
		].concat(change.about(item)).filter(Boolean).forEach(function(node) { this.body.appendChild(node); }, this);
		this.body.appendChild(this.body.querySelector('.oasis-foot') || E('span'));
	},

	facts: function() {
		const item = this.item;
		const facts = [
			fact(_('Proof'), item.state == 'confirmed' && item.proof ? proofText(item.proof) : null),
			fact(_('Why it was rolled back'), item.reason ? clean.plain(item.reason) : null),
			fact(_('Ends by itself'), item.until_unix_s && !item.undone_by ? [ page.time(item.until_unix_s) ] : null),
			fact(_('Its end'), item.expiry ? clean.plain(item.expiry) : null),
			fact(_('Edits of others that were put aside'), (item.kept || []).length ? [].concat(item.kept).map(clean.plain).join(', ') : null),
			fact(_('The router went to'), item.new_address ? clean.plain(item.new_address) : null),
			fact(_('Undoes'), item.undoes ? this.jump(item.undoes) : null),
			fact(_('Undone by'), item.undone_by ? this.jump(item.undone_by) : null)
		].filter(Boolean);

		return facts.length ? E('dl', { 'class': 'oasis-facts' }, facts) : null;
	},

	/* A link to another change of the list, if that still has it. */
	jump: function(id) {
		const other = this.state.changes.find(function(item) { return item.id == id; });

		return other ? page.link(title(other), this.state.emit.bind(this.state, 'reveal', id)) : clean.plain(id);
	},

	foot: function() {
		const item = this.item, state = this.state, buttons = [];

		if (item.chat)
			buttons.push(page.button(_('Open its chat'), '', function() {
				run.remember({ chat: item.chat });
				window.location = L.url('admin/network/oasis/chat');
			}));
		if (state.isWriter && item.state == 'confirmed' && !item.undone_by && (item.packages || []).length)
			buttons.push(page.busyButton(_('Undo'), 'cbi-button-negative', function() { return state.emit('undo', item); }));
		return buttons.length ? E('div', { 'class': 'oasis-foot' }, buttons) : null;
	}
});

const List = baseclass.extend({
	__init__: function(state) {
		this.state = state;
		this.entries = [];
		this.filter = page.filter(_('Word or package'), [ { label: _('Show'), names: stateNames() } ], this.choose.bind(this));
		this.place = E('div', { 'class': 'oasis-entries' });
		this.node = E('div', [ this.filter.node, this.place ]);
		state.on({ changes: this.draw, reveal: this.reveal }, this);
	},

	/* What was unfolded stays so. */
	draw: function() {
		const open = this.entries.filter(function(entry) { return entry.node.open; }).map(function(entry) { return entry.item.id; });

		this.entries = this.state.changes.map(function(item) { return new Entry(item, this.state); }, this);
		this.place.textContent = '';
		this.entries.forEach(function(entry) {
			this.place.appendChild(entry.node);
			entry.node.open = open.indexOf(entry.item.id) != -1;
		}, this);
		this.choose();
	},

	choose: function() {
		const isWanted = STATES[this.filter.chosen(0)], all = this.entries.length;
		const shown = this.entries.filter(function(entry) {
			const item = entry.item;

			entry.node.hidden = !isWanted(item) || !this.filter.fits([ title(item), item.id ].concat(item.words || [], item.packages || []));
			return !entry.node.hidden;
		}, this).length;

		this.filter.say(!all ? _('Nothing was changed yet.') : shown == all ? N_(all, '%d change', '%d changes').format(all)
			: _('%d of %d changes').format(shown, all));
	},

	reveal: function(id) {
		const entry = this.entries.find(function(one) { return one.item.id == id; });

		this.filter.clear();
		this.choose();
		entry.node.open = true;
		entry.node.firstChild.focus();
		entry.node.scrollIntoView({ block: 'nearest' });
		entry.node.classList.add('oasis-found');
		window.setTimeout(function() { entry.node.classList.remove('oasis-found'); }, FOUND_MS);
	}
});

return view.extend({
	load: function() {
		return page.styled(Promise.all([ api.settled('info'), api.settled('changes') ]));
	},

	render: function(results) {
		this.state = states.create({ isWriter: page.isWriter(), changes: [] });
		this.refreshed_ms = Date.now();
		this.frame = page.frame(_('Changes'),
			_('What was changed on this router, newest first. Unfold a change to see what it did; undoing it is a change like any other.'),
			[ page.button(_('Look again'), '', L.bind(function(ev) { return this.frame.run(this.refresh.bind(this), ev); }, this)) ], this.state);
		this.panel = panel.create(this.state);
		this.frame.fill([ this.panel.node, new List(this.state).node ]);
		this.state.on({ undo: this.undo, renew: this.renew }, this);

		document.addEventListener('visibilitychange', this.cameBack.bind(this));
		/* what follows a run asks whether its node is on the page */
		window.setTimeout(this.begin.bind(this, results), 0);
		return this.frame.node;
	},

	begin: function(results) {
		const fault = results.map(function(result) { return result.fault; }).filter(Boolean)[0];

		this.show(results[0].value || {}, results[1].value || {});
		if (fault)
			this.frame.fault(fault, true);
	},

	show: function(info, reply) {
		this.state.changes = reply.changes || [];
		this.state.emit('changes');
		this.state.emit('info', info);
	},

	undo: function(item) {
		const begin = function(isSkipping) { return function() { return api.call('undo', item.id, isSkipping); }; };

		return this.panel.begin(_('Undo: %s').format(clean.plain(item.summary)), begin(), begin(true));
	},

	refresh: function() {
		return Promise.all([ api.call('info'), api.call('changes') ]).then(L.bind(function(replies) {
			this.refreshed_ms = Date.now();
			this.show(replies[0], replies[1]);
		}, this));
	},

	/* After a run or a decision. The list stays as it is when that fails: the next refresh asks again. */
	renew: function() {
		return this.refresh().catch(function() {});
	},

	cameBack: function() {
		if (!document.hidden && document.contains(this.frame.node) && Date.now() - this.refreshed_ms > LOOK_MS)
			this.renew();
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
