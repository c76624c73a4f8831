'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.page as page';
'require oasis.words as words';

/*
 * What a new chat is about: the choice of a system message, whose words the model is told from the start.
 */

const DEFAULT = 'default';

const Choice = baseclass.extend({
	__init__: function() {
		this.select = E('select', { 'class': 'cbi-input-select' });
		this.node = E('p', { 'class': 'oasis-topic', 'hidden': '' }, [
			E('label', [ E('span', { 'class': 'oasis-small' }, [ _('This chat is about') ]), this.select ]), ' ',
			page.way('topics', _('System messages'))
		]);
	},

	/* The choice stays what it was while that topic is there. */
	set: function(topics) {
		const chosen = this.select.value || DEFAULT;

		this.select.textContent = '';
		topics.forEach(function(topic) {
			this.select.appendChild(E('option', { 'value': topic.key, 'selected': topic.key == chosen ? '' : null }, [ words.plain(topic.title) ]));
		}, this);
		this.node.hidden = !topics.length;
	},

	/* Asked for when an empty chat is shown; a daemon that cannot tell leaves the choice away. */
	load: function() {
		return api.settled('topics').then(L.bind(function(result) { this.set(result.value && result.value.topics || []); }, this));
	},

	/* The topic that a new chat begins with; undefined for the default. */
	given: function() {
		return this.node.hidden || this.select.value == DEFAULT ? undefined : this.select.value;
	}
});

return baseclass.extend({
	/* Gives { node, load(), given() }. */
	choice: function() {
		return new Choice();
	}
});
