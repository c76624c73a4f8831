'use strict';
'require baseclass';
'require rpc';

/*
 * The daemon's methods as calls that give the reply object or reject with a fault, and files, which it takes in pieces.
 * A fault is an Error with `code`, `message`, `hint`. Codes made here: session (log in again), denied (no right),
 * absent (the daemon is not running), missing (an optional part), transport (try again). Every other code is the daemon's own.
 * This module knows no node of the page.
 */

/* LuCI asks uhttpd directly below this address; elsewhere each call occupies one of its few script slots. */
const DIRECT_URL = '/ubus/';
/* uhttpd takes 64 KiB with frame and session */
const MESSAGE_MAX_BYTES = 60 * 1024;
/* LuCI gives up on a call after 20 s */
const WAIT_MS = 15000;
/* 48 KiB in base64, what a piece may have */
const PIECE_BYTES = 36 * 1024;
const CODE = /failed with error (-?\d+)/;
const STATUS = /failed with ubus code (\d+)/;
/* ubus: resource not found, no data, connection lost; each while the daemon starts or stops */
const GONE = [ '4', '5', '10' ];
/* what belongs to an optional part, by the first name of its methods */
const OPTIONAL = { schedule: 'schedule', memory: 'memory', knowledge: 'memory', telegram: 'telegram', wireguard: 'admin' };

/* the language of these pages, in which the daemon says what it has to say; it speaks English by itself */
const LANGUAGE = (document.documentElement.lang || 'en').slice(0, 2).toLowerCase();

function declare(object, method, params, nobatch) {
	const call = rpc.declare({
		object: object,
		method: method,
		params: LANGUAGE == 'en' ? params : (params || []).concat('lang'),
		expect: { '': {} },
		nobatch: nobatch,
		reject: true
	});

	call.names = params;
	call.part = OPTIONAL[object.split('.')[1]];
	return call;
}

