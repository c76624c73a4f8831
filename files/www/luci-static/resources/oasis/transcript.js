'use strict';
'require baseclass';
'require oasis.markdown as markdown';
'require oasis.blocks as blocks';
'require oasis.events as events';
'require oasis.sight as sight';
'require oasis.controls as controls';
'require oasis.footer as footer';
'require oasis.words as words';
'require oasis.plan as planCard';
'require oasis.change as changeCard';
'require oasis.refused as refusedCard';

/*
 * What was said and done in one chat, as nodes: stored messages first, then the events of a run as they come.
 * It knows no daemon; plans and changes are shown once by their id, wherever they come from. Only a part of a long thread
 * may be here: what stands before it is put in front when it is asked for.
 */

/* what the daemon marks the words of an imported chat with */
const IMPORTED = 'an imported chat';

const Transcript = baseclass.extend({
	__init__: function(act, welcome, isWriter, sourceOf) {
		this.act = act;
		this.cards = isWriter ? act : null;
		this.isWriter = isWriter;
		this.sourceOf = sourceOf;
		this.welcome = welcome;
		this.node = E('div', { 'class': 'oasis-log', 'role': 'log', 'aria-live': 'polite', 'aria-label': _('Conversation'), 'tabindex': '0' });
		this.clear();
	},

	/* Show a thread: its newest messages (a reply of chat.load) with the chat's changes between them by time. */
	show: function(page, changes) {
		this.clear();
		this.held = changes.slice().sort(function(a, b) { return a.when_unix_s - b.when_unix_s; });
		this.part(page);
		this.closeTurn();
		if (!this.node.firstChild)
			this.node.appendChild(this.welcome);
		this.offerEarlier(page.earlier);
		this.toEnd();
	},

	/* Put the part of the thread before the one that is shown in front of it; what is in sight stays where it is. */
	prepend: function(page) {
		const later = this.stored, turn = this.turn, live = this.live, below_px = this.node.scrollHeight - this.node.scrollTop;

		this.node.setAttribute('aria-live', 'off');
		this.more.remove();
		this.stored = [];
		this.turn = this.live = null;
		this.place = document.createDocumentFragment();
		this.part(page);
		this.closeTurn();
		this.node.insertBefore(this.place, this.node.firstChild);
		this.place = this.node;
		this.stored = this.stored.concat(later);
		this.turn = turn;
		this.live = live;
		this.offerEarlier(page.earlier);
		this.node.scrollTop = this.node.scrollHeight - below_px;
		this.node.setAttribute('aria-live', 'polite');
	},

	/*
	 * A change stands with the message that it answers. Where that is not known, the clock says where; it counts whole seconds, and within
	 * one the change is the later. Changes from before this part wait for the part that they belong to.
	 */
	part: function(page) {
		const messages = page.messages || [], ids = messages.map(function(message) { return message.id; });
		const second = function(id) { return Math.floor(words.time_ms(id) / 1000); };
		const from_s = page.earlier && messages.length ? second(ids[0]) : 0;
		const isHere = function(change) { return ids.indexOf(change.message) != -1 || change.when_unix_s >= from_s; };
		let due = this.held.filter(isHere);

		this.held = this.held.filter(function(change) { return !isHere(change); });
		this.siblings = page.siblings || {};
		messages.forEach(function(message, at) {
			const isBefore = function(change) {
				const own = ids.indexOf(change.message);

				return own == -1 ? change.when_unix_s < second(message.id) : own < at;
			};

			if (message.role == 'user') {
				due.filter(isBefore).forEach(this.change, this);
				due = due.filter(function(change) { return !isBefore(change); });
			}
			this.message(message);
		}, this);
		due.forEach(this.change, this);
		this.siblings = {};
	},

	offerEarlier: function(count) {
		this.more.remove();
		this.more = E('p', { 'class': 'oasis-note' }, [
			controls.button(_('Show earlier messages (%d)').format(count || 0), '', L.bind(function(ev) { this.act.earlier(ev.currentTarget); }, this))
		]);
		if (count)
			this.node.insertBefore(this.more, this.node.firstChild);
	},

	/* Before the events of a running run are shown from their start. */
	rewind: function(list) { events.rewind(this, list); },

	/* Show events of a run. */
	apply: function(list) { events.apply(this, list); },

	/* Older events are gone: this is the whole text so far. */
	restart: function(text) {
		if (this.turn)
			this.turn.node.querySelectorAll('.oasis-text').forEach(function(node) { node.remove(); });
		this.live = null;
		this.grow(text);
	},

	/* --- what a chat holds --- */

	/* One that cannot be drawn is shown as the text that it holds: what comes after it, plans and changes too, does not depend on it. */
	message: function(value) {
		this.made = [];
		try {
			this.draw(value);
		}
		catch (e) {
			console.error(e);
			this.put(blocks.plain(value));
		}
		this.stored.push({ id: value.id, role: value.role, nodes: this.made });
		this.made = [];
	},

	draw: function(value) {
		const isForgotten = blocks.isForgotten(value);
		const isImported = (value.taint || []).indexOf(IMPORTED) != -1;

		if (value.role == 'user') {
			/* an answer has the mark of all that stood before it, so the owner's words decide */
			this.isImported = isImported;
			this.user(isForgotten ? null : blocks.text(value.content), blocks.files(value), value);
		}
		else if (value.role == 'assistant' || value.role == 'tool') {
			this.openTurn('');
			this.turn.isImported = this.isImported == null ? isImported : this.isImported;
			this.join(value.id, value);
			if (isForgotten)
				this.put(E('p', { 'class': 'oasis-gone' }, [ _('Removed by you') ]));
			else
				blocks.of(value).forEach(this.block, this);
			if (value.error)
				this.ended(value.error);
		}

		else if (value.role == 'system') {
			this.closeTurn();
			this.put(blocks.told(value));
		}
	},

	block: function(value) {
		if (value.type == 'text' && value.text)
			this.put(E('div', { 'class': 'oasis-text' }, markdown.nodes(value.text)));
		else if (value.type == 'tool_use')
			this.tool(value.id, value.name, value.input);
		else if (value.type == 'tool_result')
			this.toolResult(value.tool_use_id, value.name, blocks.text(value.content), value.is_error);
		else if (value.type == 'image' || value.type == 'document')
			this.put(controls.file(value));
	},

	/* How a stored exchange broke off. */
	ended: function(error) {
		if (error.code == 'cancelled')
			this.put(E('p', { 'class': 'oasis-gone' }, [ _('Stopped') ]));
		else
			this.fault(error);
	},

	/* The owner's words, null when he took them away; without `stored` its id comes with an event. Gives the node. */
	user: function(text, files, stored) {
		this.closeTurn();
		const node = blocks.bubble('user', [
			text == null ? E('p', { 'class': 'oasis-gone' }, [ _('Removed by you') ])
				: E('div', { 'class': 'oasis-text oasis-typed' }, [ words.visible(text) ])
		]);
		const entry = { node: node, role: 'user', text: text, ids: [], isForgotten: text == null, isImported: stored && this.isImported };

		if (files && files.length)
			node.appendChild(E('div', { 'class': 'oasis-files' }, files.map(controls.file)));
		this.put(node);
		if (stored)
			this.sign(entry, stored.id, stored);
		else
			this.unsigned = entry;
		this.toEnd();
		return node;
	},

	/* A message of this run was stored under an id. */
	named: function(event) {
		this.closeText();
		if (event.role == 'user' && this.unsigned) {
			this.sign(this.unsigned, event.id, { continues: this.stored.slice(-1).map(function(entry) { return entry.id; }) });
			this.stored.push({ id: event.id, role: 'user', nodes: [ this.unsigned.node ] });
			this.unsigned = null;
		}
		else if (event.role != 'user' && this.turn) {
			this.join(event.id, {});
			this.stored.push({ id: event.id, role: event.role, nodes: this.turn.ids.length == 1 ? [ this.turn.node ] : [] });
		}
	},

	/* One message more of the turn that grows. */
	join: function(id, stored) {
		const turn = this.turn, text = stored.content ? blocks.text(stored.content) : '';

		turn.ids.push(id);
		turn.parents = stored.continues || [];
		turn.siblings = turn.siblings || this.siblings[id];
		turn.text = text || turn.text;
		turn.isForgotten = blocks.isForgotten(stored);
		turn.source = stored.provider ? this.sourceOf(stored) : turn.source;
	},

	/* Write the line below a message. */
	sign: function(entry, id, stored) {
		entry.id = id;
		if (entry.role == 'user') {
			entry.ids = [ id ];
			entry.parents = stored.continues || entry.parents;
			entry.siblings = this.siblings[id];
		}
		entry.node.appendChild(footer.line(entry, this.act, this.isWriter));
	},

	/* Text of a model that goes on growing until something else comes. */
	grow: function(text) {
		this.openTurn();
		this.following(function() {
			if (!this.live) {
				this.live = { node: this.put(E('div', { 'class': 'oasis-text', 'aria-busy': 'true' })), text: '' };
				this.live.view = markdown.live(this.live.node);
			}
			this.live.text += text;
			this.live.view.set(this.live.text);
		});
	},

	tool: function(id, name, input) {
		if (this.tools[id])
			return;

		this.closeText();
		this.openTurn();
		this.tools[id] = blocks.toolCard(name, input);
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
		this.plans[value.id] = planCard.card(value, this.cards);
		sight.unfold(this.node, this.put(this.plans[value.id].node));
	},

	/* What is only told has no id; what may be forced is shown once. */
	refused: function(value) {
		if (value.refused && this.refusals[value.refused])
			return;

		this.closeText();
		this.refusals[value.refused] = this.put(refusedCard.card(value, this.cards));
	},

	/* A change already shown is shown anew in its place. */
	change: function(value) {
		const card = changeCard.card(value, this.cards), old = this.changes[value.id];

		this.changes[value.id] = card;
		if (old)
			return old.replaceWith(card);

		this.closeText();
		this.put(card);
	},

	has: function(id) { return this.changes[id] != null; },

	holds: function(id) { return this.stored.some(function(entry) { return entry.id == id; }); },

	fault: function(error) {
		this.closeText();
		this.put(blocks.fault(error));
	},

	note: function(text) {
		this.closeTurn();
		this.aside(words.plain(text));
	},

	/* A quiet line; the answer goes on below it. */
	aside: function(text) {
		this.closeText();
		this.put(E('p', { 'class': 'oasis-note' }, [ text ]));
	},

	/* --- where it goes --- */

	clear: function() {
		this.tools = {};
		this.plans = {};
		this.refusals = {};
		this.changes = {};
		this.stored = [];
		this.made = [];
		this.held = [];
		this.siblings = {};
		this.unsigned = null;
		this.isImported = null;
		this.live = null;
		this.turn = null;
		this.place = this.node;
		this.more = E('p');
		this.node.textContent = '';
	},

	/* Put a node into the turn that grows, or behind everything. */
	put: function(node) {
		this.following(function() {
			this.welcome.remove();
			(this.turn ? this.turn.node : this.place).appendChild(node);
		});
		this.made.push(node);
		return node;
	},

	/* Do something; who looked at the end goes on doing so. */
	following: function(work) {
		const isFollowing = this.isAtEnd();

		work.call(this);
		if (isFollowing)
			this.toEnd();
	},

	/* source: who answers; without it, whoever answers the run that is followed. */
	openTurn: function(source) {
		if (!this.turn)
			this.turn = { node: this.put(blocks.bubble('assistant', [])), role: 'assistant', ids: [], text: '', source: source == null ? this.answerer : source };
	},

	/* What can be done with an answer belongs to its last message: the next one continues that. */
	closeTurn: function() {
		const turn = this.turn, last = this.stored[this.stored.length - 1];

		this.closeText();
		this.turn = null;
		if (!turn || !turn.ids.length)
			return;
		this.following(function() { this.sign(turn, turn.ids[turn.ids.length - 1], {}); });
		last.nodes.push(turn.node.lastChild);
	},

	/* Who answers the runs that are followed from now on. */
	answeredBy: function(source) { this.answerer = source; },

	dim: function(id, isToo) { sight.dim(this.stored, id, isToo); },

	reveal: function(id, isFocused) { return sight.reveal(this.node, this.stored, id, isFocused); },

	/* The first message that is shown, or "". */
	first: function() { return this.stored.length ? this.stored[0].id : ''; },

	closeText: function() {
		if (this.live) {
			this.live.node.removeAttribute('aria-busy');
			this.turn.text = this.live.text;
		}
		this.live = null;
	},

	isAtEnd: function() { return sight.isAtEnd(this.node); },

	toEnd: function() { this.node.scrollTop = this.node.scrollHeight; }
});

return baseclass.extend({
	/*
	 * act: { approve, decline, force, undo (cards), edit, branch, bookmark, forget, turn (footer.js), earlier(button) };
	 * welcome: node shown in an empty chat; isWriter: false for who may only look; sourceOf(message) names who answered.
	 */
	create: function(act, welcome, isWriter, sourceOf) {
		return new Transcript(act, welcome, isWriter, sourceOf);
	}
});
