'use strict';
'require baseclass';
'require oasis.markdown as markdown';
'require oasis.words as words';
'require oasis.plan as planCard';
'require oasis.change as changeCard';

/*
 * What was said and done in one chat, as nodes: stored messages first, then the events of a run as they come.
 * It knows no daemon; plans and changes are shown once by their id, wherever they come from.
 */

/* close enough to the end to go on following it */
const FOLLOW_PX = 80;
/* left above a card that is higher than the conversation's box */
const CARD_GAP_PX = 8;
const TOOL_TEXT_MAX = 20000;

function blocksOf(message) {
	return Array.isArray(message.content) ? message.content : [ { type: 'text', text: message.content || '' } ];
}

function textOf(content) {
	if (!Array.isArray(content))
		return String(content == null ? '' : content);

	return content.map(function(block) { return block.text || ''; }).join('\n');
}

/* A tool's arguments for reading: one line each, commands as they are. */
function inputWords(input) {
	return Object.keys(input || {}).map(function(key) {
		const value = input[key];

		if (Array.isArray(value) && value.every(function(item) { return typeof(item) == 'string'; }))
			return value.length ? '%s:\n  %s'.format(key, value.join('\n  ')) : null;
		return '%s: %s'.format(key, typeof(value) == 'string' ? value : JSON.stringify(value));
	}).filter(function(line) { return line != null; }).join('\n');
}

/* A tool's answer for reading: JSON with its lines broken, anything else as it is. */
function resultWords(text) {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	}
	catch (e) {
		return text;
	}
}

function toolCard(name, input) {
	const state = E('span', { 'class': 'oasis-count' }, [ _('running\u2026') ]);
	const about = inputWords(input);
	const body = E('div', about ? [ E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, [ words.plain(about) ]) ] : []);
	const node = E('details', { 'class': 'oasis-tool' }, [
		E('summary', [ E('code', [ words.plain(name) ]), ' ', state ]), body
	]);

	return {
		node: node,
		result: function(text, isError) {
			const whole = words.plain(resultWords(text));

			node.classList.toggle('oasis-failed', !!isError);
			state.textContent = isError ? _('failed') : _('done');
			body.appendChild(E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, [
				whole.length > TOOL_TEXT_MAX ? whole.slice(0, TOOL_TEXT_MAX) + '\u2026' : whole
			]));
		}
	};
}

