'use strict';
'require baseclass';
'require rpc';

/*
 * The proof of life: after a change, ask the router over a connection that did not exist before, with the nonce that only the page
 * whose run made the change has. A page without it asks only whether its own login still reaches the router. The daemon judges the
 * result. This module knows no node.
 */

const SCRIPT = '/cgi-bin/oasis-alive';
/* uhttpd drops a connection after 20 s without a request; after this the browser must open a new one */
const IDLE_MS = 21000;
/* when the router does not answer */
const AGAIN_MS = 3000;
const ANSWER_MS = 20000;
/* which change this tab may prove: { change, nonce }; a tab's own store, so that another tab does not prove for it */
const KEY = 'oasis.alive';
const MARK = 'oasis-alive';
const FINAL = [ 'proved', 'login', 'unknown', 'loopback', 'stranger', 'denied', 'absent' ];

function stored() {
	try {
		return JSON.parse(window.sessionStorage.getItem(KEY)) || {};
	}
	catch (e) {
		return {};
	}
}

function store(change, nonce) {
	window.sessionStorage.setItem(KEY, JSON.stringify({ change: change, nonce: nonce }));
}

function nonceOf(id) {
	const known = stored();

	return known.change == id ? known.nonce : null;
}

/*
 * Show the daemon by which address this page reaches the router: a change must leave it open. It is sent over the page's own
 * connections: one opened for this would be an old one when a proof is needed.
 */
function reportAddress() {
	send('', { session: rpc.getSessionID() }, 'same-origin', 'same-origin').catch(function() {});
}

/* The address bar brings the nonce to the router's new address, through the login there, which drops what follows a #. */
function arrive() {
	const query = new URLSearchParams(window.location.search);
	const parts = (query.get(MARK) || '').split('.');

	reportAddress();

	if (parts.length != 2)
		return;
	store(parts[0], parts[1]);
	query.delete(MARK);
	window.history.replaceState(null, '', window.location.pathname + (query.toString() ? '?' + query : ''));
}

/* Cookies left out: browsers keep such requests on connections of their own, so the first one opens a new one. */
function send(origin, given, mode, credentials) {
	return window.fetch(origin + SCRIPT, {
		method: 'POST',
		body: JSON.stringify(given),
		cache: 'no-store',
		credentials: credentials,
		mode: mode,
		signal: window.AbortSignal && AbortSignal.timeout ? AbortSignal.timeout(ANSWER_MS) : undefined
	});
}

function post(origin, change, nonce, mode) {
	const session = rpc.getSessionID();

	return send(origin, nonce ? { change: change, nonce: nonce, session: session } : { session: session }, mode, 'omit');
}

/* The result for the login of a page that did not make the change. */
function ownResult(reply, change) {
	return reply.change != change ? 'unknown' : reply.proof == 'proved' ? 'login' : reply.proof;
}

async function ask(change, nonce) {
	const response = await post('', change, nonce, 'same-origin');

	if (response.status == 404)
		return 'absent';

	const reply = await response.json();
	return (nonce ? reply.alive : ownResult(reply, change)) || 'error';
}

function origin(address) {
	const port = window.location.port ? ':' + window.location.port : '';

	return '%s//%s%s'.format(window.location.protocol, address.indexOf(':') == -1 ? address : '[' + address + ']', port);
}

/* Whether a text from the daemon is an address; any other one becomes no link. */
function isAddress(text) {
	return (/^[0-9a-fA-F.:]{2,45}$/).test(text || '');
}

function pause(ms) {
	return new Promise(function(resolve) { window.setTimeout(resolve, ms); });
}

return baseclass.extend({
	arrive: arrive,

	/* Store the nonce of a change, if an event brought one. */
	remember: function(change) {
		if (change.nonce)
			store(change.id, change.nonce);
	},

	/* This page at the router's new address, able to prove the change there; null where it is no address. */
	address: function(change) {
		if (!isAddress(change.new_address))
			return null;

		const nonce = nonceOf(change.id);
		const query = nonce ? '?%s=%s.%s'.format(MARK, change.id, nonce) : '';

		return origin(change.new_address) + window.location.pathname + query;
	},

	/*
	 * Try until there is a final result. shown(result) gets each one: what the daemon says, or absent (the router has no such script),
	 * error (no judgement), silent (no answer), moved (the new address answers; from here its judgement cannot be read), login (this
	 * login reaches the router over a new connection, but did not make the change), unknown (this page does not know the change, nor does
	 * the router speak of it). While a change is being applied only its new address is asked. Gives an object with stop().
	 */
	prove: function(change, shown) {
		const self = { stopped: false, stop: function() { self.stopped = true; } };
		const nonce = nonceOf(change.id);

		const here = async function() {
			while (!self.stopped) {
				const result = await ask(change.id, nonce).catch(function() { return 'silent'; });

				if (self.stopped)
					return;
				shown(result);
				if (FINAL.indexOf(result) != -1)
					return;
				await pause(result == 'reused' ? IDLE_MS : AGAIN_MS);
			}
		};

		const there = async function() {
			while (!self.stopped) {
				const answered = await post(origin(change.new_address), change.id, nonce, 'no-cors')
					.then(function() { return true; }, function() { return false; });

				if (self.stopped)
					return;
				if (answered)
					return shown('moved');
				await pause(AGAIN_MS);
			}
		};

		if (change.state == 'applied')
			here();
		if (isAddress(change.new_address) && change.new_address != window.location.hostname)
			there();
		return self;
	}
});
