'use strict';
'require baseclass';
'require oasis.clean as clean';
'require oasis.page as page';
'require oasis.markdown as markdown';
'require oasis.message as messages';
'require oasis.plan as plans';
'require oasis.change as changes';

/*
 * What was said and done in one chat, as nodes: stored messages first, then the events of a run as they come. Plans and changes are shown
 * once by their id, wherever they come from. Only a part of a long thread may be here: what stands before it is put in front on request.
 * It knows no daemon.
 *
 * Listens to thread(reply, changes), earlier(reply), sending(text, files), unsent(), taken(), events(list, isReplay, isOther), note(text),
 * plan(plan), change(change), refreshed(change: only where it is shown) and dim(id, isToo); answers reveal(id, isFocused). Emits
 * loadEarlier(button) and what cards and lines emit.
 */

/* close enough to the end to go on following it */
const FOLLOW_PX = 80;
/* left above what is brought into sight */
const GAP_PX = 8;
const FOUND_MS = 2500;
/* the taint of the messages of an imported chat */
const IMPORTED = 'an imported chat';

/* What each kind of event of a run shows; unknown kinds are skipped. */
const SHOWN = {
	delta: function(log, event) { log.grow(event.text); },
	tool_use: function(log, event) { log.tool(event.id, event.name, event.input); },
	tool_result: function(log, event) { log.toolResult(event.tool_use_id, event.name, event.text, event.is_error); },
	message: function(log, event) { log.named(event); },
	plan: function(log, event) { log.plan(event.plan); },
	refused: function(log, event) { log.refused(event); },
	approval: function(log, event) { if (log.plans[event.plan]) log.plans[event.plan].decide(event.decision); },
	change: function(log, event) { log.change(event.change); },
	error: function(log, event) { log.fault(event.error); },
	note: function(log, event) { log.aside(clean.plain(event.text)); },
	trimmed: function(log, event) {
		log.aside(N_(event.messages, '%d earlier message was left out of what the model sees',
			'%d earlier messages were left out of what the model sees').format(event.messages));
	},
	reset: function(log, event) { log.restart(event.text); },
	end: function(log) { log.closeTurn(); }
};

