'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.upload as upload';
'require oasis.dialog as dialog';
'require oasis.controls as controls';
'require oasis.words as words';

/*
 * Documents and images that go along with the next message: picked, dropped or pasted, sent to the daemon at once, shown
 * as chips; and settings of the router, which the daemon makes a file of. What a file is, the daemon decides.
 */

/* the daemon takes no more of a file, nor more files; to say so before one is sent saves minutes */
const FILE_BYTES = 1024 * 1024;
const FILES = 8;
const KINDS = 'image/*,application/pdf,text/*,.md,.json,.csv,.log,.conf,.docx,.xlsx';

function sizeFault(file) {
	return _('%s has %s; a file may have %s. Attach the part that matters.')
		.format(file.name, controls.size(file.size), controls.size(FILE_BYTES));
}

const Attachments = baseclass.extend({
	__init__: function(area, place, act) {
		this.act = act;
		this.items = [];
		this.input = E('input', { 'type': 'file', 'multiple': '', 'accept': KINDS, 'hidden': '', 'tabindex': '-1' });
		this.button = controls.button(_('Attach\u2026'), '', L.bind(function() { this.input.click(); }, this));
		this.config = controls.button(_('Attach settings\u2026'), '', this.choose.bind(this));
		this.node = E('div', { 'class': 'oasis-files', 'role': 'list', 'aria-label': _('Attached files') });
		this.input.addEventListener('change', L.bind(function() {
			this.add(this.input.files);
			this.input.value = '';
		}, this));
		area.addEventListener('paste', L.bind(this.taken, this, 'clipboardData'));
		place.addEventListener('drop', L.bind(this.taken, this, 'dataTransfer'));
		place.addEventListener('dragover', function(ev) {
			if (Array.from(ev.dataTransfer.types).indexOf('Files') != -1)
				ev.preventDefault();
		});
	},

	/* Text that is pasted or dropped goes its usual way. */
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
				this.act.say(sizeFault(file));
			else if (this.items.length == FILES)
				this.act.say(_('A message takes %d files.').format(FILES));
			else
				this.begin(file);
		}, this);
	},

	begin: function(file) {
		const bar = E('progress', { 'max': '1', 'value': '0', 'aria-label': _('Sending %s').format(file.name) });
		const item = { name: file.name, size_bytes: file.size, media_type: file.type, id: null, isFailed: false };

		this.show(item, [ bar ]);
		item.sending = upload.send(file, function(part) { bar.value = part; });
		item.sending.done.then(L.bind(function(reply) {
			item.id = reply.upload;
			item.media_type = reply.media_type || item.media_type;
			bar.remove();
			this.act.say(_('%s is attached').format(file.name));
		}, this)).catch(L.bind(function(fault) {
			item.isFailed = true;
			bar.remove();
			item.node.classList.add('oasis-no');
			item.node.querySelector('.oasis-count').textContent = ' \u00b7 ' + fault.message;
			this.act.trouble(fault);
		}, this));
	},

	/* One package of the router's configuration, as the daemon shows it: without passwords and keys. */
	choose: function() {
		if (this.items.length == FILES)
			return this.act.say(_('A message takes %d files.').format(FILES));

		const select = E('select', { 'class': 'cbi-input-select', 'autofocus': '' });
		const box = dialog.open(_('Attach settings'), [
			E('label', { 'class': 'oasis-field' }, [ E('span', [ _('Package') ]), select ]),
			E('p', { 'class': 'oasis-small' }, [ _('The settings go along with the message as a file. Passwords and keys are masked.') ])
		], [ controls.button(_('Attach'), 'cbi-button-action important', L.bind(function() {
			return box.run(L.bind(function() { return api.call('attach_package', select.value).then(this.attached.bind(this)); }, this));
		}, this)) ]);

		return api.call('packages').then(function(reply) {
			(reply.packages || []).forEach(function(name) { select.appendChild(E('option', { 'value': name }, [ words.plain(name) ])); });
		}).catch(box.fault.bind(box));
	},

	/* A file that the daemon has already. Shape: { upload, name, size_bytes, media_type }. */
	attached: function(file) {
		const item = { id: file.upload, name: file.name, size_bytes: file.size_bytes, media_type: file.media_type, isFailed: false };

		item.sending = { stop: function() { api.call('drop_upload', item.id).catch(function() {}); } };
		this.show(item, []);
		this.act.say(_('%s is attached').format(file.name));
	},

	/* The chip of a file; more: nodes behind its name. */
	show: function(item, more) {
		item.node = controls.chip([
			E('span', { 'class': 'oasis-chip-text', 'title': item.media_type || null }, [ item.name ]),
			E('span', { 'class': 'oasis-count' }, [ ' \u00b7 ' + controls.size(item.size_bytes) ])
		].concat(more), _('Remove %s').format(item.name), L.bind(this.drop, this, item));
		item.node.setAttribute('role', 'listitem');
		this.items.push(item);
		this.node.appendChild(item.node);
		this.act.changed();
	},

	drop: function(item) {
		item.sending.stop();
		item.node.remove();
		this.items = this.items.filter(function(other) { return other != item; });
		this.act.changed();
		this.act.focus();
	},

	/* Why the message cannot go yet, or "". */
	obstacle: function() {
		if (this.items.some(function(item) { return item.isFailed; }))
			return _('A file was not sent: remove it or attach it again.');
		if (this.items.some(function(item) { return !item.id; }))
			return _('A file is still being sent.');
		return '';
	},

	/* Shape: [ { id, name, size_bytes, media_type } ] */
	ready: function() {
		return this.items.filter(function(item) { return item.id; });
	},

	/* Those of a message that was taken go; what was attached meanwhile stays. */
	sent: function(items) {
		items.forEach(function(item) { item.node.remove(); });
		this.items = this.items.filter(function(item) { return items.indexOf(item) == -1; });
		this.act.changed();
	}
});

return baseclass.extend({
	/*
	 * area: the field that is pasted into; place: the node that is dropped on;
	 * act: { say(text), trouble(fault), changed(), focus() }. Gives { node, input, button, config, obstacle(), ready(), sent(items) }.
	 */
	create: function(area, place, act) {
		return new Attachments(area, place, act);
	}
});
