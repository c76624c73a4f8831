'use strict';
'require baseclass';
'require oasis.markdown as markdown';
'require oasis.words as words';
'require oasis.plan as planCard';
'require oasis.change as changeCard';
'require oasis.refused as refusedCard';

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

function bubble(role, nodes) {
	return E('div', { 'class': 'oasis-message oasis-' + role }, [
		E('span', { 'class': 'oasis-who' }, [ role == 'user' ? _('You') : 'Oasis' ])
	].concat(nodes));
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

const Transcript = baseclass.extend({
	__init__: function(act, welcome) {
		this.act = act;
		this.welcome = welcome;
		this.node = E('div', { 'class': 'oasis-log', 'role': 'log', 'aria-live': 'polite', 'aria-label': _('Conversation'), 'tabindex': '0' });
		this.clear();
	},

	/* Show a chat from the start: its messages with its changes between them by time. */
	show: function(messages, changes) {
		const waiting = changes.slice().sort(function(a, b) { return a.when_unix_s - b.when_unix_s; });

		this.clear();
		messages.forEach(function(message) {
			const at_ms = message.role == 'user' ? words.time_ms(message.id) : null;

			while (waiting.length && at_ms != null && waiting[0].when_unix_s * 1000 < at_ms)
				this.change(waiting.shift());
			this.message(message);
		}, this);
		waiting.forEach(this.change, this);
		this.closeTurn();
		if (!this.node.firstChild)
			this.node.appendChild(this.welcome);
		this.toEnd();
	},

	/*
	 * Before the events of a running run are shown from their start: take away what of them is already stored.
	 * The owner's words stay, they are no event.
	 */
	rewind: function(events) {
		const isReset = events.some(function(event) { return event.type == 'reset'; });
		const ids = events.filter(function(event) { return event.type == 'message'; }).map(function(event) { return event.id; });
		const lastUser = this.stored.map(function(entry) { return entry.role; }).lastIndexOf('user');

		this.stored.forEach(function(entry, i) {
			if (entry.role != 'user' && (ids.indexOf(entry.id) != -1 || isReset && i > lastUser))
				entry.nodes.forEach(function(node) { node.remove(); });
		});
		events.filter(function(event) { return event.type == 'change' && this.changes[event.change.id]; }, this).forEach(function(event) {
			this.changes[event.change.id].remove();
			delete this.changes[event.change.id];
		}, this);
		this.tools = {};
	},

	/* Show events of a run in their order; kinds that are not known yet are passed over. */
	apply: function(events) {
		events.forEach(function(event) {
			const handler = this['on_' + event.type];

			if (handler)
				handler.call(this, event);
		}, this);
	},

	on_delta: function(event) { this.grow(event.text); },
	on_tool_use: function(event) { this.tool(event.id, event.name, event.input); },
	on_tool_result: function(event) { this.toolResult(event.tool_use_id, event.name, event.text, event.is_error); },
	on_message: function() { this.closeText(); },
	on_plan: function(event) { this.plan(event.plan); },
	on_refused: function(event) { this.refused(event); },
	on_approval: function(event) { if (this.plans[event.plan]) this.plans[event.plan].decide(event.decision); },
	on_change: function(event) { this.change(event.change); },
	on_error: function(event) { this.fault(event.error); },
	on_note: function(event) { this.note(event.text); },
	on_end: function() { this.closeText(); },

	/* Older events are gone: this is the whole text so far. */
	on_reset: function(event) {
		if (this.turn)
			this.turn.querySelectorAll('.oasis-text').forEach(function(node) { node.remove(); });
		this.live = null;
		this.grow(event.text);
	},

	/* --- what a chat holds --- */

	message: function(value) {
		this.made = [];

		if (value.role == 'user') {
			this.user(textOf(value.content));
		}
		else if (value.role == 'assistant' || value.role == 'tool') {
			this.openTurn();
			blocksOf(value).forEach(this.block, this);
		}

		this.stored.push({ id: value.id, role: value.role, nodes: this.made });
		this.made = [];
	},

	block: function(value) {
		if (value.type == 'text' && value.text)
			this.put(E('div', { 'class': 'oasis-text' }, markdown.nodes(value.text)));
		else if (value.type == 'tool_use')
			this.tool(value.id, value.name, value.input);
		else if (value.type == 'tool_result')
			this.toolResult(value.tool_use_id, value.name, textOf(value.content), value.is_error);
	},

	/* The owner's words; gives their node. */
	user: function(text) {
		this.closeTurn();
		const node = this.put(bubble('user', [ E('div', { 'class': 'oasis-text oasis-typed' }, [ text ]) ]));
		this.toEnd();
		return node;
	},

	/* Text of a model that goes on growing until something else comes. */
	grow: function(text) {
		const isFollowing = this.isAtEnd();

		this.openTurn();
		if (!this.live) {
			this.live = { node: this.put(E('div', { 'class': 'oasis-text', 'aria-busy': 'true' })), text: '' };
			this.live.view = markdown.live(this.live.node);
		}
		this.live.text += text;
		this.live.view.set(this.live.text);
		if (isFollowing)
			this.toEnd();
	},

	tool: function(id, name, input) {
		if (this.tools[id])
			return;

		this.closeText();
		this.openTurn();
		this.tools[id] = toolCard(name, input);
		this.put(this.tools[id].node);
	},

	/* A result may come without the call that it answers: then it has a card of its own. */
	toolResult: function(id, name, text, isError) {
		const key = id || 'result %d'.format(Object.keys(this.tools).length);

		this.tool(key, name || '?', null);
		this.tools[key].result(text, isError);
	},

	/* A plan already shown only has its clock set anew. */
	plan: function(value) {
		if (this.plans[value.id])
			return this.plans[value.id].expire_in(value.expires_in_s);

		this.closeText();
		this.plans[value.id] = planCard.card(value, this.act);
		this.unfold(this.put(this.plans[value.id].node));
	},

	/* What is only told has no id; what may be forced is shown once. */
	refused: function(value) {
		if (value.refused && this.refusals[value.refused])
			return;

		this.closeText();
		this.refusals[value.refused] = this.put(refusedCard.card(value, this.act));
	},

	/* A change already shown is shown anew in its place. */
	change: function(value) {
		const card = changeCard.card(value, this.act), old = this.changes[value.id];

		this.changes[value.id] = card;
		if (old)
			return old.replaceWith(card);

		this.closeText();
		this.put(card);
	},

	has: function(id) {
		return this.changes[id] != null;
	},

	fault: function(error) {
		this.closeText();
		this.put(E('div', { 'class': 'alert-message danger error oasis-error', 'role': 'alert' }, [
			E('strong', [ words.plain(error.message) ]), E('div', [ words.plain(error.hint) ])
		]));
	},

	note: function(text) {
		this.closeTurn();
		this.put(E('p', { 'class': 'oasis-note' }, [ words.plain(text) ]));
	},

	/* --- where it goes --- */

	clear: function() {
		this.tools = {};
		this.plans = {};
		this.refusals = {};
		this.changes = {};
		this.stored = [];
		this.made = [];
		this.live = null;
		this.turn = null;
		this.node.textContent = '';
	},

	/* Put a node into the turn that grows, or behind everything. */
	put: function(node) {
		const isFollowing = this.isAtEnd();

		this.welcome.remove();
		(this.turn || this.node).appendChild(node);
		this.made.push(node);
		if (isFollowing)
			this.toEnd();
		return node;
	},

	openTurn: function() {
		this.turn = this.turn || this.put(bubble('assistant', []));
	},

	closeTurn: function() {
		this.closeText();
		this.turn = null;
	},

	closeText: function() {
		if (this.live)
			this.live.node.removeAttribute('aria-busy');
		this.live = null;
	},

	isAtEnd: function() {
		return this.node.scrollHeight - this.node.scrollTop - this.node.clientHeight < FOLLOW_PX;
	},

	toEnd: function() {
		this.node.scrollTop = this.node.scrollHeight;
	},

	/* A card that would not fit keeps its differences folded, so that question and buttons stay in sight. */
	unfold: function(card) {
		if (card.offsetHeight > this.node.clientHeight)
			card.querySelectorAll('.oasis-diff').forEach(function(part) { part.open = false; });
		if (card.offsetHeight > this.node.clientHeight)
			this.node.scrollTop += card.getBoundingClientRect().top - this.node.getBoundingClientRect().top - CARD_GAP_PX;
	}
});

return baseclass.extend({
	/* act: { approve, decline, force, undo } or null for who may only look; welcome: node shown in an empty chat. */
	create: function(act, welcome) {
		return new Transcript(act, welcome);
	}
});
