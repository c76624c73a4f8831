'use strict';
'require baseclass';

/*
 * What one page knows, and the events by which its parts hear of it. The parts of a page share one state: they read its values,
 * listen to events and emit them. No part holds another one, so each can be read and changed by itself.
 */
const State = baseclass.extend({
	__init__: function(values) {
		this.listeners = {};
		Object.assign(this, values);
	},

	/* Call a listener with the arguments of each event of its name. listeners: { event: function }; self: their `this`. */
	on: function(listeners, self) {
		Object.keys(listeners).forEach(function(event) {
			this.listeners[event] = (this.listeners[event] || []).concat(listeners[event].bind(self));
		}, this);
	},

	/* Call the listeners in the order in which they came. Gives what the first one gave that gave anything: a request has one that answers. */
	emit: function(event) {
		const args = Array.prototype.slice.call(arguments, 1);

		return (this.listeners[event] || []).map(function(listener) { return listener.apply(null, args); })
			.find(function(given) { return given !== undefined; });
	}
});

return baseclass.extend({
	/* Gives { on(listeners, self), emit(event, ...) } and the values, which each page lists where it creates its state. */
	create: function(values) {
		return new State(values);
	}
});