const calls = {
	info: declare('oasis', 'info'),
	chats: declare('oasis.chat', 'list'),
	chat: declare('oasis.chat', 'load', [ 'id', 'head', 'before', 'limit' ]),
	tree: declare('oasis.chat', 'tree', [ 'id' ]),
	search: declare('oasis.chat', 'search', [ 'text', 'limit' ], true),
	rename_chat: declare('oasis.chat', 'rename', [ 'id', 'title' ], true),
	archive_chat: declare('oasis.chat', 'archive', [ 'id', 'archived' ], true),
	remove_chat: declare('oasis.chat', 'delete', [ 'id' ], true),
	forget: declare('oasis.chat', 'forget', [ 'message', 'chat' ], true),
	export_chat: declare('oasis.chat', 'export', [ 'id', 'form', 'head', 'part' ], true),
	import_chat: declare('oasis.chat', 'import', [ 'upload' ], true),
	import_old: declare('oasis.upstream', 'import', [], true),
	bookmarks: declare('oasis.bookmark', 'list', [ 'chat' ]),
	set_bookmark: declare('oasis.bookmark', 'set', [ 'name', 'message', 'chat', 'move' ], true),
	remove_bookmark: declare('oasis.bookmark', 'delete', [ 'name', 'chat' ], true),
	topics: declare('oasis.topic', 'list'),
	add_topic: declare('oasis.topic', 'add', [ 'title', 'text' ], true),
	change_topic: declare('oasis.topic', 'update', [ 'key', 'title', 'text' ], true),
	remove_topic: declare('oasis.topic', 'delete', [ 'key' ], true),
	upload: declare('oasis.upload', 'part', [ 'upload', 'name', 'data', 'is_last' ], true),
	drop_upload: declare('oasis.upload', 'drop', [ 'upload' ], true),
	packages: declare('oasis.config', 'list'),
	attach_package: declare('oasis.config', 'attach', [ 'package' ], true),
	keep_secret: declare('oasis.secret', 'keep', [ 'value' ], true),
	services: declare('oasis.service', 'list'),
	select_service: declare('oasis.service', 'select', [ 'identifier' ], true),
	providers: declare('oasis.service', 'providers'),
	add_service: declare('oasis.service', 'add', [ 'name', 'endpoint', 'model', 'key' ], true),
	change_service: declare('oasis.service', 'change', [
		'identifier', 'name', 'position', 'model', 'endpoint', 'tool_mode', 'thinking', 'temperature', 'search', 'max_tokens', 'context_tokens'
	], true),
	remove_service: declare('oasis.service', 'delete', [ 'identifier' ], true),
	set_key: declare('oasis.service', 'key', [ 'identifier', 'key' ], true),
	test_service: declare('oasis.service', 'test', [ 'identifier' ], true),
	find_servers: declare('oasis.setup', 'find', [], true),
	privacy: declare('oasis.privacy', 'show', [ 'message', 'chat', 'service', 'part' ], true),
	service_models: declare('oasis.service', 'models', [ 'identifier' ], true),
	aliases: declare('oasis.alias', 'list'),
	set_alias: declare('oasis.alias', 'set', [ 'name', 'targets' ], true),
	remove_alias: declare('oasis.alias', 'delete', [ 'name' ], true),
	usage: declare('oasis.usage', 'list', [ 'month' ]),
	set_budget: declare('oasis.usage', 'limit', [ 'budget_tokens', 'budget_cost', 'currency' ], true),
	set_price: declare('oasis.usage', 'price', [ 'service', 'model', 'input', 'output', 'cached' ], true),
	chat_usage: declare('oasis.usage', 'chat', [ 'id' ], true),
	changes: declare('oasis.change', 'list'),
	change: declare('oasis.change', 'load', [ 'change' ], true),
	pending: declare('oasis.change', 'pending', [], true),
	confirm: declare('oasis.change', 'confirm', [ 'change', 'unproved' ], true),
	extend: declare('oasis.change', 'extend', [ 'change' ], true),
	rollback: declare('oasis.change', 'rollback', [ 'change' ], true),
	undo: declare('oasis.change', 'undo', [ 'change', 'skip_conflicts' ], true),
	approve: declare('oasis.plan', 'approve', [ 'plan', 'hash', 'word' ], true),
	force: declare('oasis.plan', 'force', [ 'refused', 'force' ], true),
	decline: declare('oasis.plan', 'decline', [ 'plan', 'reason' ], true),
	audit: declare('oasis.audit', 'list', [ 'limit', 'skip' ], true),
	verify_audit: declare('oasis.audit', 'verify', [], true),
	tools: declare('oasis.tool', 'list', [], true),
	set_tool: declare('oasis.tool', 'set', [ 'name', 'enabled', 'approval' ], true),
	jobs: declare('oasis.schedule', 'list', [], true),
	add_job: declare('oasis.schedule', 'add', [ 'when', 'wish' ], true),
	change_job: declare('oasis.schedule', 'change', [ 'id', 'when', 'wish' ], true),
	switch_job: declare('oasis.schedule', 'change', [ 'id', 'enabled' ], true),
	remove_job: declare('oasis.schedule', 'delete', [ 'id' ], true),
	run_job: declare('oasis.schedule', 'run', [ 'id' ], true),
	approve_job: declare('oasis.schedule', 'approve', [ 'id' ], true),
	facts: declare('oasis.memory', 'list', [], true),
	add_fact: declare('oasis.memory', 'add', [ 'fact' ], true),
	change_fact: declare('oasis.memory', 'change', [ 'id', 'fact' ], true),
	forget_fact: declare('oasis.memory', 'forget', [ 'id' ], true),
	forget_facts: declare('oasis.memory', 'forget', [ 'all' ], true),
	learn: declare('oasis.memory', 'set', [ 'extract' ], true),
	documents: declare('oasis.knowledge', 'list', [], true),
	add_document: declare('oasis.knowledge', 'add', [ 'title', 'text', 'upload', 'url' ], true),
	remove_document: declare('oasis.knowledge', 'delete', [ 'id' ], true),
	find: declare('oasis.knowledge', 'search', [ 'query', 'limit' ], true),
	embed: declare('oasis.knowledge', 'embed', [], true),
	notices: declare('oasis.notice', 'list', [], true),
	messenger: declare('oasis.telegram', 'list', [], true),
	pair: declare('oasis.telegram', 'pair', [ 'who' ], true),
	unpair: declare('oasis.telegram', 'forget', [ 'id' ], true),
	new_secret: declare('oasis.telegram', 'secret', [], true),
	keep_code: declare('oasis.telegram', 'secret', [ 'code' ], true),
	set_enabled: declare('oasis.telegram', 'set', [ 'enabled' ], true),
	set_approve: declare('oasis.telegram', 'set', [ 'approve' ], true),
	set_notices: declare('oasis.telegram', 'set', [ 'notices' ], true),
	wireguard: declare('oasis.wireguard', 'list', [], true),
	change_wireguard: declare('oasis.wireguard', 'change', [ 'action', 'name', 'interface' ], true),
	show_wireguard: declare('oasis.wireguard', 'show', [ 'name', 'interface', 'home' ], true),
	set_endpoint: declare('oasis.wireguard', 'endpoint', [ 'host' ], true),
	examine: declare('oasis.doctor', 'run', [], true),
	fix: declare('oasis.doctor', 'fix', [ 'finding' ], true),
	start: declare('oasis.run', 'start', [ 'message', 'chat', 'continues', 'options', 'topic', 'attachments', 'head' ], true),
	cancel: declare('oasis.run', 'cancel', [ 'run' ], true),
	poll: declare('oasis.run', 'poll', [ 'run', 'since', 'wait_ms' ], true)
};

function fault(code, message, hint) {
	const error = new Error(message);

	error.name = 'OasisFault';
	error.code = code;
	error.hint = hint || '';
	return error;
}

function absent() {
	return fault('absent', _('Oasis is not running on this router.'),
		_('Start the service "oasis" under System, Startup, or wait a moment if it is just starting.'));
}

