'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.clean as clean';
'require oasis.page as page';
'require oasis.dialog as dialog';

/*
 * The field to write in, with Send, Stop, the line that says what is going on, the files that go along with a message, and the dialog for
 * a password. What is typed survives a reload and a login (kept for this tab only); it is removed once it was sent.
 *
 * Sets state.draft (the text) and state.files. Listens to busy(text, isMoving), idle(text), say(text), draft(text), focus() and
 * taken(files). Emits stop(), fault(fault) and resized(); send(text) asks for a promise of whether the message was taken.
 */

const DRAFT_KEY = 'oasis.draft';

/* the daemon's limits; checking them before a file is sent saves minutes */
const FILE_BYTES = 1024 * 1024;
const FILES = 8;
const KINDS = 'image/*,application/pdf,text/*,.md,.json,.csv,.log,.conf,.docx,.xlsx';

function sizeFault(file) {
	return _('%s has %s; a file may have %s. Attach the part that matters.')
		.format(file.name, page.size(file.size), page.size(FILE_BYTES));
}

/*
 * Documents and images that go along with the next message: picked, dropped or pasted, sent to the daemon at once, shown as chips; and
 * settings of the router, which the daemon makes a file of. What a file is, the daemon decides.
 */
const Attachments = baseclass.extend({
	__init__: function(state) {
		this.state = state;
		this.items = [];
		this.input = E('input', { 'type': 'file', 'multiple': '', 'accept': KINDS, 'hidden': '', 'tabindex': '-1' });
		this.button = page.button(_('Attach\u2026'), '', L.bind(function() { this.input.click(); }, this));
		this.config = page.button(_('Attach settings\u2026'), '', this.choose.bind(this));
		this.node = E('div', { 'class': 'oasis-files', 'role': 'list', 'aria-label': _('Attached files') });
		this.input.addEventListener('change', L.bind(function() {
			this.add(this.input.files);
			this.input.value = '';
		}, this));
		state.on({ taken: this.sent }, this);
	},

	pasteInto: function(node) {
		node.addEventListener('paste', L.bind(this.taken, this, 'clipboardData'));
	},

	dropOn: function(node) {
		node.addEventListener('drop', L.bind(this.taken, this, 'dataTransfer'));
		node.addEventListener('dragover', function(ev) {
			if (Array.from(ev.dataTransfer.types).indexOf('Files') != -1)
				ev.preventDefault();
		});
	},

	/* Text that is pasted or dropped is left to the browser. */
	taken: function(source, ev) {
		const files = ev[source] && ev[source].files;

		if (!files || !files.length)
			return;
		ev.preventDefault();
		this.add(files);
	},

	add: function(files) {
		Array.from(files).forEach(function(file) {
			if (file.size > FILE_BYTES)
				this.state.emit('say', sizeFault(file));
			else if (this.items.length == FILES)
				this.state.emit('say', _('A message takes %d files.').format(FILES));
			else
				this.begin(file);
		}, this);
	},

	begin: function(file) {
		const bar = E('progress', { 'max': '1', 'value': '0', 'aria-label': _('Sending %s').format(file.name) });
		const item = { name: file.name, size_bytes: file.size, media_type: file.type, id: null, isFailed: false };

		this.show(item, [ bar ]);
		item.sending = api.send(file, function(part) { bar.value = part; });
		item.sending.done.then(L.bind(function(reply) {
			item.id = reply.upload;
			item.media_type = reply.media_type || item.media_type;
			bar.remove();
			this.changed();
			this.state.emit('say', _('%s is attached').format(file.name));
		}, this)).catch(L.bind(function(fault) {
			item.isFailed = true;
			bar.remove();
			item.node.classList.add('oasis-no');
			item.node.querySelector('.oasis-count').textContent = ' \u00b7 ' + fault.message;
			this.state.emit('fault', fault);
		}, this));
	},

	/* One package of the router's configuration, as the daemon shows it: without passwords and keys. */
	choose: function() {
		if (this.items.length == FILES)
			return this.state.emit('say', _('A message takes %d files.').format(FILES));

		const select = E('select', { 'class': 'cbi-input-select', 'autofocus': '' });
		const box = dialog.open(_('Attach settings'), [
			page.field(_('Package'), select),
			E('p', { 'class': 'oasis-small' }, [ _('The settings go along with the message as a file. Passwords and keys are masked.') ])
		], [ page.button(_('Attach'), 'cbi-button-action important', L.bind(function() {
			return box.run(L.bind(function() { return api.call('attach_package', select.value).then(this.attached.bind(this)); }, this));
		}, this)) ]);

		return api.call('packages').then(function(reply) {
			(reply.packages || []).forEach(function(name) { select.appendChild(E('option', { 'value': name }, [ clean.plain(name) ])); });
		}).catch(box.fault.bind(box));
	},

	/* A file that the daemon has already. Shape: { upload, name, size_bytes, media_type }. */
	attached: function(file) {
		const item = { id: file.upload, name: file.name, size_bytes: file.size_bytes, media_type: file.media_type, isFailed: false };

		item.sending = { stop: function() { api.call('drop_upload', item.id).catch(function() {}); } };
		this.show(item, []);
		this.state.emit('say', _('%s is attached').format(file.name));
	},

	/* The chip of a file; more: nodes behind its name. */
	show: function(item, more) {
		item.node = page.chip([
			E('span', { 'class': 'oasis-chip-text', 'title': item.media_type || null }, [ item.name ]),
			E('span', { 'class': 'oasis-count' }, [ ' \u00b7 ' + page.size(item.size_bytes) ])
		].concat(more), _('Remove %s').format(item.name), L.bind(this.drop, this, item));
		item.node.setAttribute('role', 'listitem');
		this.items.push(item);
		this.node.appendChild(item.node);
		this.changed();
	},

	drop: function(item) {
		item.sending.stop();
		item.node.remove();
		this.items = this.items.filter(function(other) { return other != item; });
		this.changed();
		this.state.emit('focus');
	},

	/* What a message would take along now. Shape of each: { id, name, size_bytes, media_type }. */
	changed: function() {
		this.state.files = this.items.filter(function(item) { return item.id; });
		this.state.emit('resized');
	},

	/* Why the message cannot go yet, or "". */
	obstacle: function() {
		if (this.items.some(function(item) { return item.isFailed; }))
			return _('A file was not sent: remove it or attach it again.');
		if (this.items.some(function(item) { return !item.id; }))
			return _('A file is still being sent.');
		return '';
	},

	/* The files of a message that was taken are removed; what was attached meanwhile stays. */
	sent: function(items) {
		items.forEach(function(item) { item.node.remove(); });
		this.items = this.items.filter(function(item) { return items.indexOf(item) == -1; });
		this.changed();
	}
});

