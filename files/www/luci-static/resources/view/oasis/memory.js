'use strict';
'require view';
'require oasis.rpc as api';
'require oasis.state as states';
'require oasis.dialog as dialog';
'require oasis.page as page';
'require oasis.panel as panel';
'require oasis.clean as clean';

/*
 * What the router remembers: facts about its owner, and their documents with a search over them. What is added is read in a run of its
 * own, shown above the lists.
 */

/* what the daemon takes */
const FACT_CHARS = 300, TITLE_CHARS = 200, TEXT_CHARS = 14000;
const KINDS = '.txt,.md,.markdown,.html,.htm,.pdf,text/*,application/pdf';
const FOUND = 5;

function vectors(one) {
	return one.vectors == 'current' ? page.badge(_('by meaning'), 'good') : one.vectors == 'other' ? page.badge(_('another model'), 'warn') : page.badge(_('by words'));
}

/* The dialog that adds a fact, or changes one; done() gives a promise. */
function edit(fact, done) {
	const text = E('input', { 'type': 'text', 'class': 'cbi-input-text', 'maxlength': FACT_CHARS, 'value': fact.fact || '', 'autofocus': '' });
	const box = dialog.open(fact.id ? _('Change a fact') : _('Add a fact'), [
		page.field(_('One sentence about you'), text, _('No passwords: a model gets this sentence.'))
	], [
		page.button(_('Save'), 'cbi-button-action important', function() {
			return box.run(function() {
				return (fact.id ? api.call('change_fact', fact.id, text.value) : api.call('add_fact', text.value)).then(done);
			});
		})
	]);
}

