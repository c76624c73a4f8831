'use strict';
'require view';
'require oasis.rpc as api';
'require oasis.dialog as dialog';
'require oasis.page as page';
'require oasis.clean as clean';

/*
 * The page of system messages: the text with which a chat begins, chosen by their title. A file is read in the browser; the
 * router fetches none.
 */

const DEFAULT = 'default';
/* what the daemon takes */
const TITLE_CHARS = 64, TEXT_CHARS = 4096;
/* a character has four bytes at most */
const FILE_BYTES = 4 * TEXT_CHARS;
const FILE_KINDS = '.txt,.md,text/plain,text/markdown';

function room(text) {
	return _('%d of %d characters').format(text.length, TEXT_CHARS);
}

/* The dialog that adds a message, or changes one; done() gives a promise. */
function edit(topic, done) {
	const title = E('input', { 'type': 'text', 'class': 'cbi-input-text', 'maxlength': TITLE_CHARS, 'value': topic.title, 'autofocus': '' });
	const text = E('textarea', { 'class': 'cbi-input-textarea', 'rows': '12', 'maxlength': TEXT_CHARS, 'aria-describedby': 'oasis-room' });
	const count = E('span', { 'class': 'oasis-small', 'id': 'oasis-room' });
	const input = E('input', { 'type': 'file', 'accept': FILE_KINDS, 'hidden': '', 'tabindex': '-1' });
	const recount = function() { count.textContent = room(text.value); };
	const box = dialog.open(topic.key ? _('Change a system message') : _('Add a system message'), [
		page.field(_('Title'), title),
		page.field(_('What the model reads first'), text),
		E('p', { 'class': 'oasis-inline' }, [ count, page.button(_('Load from a file\u2026'), '', function() { input.click(); }), input ])
	], [
		page.button(_('Save'), 'cbi-button-action important', function() {
			return box.run(function() {
				return (topic.key ? api.call('change_topic', topic.key, title.value, text.value) : api.call('add_topic', title.value, text.value)).then(done);
			});
		})
	]);

	input.addEventListener('change', function() {
		return read(input.files[0]).then(function(found) {
			text.value = found;
			title.value = title.value || input.files[0].name.replace(/\.\w+$/, '').substring(0, TITLE_CHARS);
			box.trouble.textContent = '';
			recount();
		}, box.fault.bind(box)).finally(function() { input.value = ''; });
	});
	text.addEventListener('input', recount);
	text.value = topic.text;
	recount();
}

/* The text of a file, or a fault that says what is wrong with it. */
async function read(file) {
	let text;

	if (file.size > FILE_BYTES)
		throw api.fault('file', _('The file is too long.'), _('A system message has at most %d characters; it goes along with every request.').format(TEXT_CHARS));
	try {
		text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer()).replace(/\r\n?/g, '\n').trim();
	}
	catch (error) {
		throw api.fault('file', _('The file is no text in UTF-8.'));
	}
	if (text.length > TEXT_CHARS)
		throw api.fault('file', _('The file is too long.'), _('A system message has at most %d characters; it goes along with every request.').format(TEXT_CHARS));
	return text;
}

return view.extend({
	load: function() {
		return page.styled(api.settled('topics'));
	},

	render: function(result) {
		this.reload = this.reload.bind(this);
		this.frame = page.frame(_('System messages'), [
			_('A chat that begins with one of these tells the model its words first. Chats that have begun keep theirs.')
		]);
		if (result.fault)
			this.frame.fault(result.fault, true);
		else
			this.draw(result.value);
		return this.frame.node;
	},

	draw: function(reply) {
		const columns = [ { title: _('Title'), isName: true }, { title: _('What the model reads first'), isWide: true }, { title: '' } ];

		this.frame.fill([
			page.section('', [
				page.table(_('System messages'), columns, (reply.topics || []).map(this.row, this)),
				page.act(_('Add a system message'), 'cbi-button-add', L.bind(edit, null, { title: '', text: '' }, this.reload), 'topics/add')
			])
		]);
	},

	row: function(topic) {
		const title = clean.plain(topic.title), text = clean.plain(topic.text);

		return [
			[ E('span', [ title ]), ' ', topic.key == DEFAULT ? page.badge(_('default'), 'good') : topic.is_shipped ? '' : page.badge(_('yours')) ],
			text ? E('details', { 'class': 'oasis-words' }, [
				E('summary', [ text.split('\n')[0] ]), E('div', { 'class': 'oasis-typed' }, [ text ])
			]) : '\u2013',
			page.buttons([
				page.act(_('Change'), 'cbi-button-edit', L.bind(edit, null, topic, this.reload), topic.key + '/change'),
				topic.key == DEFAULT ? '' : page.act(_('Delete'), 'cbi-button-negative', L.bind(this.remove, this, topic, title), topic.key + '/delete')
			])
		];
	},

	remove: function(topic, title) {
		return dialog.ask(_('Delete a system message'), _('Delete "%s"? Chats that began with it stay as they are.').format(title), _('Delete'),
			L.bind(function() { return api.call('remove_topic', topic.key).then(this.reload); }, this));
	},

	reload: function() {
		return api.call('topics').then(this.draw.bind(this));
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