/*
 * A password or key goes to the router by itself, and only a name for it into the message. The value is in the dialog's field alone, and
 * gone from there once it was sent or the dialog is left. insert(name) gives the node to go on in.
 */
function askSecret(insert) {
	const input = E('input', {
		'type': 'password', 'class': 'cbi-input-password', 'autocomplete': 'off', 'spellcheck': 'false', 'autofocus': '', 'aria-describedby': 'oasis-secret'
	});
	const keep = async function() {
		const reply = await api.call('keep_secret', input.value);

		input.value = '';
		box.from = insert(reply.secret);
	};
	const save = function(ev) {
		ev.preventDefault();
		return input.value ? box.run(keep) : input.focus();
	};
	const box = dialog.open(_('Enter a password or key'), [
		E('form', { 'submit': save, 'autocomplete': 'off' }, [
			page.field(_('Password or key'), input)
		]),
		E('p', { 'class': 'oasis-small', 'id': 'oasis-secret' }, [
			_('The model never sees it: the message holds a name for it, which the router replaces when it sets it. It is kept in memory until the service restarts.')
		])
	], [ page.button(_('Put it into the message'), 'cbi-button-action important', save) ]);

	box.onClose = function() { input.value = ''; };
}

const Composer = baseclass.extend({
	__init__: function(state) {
		this.state = state;
		this.isBusy = false;
		this.area = E('textarea', {
			'id': 'oasis-input', 'class': 'cbi-input-textarea', 'rows': '2', 'placeholder': _('What should the router do?'),
			'aria-describedby': 'oasis-keys', 'autocomplete': 'off'
		});
		this.sendButton = E('button', { 'type': 'submit', 'class': 'btn cbi-button cbi-button-action important' }, [ _('Send') ]);
		this.stopButton = E('button', { 'type': 'button', 'class': 'btn cbi-button cbi-button-negative', 'hidden': '', 'click': function() { return state.emit('stop'); } }, [ _('Stop') ]);
		this.status = E('p', { 'class': 'oasis-status', 'role': 'status' });
		this.above = E('div', { 'class': 'oasis-above' });
		this.tools = E('div', { 'class': 'oasis-tools' });
		this.files = new Attachments(state);
		this.files.pasteInto(this.area);
		this.above.appendChild(this.files.node);
		[
			this.files.button, this.files.input, this.files.config,
			page.button(_('Password\u2026'), '', L.bind(function() { askSecret(this.insert.bind(this)); }, this))
		].forEach(function(node) { this.tools.appendChild(node); }, this);
		this.node = this.render();

		this.area.value = state.draft = window.sessionStorage.getItem(DRAFT_KEY) || '';
		this.area.addEventListener('input', this.keep.bind(this));
		this.area.addEventListener('keydown', this.areaKey.bind(this));
		document.addEventListener('keydown', this.pageKey.bind(this));
		state.on({ busy: this.busy, idle: this.idle, say: this.say, draft: this.put, focus: this.focus }, this);
	},

	render: function() {
		return E('div', [
			this.status, this.above,
			E('form', { 'class': 'oasis-compose', 'submit': this.submit.bind(this) }, [
				E('label', { 'class': 'oasis-hidden', 'for': 'oasis-input' }, [ _('Message') ]),
				this.area, this.sendButton, this.stopButton
			]),
			this.tools,
			E('p', { 'class': 'oasis-small oasis-keys', 'id': 'oasis-keys' }, [ _('Enter sends, Shift+Enter starts a new line, Escape stops') ])
		]);
	},

	/* A run goes on: Stop takes the place of Send. */
	busy: function(text, isMoving) {
		this.turn(true);
		this.show(text, isMoving !== false);
	},

	idle: function(text) {
		this.turn(false);
		this.show(text, false);
	},

	say: function(text) {
		this.show(text, this.isBusy);
	},

	focus: function() {
		this.grow();
		this.area.focus({ preventScroll: true });
	},

	turn: function(isBusy) {
		this.isBusy = isBusy;
		this.sendButton.hidden = isBusy;
		this.stopButton.hidden = !isBusy;
	},

	show: function(text, isMoving) {
		this.status.textContent = text;
		this.status.classList.toggle('oasis-busy', isMoving);
	},

	grow: function() {
		this.area.style.height = 'auto';
		this.area.style.height = (this.area.scrollHeight + 2) + 'px';
	},

	keep: function() {
		this.state.draft = this.area.value;
		window.sessionStorage.setItem(DRAFT_KEY, this.area.value);
		this.grow();
	},

	put: function(text) {
		this.area.value = text;
		this.keep();
	},

	/* Insert a name where the cursor is; gives the field. */
	insert: function(word) {
		this.area.setRangeText(word, this.area.selectionStart, this.area.selectionEnd, 'end');
		this.keep();
		return this.area;
	},

	areaKey: function(ev) {
		/* Enter that ends the input of a Japanese or Chinese word must not send */
		if (ev.key == 'Enter' && !ev.shiftKey && !ev.isComposing && ev.keyCode != 229)
			this.submit(ev);
	},

	pageKey: function(ev) {
		if (ev.key == 'Escape' && this.isBusy && !ev.isComposing && document.contains(this.node))
			this.state.emit('stop');
	},

	submit: function(ev) {
		const text = this.area.value;

		ev.preventDefault();
		if (this.isBusy || !text.trim())
			return;
		if (!api.fits(text))
			return this.show(_('This message is too long: shorten it to about 60 kB.'), false);
		if (this.files.obstacle())
			return this.show(this.files.obstacle(), false);

		this.area.value = this.state.draft = '';
		this.grow();
		this.state.emit('send', text).then(L.bind(function(isTaken) {
			/* what was typed meanwhile must not be lost either */
			this.put(isTaken ? this.area.value : text + (this.area.value ? '\n' + this.area.value : ''));
		}, this));
	}
});

return baseclass.extend({
	/* Gives { node, above and tools (places for what else belongs to the field), files (with dropOn(node)) }. */
	create: function(state) {
		return new Composer(state);
	}
});