return view.extend({
	load: function() {
		return page.styled(Promise.all([ api.settled('facts'), api.settled('documents'), api.settled('info') ]));
	},

	render: function(results) {
		this.state = states.create({ isWriter: page.isWriter() });
		this.reload = this.reload.bind(this);
		this.frame = page.frame(_('Memory'), [
			_('What the router knows of you, and what you gave it to read. A model gets the facts that matter for a question, and may look into the documents.')
		], [], this.state);
		this.panel = panel.create(this.state);
		this.state.on({ renew: this.reload });
		this.facts = E('div');
		this.documents = E('div');
		this.found = E('div', { 'role': 'status' });
		this.frame.fill([ this.panel.node, this.facts, page.section(_('Documents'), [ this.search(), this.found, this.documents ]) ]);
		window.setTimeout(this.begin.bind(this, results), 0);
		return this.frame.node;
	},

	begin: function(results) {
		this.state.emit('info', results[2].value || {});
		if (results[0].fault || results[1].fault) {
			this.frame.fill([ this.panel.node ]);
			return this.frame.fault(results[0].fault || results[1].fault, true);
		}
		this.showFacts(results[0].value);
		this.showDocuments(results[1].value);
	},

	showFacts: function(reply) {
		const columns = [ { title: _('Fact'), isName: true, isWide: true }, { title: _('Sure'), isNumber: true }, { title: _('Since') }, { title: '' } ];
		const facts = reply.facts || [], learn = E('input', { 'type': 'checkbox', 'data-key': 'facts/learn' });

		learn.checked = !!reply.extract;
		learn.disabled = !this.state.isWriter;
		learn.addEventListener('change', L.bind(this.learn, this));
		this.frame.put(this.facts, [ page.section(_('About you'), [
			E('label', { 'class': 'oasis-inline' }, [ learn, ' ', _('Let a model take facts out of what you say') ]),
			page.table(_('Facts'), columns, facts.map(this.fact, this), _('Nothing is remembered of you.')),
			page.buttons([
				page.act(_('Add a fact'), 'cbi-button-add', L.bind(edit, null, {}, this.reload), 'facts/add'),
				facts.length ? page.act(_('Forget everything'), 'cbi-button-negative', L.bind(this.forget, this, null, ''), 'facts/forget') : ''
			])
		]) ]);
	},

	fact: function(fact) {
		const text = clean.plain(fact.fact);

		return [
			[ E('span', [ text ]) ].concat((fact.taint || []).length ? [ E('div', { 'class': 'oasis-small' }, [ _('Words of others are in it.') ]) ] : []),
			_('%d %%').format(Math.round(100 * (fact.confidence || 0))), page.time(fact.updated_unix_s),
			page.buttons([
				page.act(_('Change'), 'cbi-button-edit', L.bind(edit, null, fact, this.reload), fact.id + '/change'),
				page.act(_('Forget'), 'cbi-button-negative', L.bind(this.forget, this, fact.id, text), fact.id + '/forget')
			])
		];
	},

	learn: function(ev) {
		const isOn = ev.currentTarget.checked;

		return this.frame.run(function() { return api.call('learn', isOn); }, ev).then(this.reload);
	},

	forget: function(id, text) {
		return dialog.ask(_('Forget'), id ? _('Forget "%s"? Nothing of it stays.').format(text) : _('Forget everything that is remembered of you? Nothing of it stays.'), _('Forget'),
			L.bind(function() { return (id ? api.call('forget_fact', id) : api.call('forget_facts', true)).then(this.reload); }, this));
	},

	showDocuments: function(reply) {
		const columns = [ { title: _('Title'), isName: true, isWide: true }, { title: _('Characters'), isNumber: true }, { title: _('Added') }, { title: _('Found') }, { title: '' } ];
		const documents = (reply.documents || []).slice().reverse(), isOld = reply.embedding && documents.some(function(one) { return one.vectors != 'current'; });

		this.frame.put(this.documents, (reply.reports || []).map(function(text) { return E('div', { 'class': 'alert-message warning' }, [ clean.plain(text) ]); }).concat([
			page.table(_('Documents'), columns, documents.map(this.document, this), _('There is no document yet.')),
			E('p', { 'class': 'oasis-small' }, [ _('%s of %s kB are used.').format(page.number(Math.ceil(reply.used_bytes / 1024)), page.number(Math.floor(reply.limit_bytes / 1024))), ' ',
				reply.embedding ? _('Meanings are compared by %s.').format(clean.plain(reply.embedding)) : _('With an alias named embedding, meanings are compared as well as words.') ]),
			page.buttons([
				page.act(_('Add a document'), 'cbi-button-add', L.bind(this.add, this), 'documents/add'),
				isOld ? page.act(_('Compare all by meaning'), '', L.bind(this.embed, this), 'documents/embed') : ''
			])
		]));
	},

	document: function(one) {
		const title = clean.plain(one.title);

		return [
			[ E('span', [ title ]) ].concat(one.source && one.source != one.title && one.source != one.kind ? [ E('div', { 'class': 'oasis-small' }, [ clean.plain(one.source) ]) ] : []),
			page.number(one.chars), page.time(one.added_unix_s), vectors(one),
			page.buttons([ page.act(_('Delete'), 'cbi-button-negative', L.bind(this.remove, this, one.id, title), one.id + '/delete') ])
		];
	},

	remove: function(id, title) {
		return dialog.ask(_('Delete a document'), _('Delete "%s"? Nothing of it stays.').format(title), _('Delete'),
			L.bind(function() { return api.call('remove_document', id).then(this.reload); }, this));
	},

	embed: function() {
		return this.panel.begin(_('Compare by meaning'), function() { return api.call('embed'); });
	},

	/* One of a file, a text and an address; the daemon says what is wrong. */
	add: function() {
		const title = E('input', { 'type': 'text', 'class': 'cbi-input-text', 'maxlength': TITLE_CHARS });
		const file = E('input', { 'type': 'file', 'accept': KINDS });
		const url = E('input', { 'type': 'url', 'class': 'cbi-input-text', 'placeholder': 'https://' });
		const text = E('textarea', { 'class': 'cbi-input-textarea', 'rows': '6', 'maxlength': TEXT_CHARS });
		const box = dialog.open(_('Add a document'), [
			page.field(_('A file'), file, _('Text, Markdown or HTML; a PDF is read by the active model.')), page.field(_('or an address of the web'), url),
			page.field(_('or a text'), text), page.field(_('Title'), title, _('Without one the document names itself.'))
		], [
			page.button(_('Add'), 'cbi-button-action important', L.bind(function() {
				return box.run(L.bind(function() {
					const given = { title: title.value || undefined, url: url.value.trim() || undefined, text: text.value.trim() || undefined };
					const sent = file.files[0] ? api.send(file.files[0], function() {}).done : Promise.resolve({});

					return sent.then(L.bind(function(reply) {
						given.upload = reply.upload;
						return this.panel.begin(_('Reading a document'), function() { return api.named('add_document', given); });
					}, this));
				}, this));
			}, this))
		]);
	},

	search: function() {
		const input = E('input', { 'type': 'search', 'class': 'cbi-input-text', 'maxlength': '1000' });
		const find = L.bind(function(ev) {
			ev.preventDefault();
			return this.frame.run(L.bind(function() { return api.call('find', input.value, FOUND).then(this.showFound.bind(this)); }, this));
		}, this);

		return E('form', { 'submit': find }, [
			page.field(_('Find in documents and OpenWrt\'s options'), input), E('button', { 'class': 'btn cbi-button', 'type': 'submit' }, [ _('Find') ])
		]);
	},

	showFound: function(reply) {
		const sources = reply.sources || [];
		const passages = (reply.passages || []).map(function(one) {
			return E('li', [ E('strong', [ clean.plain(sources[one.source - 1].title) ]), E('div', { 'class': 'oasis-typed' }, [ clean.plain(one.text) ]) ]);
		});
		const options = (reply.options || []).map(function(one) {
			return E('li', [ E('code', [ clean.plain(one.path) ]), ' ', clean.plain([ one.title, one.what, one.values ? one.values.join(', ') : one.takes ].filter(Boolean).join(' \u2013 ')) ]);
		});

		this.found.textContent = '';
		[ passages.length || options.length ? E('ul', { 'class': 'oasis-shelf' }, passages.concat(options)) : E('p', { 'class': 'oasis-nothing' }, [ _('Nothing was found.') ]),
			reply.note ? E('p', { 'class': 'oasis-small' }, [ clean.plain(reply.note) ]) : '' ].filter(Boolean).forEach(function(node) { this.found.appendChild(node); }, this);
	},

	reload: function() {
		return Promise.all([ api.call('facts').then(this.showFacts.bind(this)), api.call('documents').then(this.showDocuments.bind(this)) ]).catch(this.frame.fault.bind(this.frame));
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
