'use strict';
'require baseclass';
'require oasis.words as words';

/*
 * What each kind of event of a run shows in the conversation: a table. Kinds that are not known yet are passed over.
 */

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
	note: function(log, event) { log.aside(words.plain(event.text)); },
	trimmed: function(log, event) {
		log.aside(N_(event.messages, '%d earlier message was left out of what the model sees',
			'%d earlier messages were left out of what the model sees').format(event.messages));
	},
	reset: function(log, event) { log.restart(event.text); },
	end: function(log) { log.closeTurn(); }
};

/* Take a node away; the cards of changes that stand in it stay in its place. */
function withdraw(log, node) {
	Object.keys(log.changes).forEach(function(id) {
		if (node.contains(log.changes[id]))
			node.before(log.changes[id]);
	});
	node.remove();
}

return baseclass.extend({
	/*
	 * Before the events of a running run are shown from their start: take away what of them is already stored.
	 * The owner's words stay, they are no event; so do the cards of changes that other runs made meanwhile.
	 */
	rewind: function(log, events) {
		const isReset = events.some(function(event) { return event.type == 'reset'; });
		const ids = events.filter(function(event) { return event.type == 'message'; }).map(function(event) { return event.id; });
		const lastUser = log.stored.map(function(entry) { return entry.role; }).lastIndexOf('user');

		events.filter(function(event) { return event.type == 'change' && log.changes[event.change.id]; }).forEach(function(event) {
			log.changes[event.change.id].remove();
			delete log.changes[event.change.id];
		});
		log.stored = log.stored.filter(function(entry, i) {
			const isAgain = entry.role != 'user' && (ids.indexOf(entry.id) != -1 || isReset && i > lastUser);

			if (isAgain)
				entry.nodes.forEach(function(node) { withdraw(log, node); });
			return !isAgain;
		});
		log.tools = {};
	},

	/* Show events in their order; one that cannot be drawn takes no other away. */
	apply: function(log, events) {
		events.forEach(function(event) {
			try {
				if (SHOWN[event.type])
					SHOWN[event.type](log, event);
			}
			catch (e) {
				console.error(e);
				log.fault({ message: _('A part of this answer cannot be shown here.'), hint: _('Reload the page to see it as plain text.') });
			}
		});
	}
});
