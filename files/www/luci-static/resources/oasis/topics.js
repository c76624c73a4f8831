'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.dialog as dialog';
'require oasis.controls as controls';
'require oasis.words as words';

/*
 * What a new chat is about: the choice of a topic, whose words the model is told from the start, and the dialog that
 * changes them.
 */

const DEFAULT = 'default';
/* what the daemon takes */
const TITLE_CHARS = 64, TEXT_CHARS = 4096;

const Editor = baseclass.extend({
	__init__: function(topics, changed) {
		this.changed = changed;
		this.box = dialog.open(_('Topics'), []);
		this.list(topics);
	},

	list: function(topics) {
		this.topics = topics;
		this.fill([
			E('p', { 'class': 'oasis-small' }, [ _('A chat that begins with a topic tells the model these words first. Chats that have begun keep theirs.') ]),
			E('ul', { 'class': 'oasis-rows' }, topics.map(this.row, this))
		], [ controls.button(_('Add a topic'), 'cbi-button-add', L.bind(this.edit, this, { title: '', text: '' })) ]);
	},

	fill: function(nodes, buttons) {
		this.box.body.textContent = '';
		nodes.forEach(function(node) { this.box.body.appendChild(node); }, this);
		this.box.trouble.textContent = '';
		this.box.buttons(buttons, _('Close'));
		(this.box.node.querySelector('[autofocus]') || this.box.foot.firstChild).focus();
	},

	row: function(topic) {
		return E('li', [
			E('span', { 'class': 'oasis-row-text' }, [
				E('strong', [ words.plain(topic.title) ]), topic.is_shipped ? '' : ' \u00b7 ' + _('yours'),
				E('div', { 'class': 'oasis-small oasis-clip' }, [ words.plain(topic.text) ])
			]),
			controls.button(_('Change'), '', L.bind(this.edit, this, topic)),
			topic.key == DEFAULT ? '' : controls.button(_('Delete'), 'cbi-button-negative', L.bind(this.ask, this, topic))
		]);
	},

	ask: function(topic) {
		this.fill([ E('p', [ _('Delete the topic "%s"? Chats that began with it stay as they are.').format(words.plain(topic.title)) ]) ], [
			controls.button(_('Back'), '', L.bind(this.list, this, this.topics)),
			controls.button(_('Delete'), 'cbi-button-negative important', L.bind(this.send, this, 'remove_topic', [ topic.key ]))
		]);
	},

	edit: function(topic) {
		const title = E('input', { 'type': 'text', 'class': 'cbi-input-text', 'maxlength': TITLE_CHARS, 'value': topic.title, 'autofocus': '' });
		const text = E('textarea', { 'class': 'cbi-input-textarea', 'rows': '9', 'maxlength': TEXT_CHARS });

		text.value = topic.text;
		this.fill([
			E('label', { 'class': 'oasis-field' }, [ E('span', [ _('Title') ]), title ]),
			E('label', { 'class': 'oasis-field' }, [ E('span', [ _('What the model is told') ]), text ])
		], [
			controls.button(_('Back'), '', L.bind(this.list, this, this.topics)),
			controls.button(_('Save'), 'cbi-button-action important', L.bind(function() {
				return topic.key ? this.send('change_topic', [ topic.key, title.value, text.value ]) : this.send('add_topic', [ title.value, text.value ]);
			}, this))
		]);
	},

	send: function(method, args) {
		return api.call.apply(api, [ method ].concat(args)).then(function() { return api.call('topics'); })
			.then(L.bind(function(reply) {
				this.changed(reply.topics || []);
				this.list(reply.topics || []);
			}, this)).catch(this.box.fault.bind(this.box));
	}
});

const Choice = baseclass.extend({
	__init__: function() {
		this.select = E('select', { 'class': 'cbi-input-select' });
		this.node = E('p', { 'class': 'oasis-topic', 'hidden': '' }, [
			E('label', [ E('span', { 'class': 'oasis-small' }, [ _('This chat is about') ]), this.select ]),
			controls.link(_('Topics\u2026'), L.bind(function() { return new Editor(this.topics, this.set.bind(this)); }, this))
		]);
	},

	/* The choice stays what it was while that topic is there. */
	set: function(topics) {
		const chosen = this.select.value || DEFAULT;

		this.topics = topics;
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