const Transcript = baseclass.extend({
	__init__: function(state, welcome) {
		this.state = state;
		this.welcome = welcome;
		this.node = E('div', { 'class': 'oasis-log', 'role': 'log', 'aria-live': 'polite', 'aria-label': _('Conversation'), 'tabindex': '0' });
		this.clear();
		state.on({
			thread: this.show, earlier: this.prepend, note: this.note, plan: this.plan, dim: this.dim, reveal: this.reveal,
			change: function(item) {
				if (item.chat == state.chat || this.changes[item.id])
					this.change(item);
			},
			refreshed: function(item) {
				if (this.changes[item.id])
					this.change(item);
			},
			sending: function(text, files) { this.sending = this.user(text, files); },
			unsent: function() { this.sending.remove(); },
			taken: function() { this.answerer = state.answerer; },
			events: function(list, isReplay, isOther) {
				if (isReplay && !isOther)
					this.rewind(list);
				this.apply(isOther ? list.filter(function(event) { return event.type == 'change' || event.type == 'error'; }) : list);
			}
		}, this);
	},

	/* Show a thread: its newest messages (a reply of chat.load) with the chat's changes between them by time. */
	show: function(reply, changes) {
		this.clear();
		this.held = changes.slice().sort(function(a, b) { return a.when_unix_s - b.when_unix_s; });
		this.part(reply);
		this.closeTurn();
		if (!this.node.firstChild)
			this.node.appendChild(this.welcome);
		this.offerEarlier(reply.earlier);
		this.toEnd();
	},

	/* Put the part of the thread before the one that is shown in front of it; what is in sight stays where it is. */
	prepend: function(reply) {
		const later = this.stored, turn = this.turn, live = this.live, below_px = this.node.scrollHeight - this.node.scrollTop;

		this.node.setAttribute('aria-live', 'off');
		this.more.remove();
		this.stored = [];
		this.turn = this.live = null;
		this.place = document.createDocumentFragment();
		this.part(reply);
		this.closeTurn();
		this.node.insertBefore(this.place, this.node.firstChild);
		this.place = this.node;
		this.stored = this.stored.concat(later);
		this.turn = turn;
		this.live = live;
		this.offerEarlier(reply.earlier);
		this.node.scrollTop = this.node.scrollHeight - below_px;
		this.node.setAttribute('aria-live', 'polite');
	},

	/*
	 * A change stands with the message that it answers. Where that is not known, the clock says where; it counts whole seconds, and within
	 * one the change is the later. Changes from before this part wait for the part that they belong to.
	 */
	part: function(reply) {
		const thread = reply.messages || [], ids = thread.map(function(message) { return message.id; });
		const second = function(id) { return Math.floor(page.time_ms(id) / 1000); };
		const from_s = reply.earlier && thread.length ? second(ids[0]) : 0;
		const isHere = function(change) { return ids.indexOf(change.message) != -1 || change.when_unix_s >= from_s; };
		let due = this.held.filter(isHere);

		this.held = this.held.filter(function(change) { return !isHere(change); });
		this.siblings = reply.siblings || {};
		thread.forEach(function(message, at) {
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
			page.button(_('Show earlier messages (%d)').format(count || 0), '', L.bind(function(ev) { this.state.emit('loadEarlier', ev.currentTarget); }, this))
		]);
		if (count)
			this.node.insertBefore(this.more, this.node.firstChild);
	},

	/*
	 * Before the events of a running run are shown from their start, remove what of them is already stored. The owner's message stays: it
	 * is no event; so do the cards of changes that other runs made meanwhile.
	 */
	rewind: function(events) {
		const isReset = events.some(function(event) { return event.type == 'reset'; });
		const ids = events.filter(function(event) { return event.type == 'message'; }).map(function(event) { return event.id; });
		const lastUser = this.stored.map(function(entry) { return entry.role; }).lastIndexOf('user');

		events.filter(function(event) { return event.type == 'change' && this.changes[event.change.id]; }, this).forEach(function(event) {
			this.changes[event.change.id].remove();
			delete this.changes[event.change.id];
		}, this);
		this.stored = this.stored.filter(function(entry, i) {
			const isAgain = entry.role != 'user' && (ids.indexOf(entry.id) != -1 || isReset && i > lastUser);

			if (isAgain)
				entry.nodes.forEach(this.withdraw, this);
			return !isAgain;
		}, this);
		this.tools = {};
	},

	/* Remove a node; the cards of changes that stand in it stay in its place. */
	withdraw: function(node) {
		Object.keys(this.changes).forEach(function(id) {
			if (node.contains(this.changes[id]))
				node.before(this.changes[id]);
		}, this);
		node.remove();
	},

	/* Show events in their order; one that cannot be drawn takes no other away. */
	apply: function(events) {
		events.forEach(function(event) {
			try {
				if (SHOWN[event.type])
					SHOWN[event.type](this, event);
			}
			catch (e) {
				console.error(e);
				this.fault({ message: _('A part of this answer cannot be shown here.'), hint: _('Reload the page to see it as plain text.') });
			}
		}, this);
	},

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
			this.put(messages.plain(value));
		}
		this.stored.push({ id: value.id, role: value.role, nodes: this.made });
		this.made = [];
	},

	draw: function(value) {
		const isForgotten = messages.isForgotten(value);
		const isImported = (value.taint || []).indexOf(IMPORTED) != -1;

		if (value.role == 'user') {
			/* an answer has the taint of everything before it, so the owner's message decides */
			this.isImported = isImported;
			this.user(isForgotten ? null : messages.text(value.content), messages.files(value), value);
		}
		else if (value.role == 'assistant' || value.role == 'tool') {
			this.openTurn('');
			this.turn.isImported = this.isImported == null ? isImported : this.isImported;
			this.join(value.id, value);
			if (isForgotten)
				this.put(E('p', { 'class': 'oasis-gone' }, [ _('Removed by you') ]));
			else
				messages.blocks(value).forEach(this.block, this);
			if (value.error)
				this.ended(value.error);
		}

		else if (value.role == 'system') {
			this.closeTurn();
			this.put(messages.system(value));
		}
	},

	block: function(value) {
		if (value.type == 'text' && value.text)
			this.put(E('div', { 'class': 'oasis-text' }, markdown.nodes(value.text)));
		else if (value.type == 'tool_use')
			this.tool(value.id, value.name, value.input);
		else if (value.type == 'tool_result')
			this.toolResult(value.tool_use_id, value.name, messages.text(value.content), value.is_error);
		else if (value.type == 'image' || value.type == 'document')
			this.put(page.file(value));
	},

	/* How a stored turn was broken off. */
	ended: function(error) {
		if (error.code == 'cancelled')
			this.put(E('p', { 'class': 'oasis-gone' }, [ _('Stopped') ]));
		else
			this.fault(error);
	},

	/* A message of the owner, its text null when they removed it; without `stored` its id comes with an event. Gives the node. */
	user: function(text, files, stored) {
		this.closeTurn();
		const node = messages.bubble('user', [
			text == null ? E('p', { 'class': 'oasis-gone' }, [ _('Removed by you') ])
				: E('div', { 'class': 'oasis-text oasis-typed' }, [ clean.visible(text) ])
		]);
		const entry = { node: node, role: 'user', text: text, ids: [], isForgotten: text == null, isImported: stored && this.isImported };

		if (files && files.length)
			node.appendChild(E('div', { 'class': 'oasis-files' }, files.map(page.file)));
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

	/* Another message of the turn that grows. */
	join: function(id, stored) {
		const turn = this.turn, text = stored.content ? messages.text(stored.content) : '';

		turn.ids.push(id);
		turn.parents = stored.continues || [];
		turn.siblings = turn.siblings || this.siblings[id];
		turn.text = text || turn.text;
		turn.isForgotten = messages.isForgotten(stored);
		turn.source = stored.provider ? this.source(stored) : turn.source;
	},

	/* Write the line below a message. */
	sign: function(entry, id, stored) {
		entry.id = id;
		if (entry.role == 'user') {
			entry.ids = [ id ];
			entry.parents = stored.continues || entry.parents;
			entry.siblings = this.siblings[id];
		}
		entry.node.appendChild(messages.line(entry, this.state));
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
		this.tools[id] = messages.toolCard(name, input);
		this.put(this.tools[id].node);
	},

	/* A result may come without the call that it answers: then it has a card of its own. */
	toolResult: function(id, name, text, isError) {
		const key = id || 'result %d'.format(Object.keys(this.tools).length);

		this.tool(key, name || '?', null);
		this.tools[key].result(text, isError);
	},

	/* For a plan that is shown already, only the clock is set. */
	plan: function(value) {
		if (this.plans[value.id])
			return this.plans[value.id].expire_in(value.expires_in_s);

		this.closeText();
		this.plans[value.id] = plans.card(value, this.state);
		this.unfold(this.put(this.plans[value.id].node));
	},

	/* A refusal without an id cannot be forced; one with an id is shown once. */
	refused: function(value) {
		if (value.refused && this.refusals[value.refused])
			return;

		this.closeText();
		this.refusals[value.refused] = this.put(plans.refusal(value, this.state));
	},

	/* A change that is shown already is replaced in its place. */
	change: function(value) {
		const card = changes.card(value, this.state), old = this.changes[value.id];

		this.changes[value.id] = card;
		if (old)
			return old.replaceWith(card);

		this.closeText();
		this.put(card);
	},

	fault: function(error) {
		this.closeText();
		this.put(messages.fault(error));
	},

	note: function(text) {
		this.closeTurn();
		this.aside(clean.plain(text));
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

	/* Do something; if the end was in sight, it stays so. */
	following: function(work) {
		const isFollowing = this.isAtEnd();

		work.call(this);
		if (isFollowing)
			this.toEnd();
	},

	/* source: who answers; without it, whoever answers the run that is followed. */
	openTurn: function(source) {
		if (!this.turn)
			this.turn = { node: this.put(messages.bubble('assistant', [])), role: 'assistant', ids: [], text: '', source: source == null ? this.answerer : source };
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

	/* Who answered a stored message: its service and model. */
	source: function(stored) {
		const service = this.state.services.find(function(item) { return item.identifier == stored.provider; });

		return [ service ? service.name : stored.provider, stored.model ].filter(Boolean).join(' \u00b7 ');
	},

	closeText: function() {
		if (this.live) {
			this.live.node.removeAttribute('aria-busy');
			this.turn.text = this.live.text;
		}
		this.live = null;
	},

	/* --- what is in sight --- */

	isAtEnd: function() {
		return this.node.scrollHeight - this.node.scrollTop - this.node.clientHeight < FOLLOW_PX;
	},

	toEnd: function() { this.node.scrollTop = this.node.scrollHeight; },

	bring: function(node) {
		this.node.scrollTop += node.getBoundingClientRect().top - this.node.getBoundingClientRect().top - GAP_PX;
	},

	/* A card that would not fit keeps its differences folded, so that question and buttons stay in sight. */
	unfold: function(card) {
		if (card.offsetHeight > this.node.clientHeight)
			card.querySelectorAll('.oasis-diff').forEach(function(part) { part.open = false; });
		if (card.offsetHeight > this.node.clientHeight)
			this.bring(card);
	},

	at: function(id) {
		return this.stored.findIndex(function(entry) { return entry.id == id; });
	},

	/* Make what follows a message, or the message too, look left out; id null for nothing. */
	dim: function(id, isToo) {
		const at = id == null ? -1 : this.at(id);

		this.stored.forEach(function(entry, i) {
			entry.nodes.forEach(function(node) { node.classList.toggle('oasis-after', at != -1 && (isToo ? i >= at : i > at)); });
		});
	},

	/* Bring a message into sight, and its versions under the keyboard; false when it is not among those shown. */
	reveal: function(id, isFocused) {
		let at = this.at(id);

		if (at == -1)
			return false;
		/* the result of a tool stands in the card of its call */
		while (at > 0 && !this.stored[at].nodes.length)
			at--;

		const node = this.stored[at].nodes[0] || this.node;

		this.bring(node);
		node.classList.add('oasis-found');
		window.setTimeout(function() { node.classList.remove('oasis-found'); }, FOUND_MS);
		if (isFocused)
			(node.querySelector('.oasis-versions button:not(:disabled)') || this.node).focus({ preventScroll: true });
		return true;
	}
});

return baseclass.extend({
	/* welcome: the node that an empty chat shows. Gives { node, isAtEnd(), toEnd() }. */
	create: function(state, welcome) {
		return new Transcript(state, welcome);
	}
});
