'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.run as run';
'require oasis.plan as plan';
'require oasis.change as change';
'require oasis.page as page';
'require oasis.filter as filter';
'require oasis.controls as controls';
'require oasis.words as words';

/*
 * The list of changes: one entry each that unfolds to what was changed, why it is as it is, and Undo. The difference is
 * asked for when an entry is unfolded. What an undo does is the page's matter.
 */

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

function proofWords(word) {
	switch (word) {
	case 'connection': return _('The router was reached over a new connection.');
	case 'login': return _('Kept from a login over SSH that was newer than the change.');
	case 'console': return _('Kept at the console, which proves nothing of the network.');
	case 'word': return _('Kept by the owner, without a proof.');
	default: return words.plain(word);
	}
}

function title(item) {
	return words.plain(item.summary || (item.words || []).slice(0, 2).join(', ') || item.id);
}

function fact(name, content) {
	return content == null || content === '' ? null : E('div', [ E('dt', [ name ]), E('dd', Array.isArray(content) ? content : [ content ]) ]);
}

function list(items) {
	return E('ul', items.map(function(item) { return E('li', [ words.plain(item) ]); }));
}

const Entry = baseclass.extend({
	__init__: function(item, owner) {
		this.item = item;
		this.owner = owner;
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
				page.badge(change.stateWords(item), kind),
				item.risk == 'risky' ? page.badge(_('risky'), 'warn') : '',
				item.source == 'upstream' ? page.badge(_('From the earlier Oasis')) : ''
			].filter(Boolean)),
			E('span', { 'class': 'oasis-entry-when oasis-small' }, [
				page.time(item.when_unix_s), (item.packages || []).length ? ' \u00b7 ' + item.packages.map(words.plain).join(', ') : ''
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
			this.diff.appendChild(E('p', { 'class': 'oasis-fault' }, [ E('strong', [ words.plain(fault.message) ]), ' ', words.plain(fault.hint) ]));
		}, this));
	},

	fill: function() {
		const item = this.item;

		this.body.textContent = '';
		[
			(item.words || []).length ? list(item.words) : null, this.facts(), this.diff, this.foot()
		].concat(change.about(item)).filter(Boolean).forEach(function(node) { this.body.appendChild(node); }, this);
		this.body.appendChild(this.body.querySelector('.oasis-foot') || E('span'));
	},

	facts: function() {
		const item = this.item;
		const facts = [
			fact(_('Proof'), item.state == 'confirmed' && item.proof ? proofWords(item.proof) : null),
			fact(_('Why it was rolled back'), item.reason ? words.plain(item.reason) : null),
			fact(_('Ends by itself'), item.until_unix_s && !item.undone_by ? [ page.time(item.until_unix_s) ] : null),
			fact(_('Its end'), item.expiry ? words.plain(item.expiry) : null),
			fact(_('Edits of others that were put aside'), (item.kept || []).length ? [].concat(item.kept).map(words.plain).join(', ') : null),
			fact(_('The router went to'), item.new_address ? words.plain(item.new_address) : null),
			fact(_('Undoes'), item.undoes ? this.jump(item.undoes) : null),
			fact(_('Undone by'), item.undone_by ? this.jump(item.undone_by) : null)
		].filter(Boolean);

		return facts.length ? E('dl', { 'class': 'oasis-facts' }, facts) : null;
	},

	/* The way to another change of the list, where it still is there. */
	jump: function(id) {
		const other = this.owner.find(id);

		return other ? controls.link(title(other.item), L.bind(this.owner.reveal, this.owner, id)) : words.plain(id);
	},

	foot: function() {
		const item = this.item, hands = this.owner.hands, buttons = [];

		if (item.chat)
			buttons.push(controls.button(_('Open its chat'), '', function() {
				run.remember({ chat: item.chat });
				window.location = L.url('admin/network/oasis/chat');
			}));
		if (hands.undo && item.state == 'confirmed' && !item.undone_by && (item.packages || []).length)
			buttons.push(controls.button(_('Undo'), 'cbi-button-negative', function(ev) {
				const pressed = ev.currentTarget;

				pressed.disabled = true;
				return hands.undo(item).finally(function() { pressed.disabled = false; });
			}));
		return buttons.length ? E('div', { 'class': 'oasis-foot' }, buttons) : null;
	}
});

const List = baseclass.extend({
	__init__: function(hands) {
		this.hands = hands;
		this.entries = [];
		this.filter = filter.bar(_('Word or package'), [ { label: _('Show'), names: stateNames() } ], this.choose.bind(this));
		this.place = E('div', { 'class': 'oasis-entries' });
		this.node = E('div', [ this.filter.node, this.place ]);
	},

	/* What was unfolded stays so. */
	set: function(changes) {
		const open = this.entries.filter(function(entry) { return entry.node.open; }).map(function(entry) { return entry.item.id; });

		this.entries = changes.map(function(item) { return new Entry(item, this); }, this);
		this.place.textContent = '';
		this.entries.forEach(function(entry) {
			this.place.appendChild(entry.node);
			entry.node.open = open.indexOf(entry.item.id) != -1;
		}, this);
		this.choose();
	},

	find: function(id) {
		return this.entries.find(function(entry) { return entry.item.id == id; });
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
		const entry = this.find(id);

		this.filter.clear();
		this.choose();
		entry.node.open = true;
		entry.node.firstChild.focus();
		entry.node.scrollIntoView({ block: 'nearest' });
		entry.node.classList.add('oasis-found');
		window.setTimeout(function() { entry.node.classList.remove('oasis-found'); }, FOUND_MS);
	}
});

return baseclass.extend({
	/* hands: { undo(change) gives a promise, or absent for who may only look }. Gives { node, set(changes) }. */
	list: function(hands) {
		return new List(hands);
	}
});
