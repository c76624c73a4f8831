'use strict';
'require baseclass';
'require oasis.words as words';
'require oasis.rpc as api';

/*
 * A change after it was applied: the card in the transcript with its Undo, and the banner in which the owner keeps it or puts it
 * back while the clock runs. The daemon holds the clock; the banner only shows it, and asks how it ended.
 */

/* while the clock runs: often enough to see that another page decided */
const LOOK_S = 5;
/* after it ran out: how often to ask for the end */
const AFTER_MS = 2000;

function stateWords(change) {
	switch (change.state) {
	case 'applied': return change.confirm_in_s != null ? _('Applied, waiting to be kept') : _('Applied');
	case 'confirmed': return change.undone_by ? _('Undone later') : change.undoes ? _('Undo applied') : _('Kept');
	case 'rolled_back': return _('Put back: the earlier settings are active');
	case 'rollback_failed': return _('The earlier settings could not be put back');
	default: return words.plain(change.state);
	}
}

function service(item) {
	return '%s %s %s'.format(item.ok ? '\u2713' : '\u2717', words.plain(item.name), words.plain(item.action));
}

function alarm(change) {
	if (change.state != 'rollback_failed')
		return null;

	return E('p', { 'class': 'oasis-fault', 'role': 'alert' }, [
		_('Oasis tries again at each start. Until then the settings may be a mix of old and new; look at them before going on.')
	]);
}

function faultLine(fault) {
	return E('p', { 'class': 'oasis-fault' }, [ E('strong', [ words.plain(fault.message) ]), ' ', words.plain(fault.hint) ]);
}

return baseclass.extend({
	stateWords: stateWords,

	/* A card. act: { undo(change) } gives a promise, or null for who may only look. */
	card: function(change, act) {
		const trouble = E('div', { 'role': 'alert' });
		const canUndo = act && change.state == 'confirmed' && !change.undone_by;
		const undo = function(ev) {
			const button = ev.currentTarget;

			button.disabled = true;
			trouble.textContent = '';
			return act.undo(change).catch(function(fault) { trouble.appendChild(faultLine(fault)); })
				.finally(function() { button.disabled = false; });
		};

		return E('section', { 'class': 'oasis-card oasis-change', 'aria-label': _('Change'), 'data-change': change.id, 'data-state': change.state }, [
			E('div', { 'class': 'oasis-head' }, [
				E('strong', [ words.plain(change.summary) ]),
				E('span', { 'class': 'oasis-badge oasis-' + words.plain(change.state) }, [ stateWords(change) ])
			]),
			(change.services || []).length ? E('p', { 'class': 'oasis-small' }, [ change.services.map(service).join(' \u00b7 ') ]) : null,
			alarm(change), trouble,
			canUndo ? E('div', { 'class': 'oasis-foot' }, [
				E('button', { 'type': 'button', 'class': 'btn cbi-button cbi-button-neutral', 'click': undo }, [ _('Undo') ])
			]) : null
		].filter(Boolean));
	},

	/*
	 * The banner. ended(change) is called once for each change shown, when it is known how it ended.
	 * Gives { node, show(change), hide() }; a change already shown only has its clock set anew.
	 */
	banner: function(isReadonly, ended) {
		const left = E('strong', { 'class': 'oasis-clock', 'role': 'timer' });
		const bar = E('div', { 'class': 'oasis-bar-fill' });
		const text = E('p', { 'class': 'oasis-summary' });
		const note = E('div', { 'aria-live': 'polite' });
		const foot = E('div', { 'class': 'oasis-foot' });
		const node = E('section', { 'class': 'oasis-card oasis-pending', 'aria-label': _('Change waiting to be kept'), 'hidden': '' }, [
			E('div', { 'class': 'oasis-head' }, [ E('strong', [ _('Does everything still work?') ]), left ]),
			E('div', { 'class': 'oasis-bar', 'aria-hidden': 'true' }, [ bar ]),
			text,
			E('p', { 'class': 'oasis-small' }, [ _('The change is active. Without your word the earlier settings come back when the time is over.') ]),
			note, foot
		]);
		let shown = null, stop = null, look = null, whole_s = 1;

		const say = function(child) {
			note.textContent = '';
			if (child)
				note.appendChild(child);
		};

		const hide = function() {
			if (stop)
				stop();
			window.clearTimeout(look);
			shown = null;
			node.hidden = true;
		};

		const finish = function(change) {
			if (shown && shown.id == change.id) {
				hide();
				ended(change);
			}
		};

		const find = function(id) {
			return api.call('changes').then(function(reply) {
				return (reply.changes || []).filter(function(change) { return change.id == id; })[0];
			});
		};

		/* Ask how it stands until it is no longer waiting; while the network moves, an answer may take its time. */
		const watch = function(change, pause_ms) {
			window.clearTimeout(look);
			look = window.setTimeout(function() {
				const again = function() { if (shown && shown.id == change.id) watch(change, pause_ms); };

				if (!document.contains(node))
					return;
				if (document.hidden && pause_ms != AFTER_MS)
					return again();

				find(change.id).then(function(now) {
					if (now && now.state != 'applied')
						return finish(now);
					if (shown && pause_ms != AFTER_MS)
						say(null);
					again();
				}).catch(function(fault) {
					if (fault.code == 'transport' || fault.code == 'absent') {
						say(E('p', [ _('The router does not answer at the moment. If that lasts, the earlier settings come back by themselves.') ]));
						again();
					}
					else {
						say(faultLine(fault));
					}
				});
			}, pause_ms);
		};

		const run = function(seconds) {
			whole_s = Math.max(whole_s, seconds, 1);
			if (stop)
				stop();
			stop = words.countdown(node, seconds, function(left_s) {
				left.textContent = words.clock(left_s);
				bar.style.width = '%f%%'.format(100 * left_s / whole_s);
				node.classList.toggle('oasis-urgent', left_s <= 15);
			}, function() {
				foot.querySelectorAll('button').forEach(function(button) { button.disabled = true; });
				say(E('p', { 'class': 'spinning' }, [ _('Time is over: the earlier settings are being put back\u2026') ]));
				watch(shown, AFTER_MS);
			});
		};

		const press = function(verb, ev) {
			const buttons = foot.querySelectorAll('button'), button = ev.currentTarget, change = shown;

			buttons.forEach(function(item) { item.disabled = true; });
			button.classList.add('spinning');
			say(null);

			return api.call(verb, change.id).then(function(reply) {
				finish(reply.change);
			}).catch(function(fault) {
				buttons.forEach(function(item) { item.disabled = false; });
				say(faultLine(fault));
			}).finally(function() {
				button.classList.remove('spinning');
			});
		};

		if (!isReadonly) {
			foot.appendChild(E('button', { 'type': 'button', 'class': 'btn cbi-button cbi-button-negative', 'click': press.bind(null, 'rollback') }, [ _('Put back now') ]));
			foot.appendChild(E('button', { 'type': 'button', 'class': 'btn cbi-button cbi-button-positive important', 'click': press.bind(null, 'confirm') }, [ _('Keep') ]));
		}

		return {
			node: node,
			hide: hide,
			isShown: function() { return shown != null; },
			show: function(change) {
				if (!shown || shown.id != change.id) {
					whole_s = 1;
					say(null);
					foot.querySelectorAll('button').forEach(function(button) { button.disabled = false; });
				}
				shown = change;
				text.textContent = words.plain(change.summary);
				node.hidden = false;
				run(change.confirm_in_s);
				watch(change, LOOK_S * 1000);
			}
		};
	}
});