return baseclass.extend({
	/* act: { approve, decline, undo } or null; welcome: node shown in an empty chat. */
	create: function(act, welcome) {
		const log = E('div', { 'class': 'oasis-log', 'role': 'log', 'aria-live': 'polite', 'aria-label': _('Conversation'), 'tabindex': '0' });
		let tools, plans, changes, stored, live, turn, made = [];

		const clear = function() {
			tools = {}; plans = {}; changes = {}; stored = []; live = null; turn = null;
			log.textContent = '';
		};

		const isAtEnd = function() {
			return log.scrollHeight - log.scrollTop - log.clientHeight < FOLLOW_PX;
		};

		const toEnd = function() {
			log.scrollTop = log.scrollHeight;
		};

		/* Put a node into the turn that grows, or behind everything. */
		const put = function(node) {
			const follow = isAtEnd();

			if (welcome && welcome.parentNode)
				welcome.remove();
			(turn || log).appendChild(node);
			made.push(node);
			if (follow)
				toEnd();
			return node;
		};

		const bubble = function(role, nodes) {
			return E('div', { 'class': 'oasis-message oasis-' + role }, [
				E('span', { 'class': 'oasis-who' }, [ role == 'user' ? _('You') : 'Oasis' ])
			].concat(nodes));
		};

		const openTurn = function() {
			turn = turn || put(bubble('assistant', []));
			return turn;
		};

		/* A card that would not fit keeps its differences folded, so that question and buttons stay in sight. */
		const unfold = function(card) {
			if (card.offsetHeight > log.clientHeight)
				card.querySelectorAll('.oasis-diff').forEach(function(part) { part.open = false; });
			if (card.offsetHeight > log.clientHeight)
				log.scrollTop += card.getBoundingClientRect().top - log.getBoundingClientRect().top - CARD_GAP_PX;
		};

		const closeText = function() {
			if (live)
				live.node.removeAttribute('aria-busy');
			live = null;
		};

		const grow = function(text) {
			const follow = isAtEnd();

			openTurn();
			if (!live) {
				live = { node: E('div', { 'class': 'oasis-text', 'aria-busy': 'true' }), text: '' };
				live.view = markdown.live(live.node);
				put(live.node);
			}
			live.text += text;
			live.view.set(live.text);
			if (follow)
				toEnd();
		};

		const tool = function(id, name, input) {
			if (tools[id])
				return;
			closeText();
			openTurn();
			tools[id] = toolCard(name, input);
			put(tools[id].node);
		};

		/* A result may come without the call that it answers: then it has a card of its own. */
		const toolResult = function(id, name, text, isError) {
			const key = id || 'result %d'.format(Object.keys(tools).length);

			tool(key, name || '?', null);
			tools[key].result(text, isError);
		};

		const plan = function(value) {
			if (plans[value.id])
				return plans[value.id].expire_in(value.expires_in_s);
			closeText();
			plans[value.id] = planCard.card(value, act);
			unfold(put(plans[value.id].node));
		};

		const change = function(value) {
			const card = changeCard.card(value, act), old = changes[value.id];

			changes[value.id] = card;
			if (old)
				return old.replaceWith(card);
			closeText();
			put(card);
		};

		const fault = function(error) {
			closeText();
			put(E('div', { 'class': 'alert-message danger error oasis-error', 'role': 'alert' }, [
				E('strong', [ words.plain(error.message) ]),
				error.hint ? E('div', [ words.plain(error.hint) ]) : null
			].filter(Boolean)));
		};

		const note = function(text) {
			closeText();
			turn = null;
			put(E('p', { 'class': 'oasis-note' }, [ words.plain(text) ]));
		};

		const user = function(text) {
			closeText();
			turn = null;
			const node = put(bubble('user', [ E('div', { 'class': 'oasis-text oasis-typed' }, [ text ]) ]));
			toEnd();
			return node;
		};

		const block = function(value) {
			if (value.type == 'text' && value.text)
				put(E('div', { 'class': 'oasis-text' }, markdown.nodes(value.text)));
			else if (value.type == 'tool_use')
				tool(value.id, value.name, value.input);
			else if (value.type == 'tool_result')
				toolResult(value.tool_use_id, value.name, textOf(value.content), value.is_error);
		};

		const message = function(value) {
			made = [];

			if (value.role == 'user') {
				user(textOf(value.content));
			}
			else if (value.role == 'assistant' || value.role == 'tool') {
				openTurn();
				blocksOf(value).forEach(block);
			}

			stored.push({ id: value.id, role: value.role, nodes: made });
			made = [];
		};

		const handlers = {
			delta: function(event) { grow(event.text); },
			tool_use: function(event) { tool(event.id, event.name, event.input); },
			tool_result: function(event) { toolResult(event.tool_use_id, event.name, event.text, event.is_error); },
			message: function() { closeText(); },
			plan: function(event) { plan(event.plan); },
			approval: function(event) { if (plans[event.plan]) plans[event.plan].decide(event.decision); },
			change: function(event) { change(event.change); },
			error: function(event) { fault(event.error); },
			note: function(event) { note(event.text); },
			reset: function(event) {
				if (turn)
					turn.querySelectorAll('.oasis-text').forEach(function(node) { node.remove(); });
				live = null;
				grow(event.text);
			},
			end: function() { closeText(); }
		};

		clear();

		return {
			node: log,
			user: user,
			fault: fault,
			plan: plan,
			change: change,
			toEnd: toEnd,
			isAtEnd: isAtEnd,

			has: function(kind, id) { return (kind == 'plan' ? plans : changes)[id] != null; },

			note: note,

			/* Show a chat from the start: its messages with its changes between them by time. */
			show: function(messages, chatChanges) {
				const waiting = chatChanges.slice().sort(function(a, b) { return a.when_unix_s - b.when_unix_s; });

				clear();
				messages.forEach(function(value) {
					const at_ms = words.time_ms(value.id);

					while (waiting.length && at_ms != null && waiting[0].when_unix_s * 1000 < at_ms && value.role == 'user')
						change(waiting.shift());
					message(value);
				});
				waiting.forEach(change);
				closeText();
				turn = null;
				if (!log.firstChild && welcome)
					log.appendChild(welcome);
				toEnd();
			},

			/*
			 * Before the events of a running run are shown from their start: take away what of them is already stored.
			 * The owner's words stay, they are no event.
			 */
			rewind: function(events) {
				const isReset = events.some(function(event) { return event.type == 'reset'; });
				const ids = events.filter(function(event) { return event.type == 'message'; }).map(function(event) { return event.id; });
				const lastUser = stored.map(function(entry) { return entry.role; }).lastIndexOf('user');

				stored.forEach(function(entry, i) {
					if (entry.role != 'user' && (ids.indexOf(entry.id) != -1 || isReset && i > lastUser))
						entry.nodes.forEach(function(node) { node.remove(); });
				});
				events.forEach(function(event) {
					const id = event.type == 'change' ? event.change.id : null;

					if (changes[id]) {
						changes[id].remove();
						delete changes[id];
					}
				});
				tools = {};
			},

			/* Show events of a run in their order. */
			apply: function(events) {
				events.forEach(function(event) {
					if (handlers[event.type])
						handlers[event.type](event);
				});
			}
		};
	}
});
