'use strict';
'require view';
'require oasis.rpc as api';
'require oasis.alive as alive';
'require oasis.page as page';
'require oasis.controls as controls';
'require oasis.errands as errands';
'require oasis.history as history';
'require oasis.words as words';

/*
 * Changes and rollback: what Oasis changed on this router, the change that waits to be kept, and undoing.
 */

/* coming back to the tab looks again, but not at every click between windows */
const LOOK_MS = 5000;

return view.extend({
	load: function() {
		return page.styled(Promise.all([ api.settled('info'), api.settled('changes') ]));
	},

	render: function(results) {
		const isWriter = page.isWriter();

		alive.arrive();
		this.look_ms = Date.now();
		this.frame = page.frame(_('Changes'),
			_('What was changed on this router, newest first. Unfold a change to see what it did; undoing it is a change like any other.'),
			[ controls.button(_('Look again'), '', L.bind(function(ev) { return this.frame.run(this.refresh.bind(this), ev); }, this)) ]);
		this.errands = errands.create(this.frame, isWriter, this.renew.bind(this));
		this.list = history.list(isWriter ? { undo: this.undo.bind(this) } : {});
		this.frame.fill([ this.errands.node, this.list.node ]);

		document.addEventListener('visibilitychange', this.lookAgain.bind(this));
		/* what follows a run asks whether its node is on the page */
		window.setTimeout(this.begin.bind(this, results), 0);
		return this.frame.node;
	},

	begin: function(results) {
		const fault = results.map(function(result) { return result.fault; }).filter(Boolean)[0];

		this.list.set((results[1].value || {}).changes || []);
		this.errands.arrive(results[0].value || {});
		if (fault)
			this.frame.fault(fault, true);
	},

	undo: function(item) {
		const begin = function(isSkipping) { return function() { return api.call('undo', item.id, isSkipping); }; };

		return this.errands.begin(_('Undo: %s').format(words.plain(item.summary)), begin(), begin(true));
	},

	refresh: function() {
		return Promise.all([ api.call('info'), api.call('changes') ]).then(L.bind(function(replies) {
			this.look_ms = Date.now();
			this.errands.arrive(replies[0]);
			this.list.set(replies[1].changes || []);
		}, this));
	},

	/* After a run or a decision. The list stays as it is when that fails: the next look asks again. */
	renew: function() {
		return this.refresh().catch(function() {});
	},

	lookAgain: function() {
		if (!document.hidden && document.contains(this.frame.node) && Date.now() - this.look_ms > LOOK_MS)
			this.renew();
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