function explain(error) {
	const text = String(error && error.message || error);
	const code = (CODE.exec(text) || [])[1];
	const status = (STATUS.exec(text) || [])[1];

	if (error && error.name == 'OasisFault')
		return error;
	if (error && error.name == 'SessionError' || text == 'Session expired')
		return fault('session', _('Your session has ended.'), _('What you typed is kept. Log in again to go on.'));
	if (code == '-32002' || status == '6')
		return fault('denied', _('This login may not do that.'), _('Log in again, as a user with write access to Oasis.'));
	if (code == '-32000' || GONE.indexOf(status) != -1)
		return absent();
	if (status == '2' || status == '3')
		return fault('mismatch', _('Page and service do not fit together.'), _('Reload the page; after an update restart the service "oasis".'));

	return fault('transport', _('The router does not answer.'), _('Check the connection; the page tries again.'));
}

/*
 * What to say of an optional part that the daemon does not use. one: { part, message, hint, refused } of the reply to info.
 * Gives { title, text, hint }; where the package is there and refused, these are the daemon's own words.
 */
function missing(one) {
	const titles = {
		admin: _('WireGuard, keys, password and firmware'),
		lua: _('Compatibility with the Lua Oasis'), mcp: _('MCP servers and clients'), memory: _('Memory, documents and skills'),
		offline: _('The built-in service, without a model'), schedule: _('The schedule'), telegram: _('The messenger')
	};

	const title = !one.refused && titles[one.part] || one.message;

	return { title: title, text: one.refused ? title : _('%s: not installed.').format(title), hint: one.hint };
}

/* A call failed since nobody answers to its name, or this login has no right to it: where its part is missing, that is the reason. */
function whether(part, error) {
	if (!part || [ 'absent', 'denied' ].indexOf(error.code) == -1)
		throw error;
	return call('info').catch(function() { throw error; }).then(function(reply) {
		const one = (reply.missing || []).find(function(one) { return one.part == part; }), said = one && missing(one);

		throw said ? fault('missing', said.text, said.hint) : error;
	});
}

/* Call a method of the table above by its name. */
function call(name) {
	const args = Array.prototype.slice.call(arguments, 1);

	/* English pages declare no such argument, and it goes nowhere */
	args[(calls[name].names || []).length] = LANGUAGE;
	return calls[name].apply(calls, args).then(function(reply) {
		if (reply.error)
			throw fault(reply.error.code || 'error', reply.error.message || _('Unknown error'), reply.error.hint);
		return reply;
	}).catch(function(error) {
		return whether(calls[name].part, explain(error));
	});
}

function base64(buffer) {
	const bytes = new Uint8Array(buffer);
	let text = '';

	/* a call takes only so many arguments */
	for (let at = 0; at < bytes.length; at += 8192)
		text += String.fromCharCode.apply(null, bytes.subarray(at, at + 8192));
	return window.btoa(text);
}

return baseclass.extend({
	/* Call a method of the table by its name. */
	call: call,

	/* The same with the arguments by their names; those that are left out are not sent. */
	named: function(name, values) {
		return call.apply(null, [ name ].concat((calls[name].names || []).map(function(key) { return values[key]; })));
	},

	/* The same as { value } or { fault }, never rejected: one missing part must not keep the page away. */
	settled: function() {
		return call.apply(null, arguments).then(function(value) { return { value: value }; }, function(fault) { return { fault: fault }; });
	},

	/* Milliseconds that a poll may wait for news: none where a waiting call would block the whole of LuCI. */
	wait_ms: function() {
		return rpc.getBaseURL() == DIRECT_URL ? WAIT_MS : 0;
	},

	/* Tell whether a message fits into one request. */
	fits: function(message) {
		return new TextEncoder().encode(JSON.stringify(message)).length <= MESSAGE_MAX_BYTES;
	},

	/*
	 * Send a file; moved(part of 1) is called on the way.
	 * Gives { done: promise of the last reply ({ upload, size_bytes, media_type? }), never settled once stopped, stop() }.
	 */
	send: function(file, moved) {
		let isStopped = false, isBusy = false, id;

		/* the part that was sent takes the room of another file; a daemon that was stopped has dropped it anyway */
		const forget = function() {
			if (id)
				call('drop_upload', id).catch(function() {});
		};

		const work = async function(resolve) {
			let reply = {}, at = 0;

			do {
				const end = Math.min(at + PIECE_BYTES, file.size);
				const data = base64(await file.slice(at, end).arrayBuffer());

				if (isStopped)
					return;
				isBusy = true;
				try {
					reply = await call('upload', reply.upload, file.name, data, end >= file.size);
				}
				finally {
					isBusy = false;
				}
				id = reply.upload;
				if (isStopped)
					return forget();
				at = end;
				moved(at / file.size);
			} while (at < file.size);

			resolve(reply);
		};

		return {
			done: new Promise(function(resolve, reject) {
				if (!file.size)
					return reject(fault('usage', _('The file is empty.')));
				work(resolve).catch(function(error) {
					/* the file itself may be gone or not readable */
					reject(error.code ? error : fault('file', _('The file cannot be read.')));
				});
			}),

			/* Also for a file that was sent, but goes along with no message. */
			stop: function() {
				isStopped = true;
				if (!isBusy)
					forget();
			}
		};
	},

	missing: missing,
	fault: fault
});
