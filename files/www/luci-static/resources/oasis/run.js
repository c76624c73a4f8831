'use strict';
'require baseclass';
'require oasis.rpc as api';

/*
 * Follows a run: a loop of long polls that ends with the run, with the page, or by stop(). It sleeps while the tab is hidden (each call
 * renews the login, and a forgotten tab must not stay logged in), goes on after a broken connection, and never asks twice at once. It
 * knows no node but the one whose presence keeps it going.
 */

/* which run to rejoin after the page was left: { run, chat } */
const KEY = 'oasis.run';
const PAUSES_S = [ 1, 2, 4, 8, 15 ];
/* between polls that may not wait */
const SHORT_POLL_MS = 1000;
const OVER = [ 'done', 'cancelled', 'error' ];

/* Resolves after the time, or at once when the browser is online again or the tab comes to the front. */
function pause(ms) {
	return new Promise(function(resolve) {
		const finish = function() {
			window.clearTimeout(timer);
			window.removeEventListener('online', finish);
			document.removeEventListener('visibilitychange', finish);
			resolve();
		};
		const timer = window.setTimeout(finish, ms);

		window.addEventListener('online', finish);
		document.addEventListener('visibilitychange', finish);
	});
}

function visible() {
	if (!document.hidden)
		return Promise.resolve();

	return new Promise(function(resolve) {
		const look = function() {
			if (!document.hidden) {
				document.removeEventListener('visibilitychange', look);
				resolve();
			}
		};

		document.addEventListener('visibilitychange', look);
	});
}

return baseclass.extend({
	/* Store in this browser which run is followed in which chat. */
	remember: function(reply) {
		window.localStorage.setItem(KEY, JSON.stringify({ run: reply.run, chat: reply.chat }));
	},

	forget: function() {
		window.localStorage.removeItem(KEY);
	},

	/* Shape: { run, chat }, both absent when no run is followed. */
	remembered: function() {
		try {
			return JSON.parse(window.localStorage.getItem(KEY)) || {};
		}
		catch (e) {
			return {};
		}
	},

	/*
	 * Follow a run from its first event.
	 * watch: { events(list, reply, isFirst), trouble(fault, pause_s), end(state), lost(fault) }; exactly one of end and lost comes last,
	 * neither after stop().
	 * Gives an object with stop().
	 */
	follow: function(run, node, watch) {
		const self = { stopped: false, stop: function() { self.stopped = true; } };
		let since = 0, failures = 0, isFirst = true;

		const gone = function() {
			return self.stopped || !document.contains(node);
		};

		const take = function(reply) {
			const events = reply.events || [];
			const last = events.length ? events[events.length - 1] : null;

			failures = 0;
			since = reply.next != null ? reply.next : since;
			watch.events(events, reply, isFirst);
			isFirst = false;

			/* the state may be ahead of the events: it counts once nothing is left to read */
			if (last && last.type == 'end')
				return last.state || reply.state;
			return !events.length && OVER.indexOf(reply.state) != -1 ? reply.state : null;
		};

		const step = async function() {
			/* the first look must not wait: it fills the page */
			const wait_ms = isFirst ? 0 : api.wait_ms();
			const reply = await api.call('poll', run, since, wait_ms);

			/* a reply after stop() is dropped: the page may show another chat by now */
			if (gone())
				return null;

			const state = take(reply);

			if (state == null && wait_ms == 0 && api.wait_ms() == 0)
				await pause(SHORT_POLL_MS);
			return state;
		};

		const loop = async function() {
			for (;;) {
				await visible();
				if (gone())
					return;

				try {
					const state = await step();

					if (gone())
						return;
					if (state != null)
						return watch.end(state);
				}
				catch (error) {
					if (gone())
						return;
					if (error.code != 'transport' && error.code != 'absent')
						return watch.lost(error);

					const pause_s = PAUSES_S[Math.min(failures++, PAUSES_S.length - 1)];
					watch.trouble(error, pause_s);
					await pause(pause_s * 1000);
				}
			}
		};

		loop();
		return self;
	}
});
