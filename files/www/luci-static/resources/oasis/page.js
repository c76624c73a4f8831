'use strict';
'require baseclass';
'require oasis.clean as clean';

/*
 * What pages are made of: small nodes, the notices above a page, the frame of the pages other than the chat, tables, the bar that filters
 * a list, times, and files to save. Data comes in as text and leaves as text nodes. This module knows no daemon.
 */

/* what a spreadsheet would take for a formula */
const FORMULA = /^[=+\-@\t\r]/;
const DAY_S = 86400;
const KEEP_URL_MS = 60000;
const TICK_MS = 250;

/* --- small nodes --- */

function button(label, classes, press) {
	return E('button', { 'type': 'button', 'class': 'btn cbi-button ' + (classes || ''), 'click': press }, [ label ]);
}

/* A button that looks like a word; `name` is what a screen reader says instead of the label. */
function link(label, press, name) {
	return E('button', { 'type': 'button', 'class': 'oasis-link', 'title': name, 'aria-label': name, 'click': press }, [ label ]);
}

/* pick a unit that leaves few digits; files are counted as flash is */
function size(bytes) {
	return bytes < 1024 ? '%d B'.format(bytes) : bytes < 1024 * 1024 ? '%d KiB'.format(Math.ceil(bytes / 1024))
		: '%.1f MiB'.format(bytes / 1024 / 1024);
}

/* The node with this key that can take the focus, else one of the same row; keys are "row/what". */
function keyed(key) {
	const all = Array.from(document.querySelectorAll('[data-key]')).filter(function(node) { return !node.disabled; });

	return key && (all.find(function(node) { return node.dataset.key == key; })
		|| all.find(function(node) { return node.dataset.key.split('/')[0] == key.split('/')[0]; }));
}

/* A label above its input, with an optional hint below. */
function field(label, input, hint) {
	return E('label', { 'class': 'oasis-field' }, [ E('span', [ label ]), input ].concat(hint ? E('span', { 'class': 'oasis-small' }, [ hint ]) : []));
}

/* A choice. pairs: [ value, name ]. */
function select(pairs, attributes) {
	return E('select', Object.assign({ 'class': 'cbi-input-select' }, attributes), pairs.map(function(pair) {
		return E('option', { 'value': pair[0] }, [ pair[1] ]);
	}));
}

/* A small picture of ours in the colour of the text next to it; a screen reader skips it. */
function icon(name) {
	return E('span', {
		'class': 'oasis-icon', 'aria-hidden': 'true', 'style': "--oasis-icon: url('%s')".format(L.resource('oasis/icons/' + name + '.svg'))
	});
}

/* Tell whether this login may change anything. */
function isWriter() { return L.hasViewPermission() !== false; }

/* --- times --- */

function language() {
	return document.documentElement.lang || undefined;
}

/* seconds as 1:05 */
function clock(seconds) {
	const whole = Math.max(0, Math.ceil(seconds)), minutes = Math.floor(whole / 60);
	const two = function(number) { return String(number % 60).padStart(2, '0'); };

	return minutes >= 60 ? '%d:%s:%s'.format(Math.floor(minutes / 60), two(minutes), two(whole)) : '%d:%s'.format(minutes, two(whole));
}

/* --- tables --- */

function nodes(content) {
	return content == null ? [] : Array.isArray(content) ? content : [ typeof(content) == 'object' ? content : String(content) ];
}

function cell(column, content) {
	return E(column.isName ? 'th' : 'td', {
		'class': 'td' + (column.isNumber ? ' oasis-number' : ''), 'data-title': column.isWide ? '' : column.title,
		'role': column.isName ? 'rowheader' : 'cell', 'scope': column.isName ? 'row' : null
	}, [ E('div', nodes(content)) ]);
}

function row(columns, contents) {
	return E('tr', { 'class': 'tr', 'role': 'row' }, columns.map(function(column, i) { return cell(column, contents[i]); }));
}

/* --- files and styles --- */

function saved(text) {
	const plain = String(text == null ? '' : text);

	return '"%s"'.format((FORMULA.test(plain) && isNaN(plain) ? "'" + plain : plain).replace(/"/g, '""'));
}

/* With the version that LuCI gives its scripts: uhttpd says nothing of how long a file is good, so browsers keep the old one after an upgrade. */
function sheet(name) {
	const version = L.env.resource_version ? '?v=' + L.env.resource_version : '';

	return new Promise(function(resolve) {
		document.head.appendChild(E('link', {
			'rel': 'stylesheet', 'href': L.resource('oasis/' + name + '.css') + version, 'load': resolve, 'error': resolve
		}));
	});
}

/*
 * What is said above a page: a fault of the page as a whole, and what stays true of the router. changed() is called when the height may
 * have changed.
 */
const Notices = baseclass.extend({
	__init__: function(changed) {
		this.changed = changed;
		this.standing = null;
		this.node = E('div', { 'class': 'oasis-notices', 'aria-live': 'polite' });
	},

	/* unconfined: why the worker is not confined; it stays until another clear() says otherwise. */
	clear: function(unconfined) {
		if (unconfined !== undefined)
			this.standing = unconfined ? E('div', { 'class': 'alert-message warning' }, [
				_('The AI worker is not confined: %s').format(clean.plain(unconfined))
			]) : null;
		this.node.textContent = '';
		if (this.standing)
			this.node.appendChild(this.standing);
		this.changed();
	},

	/* isWhole: the page could not be filled, so trying again means loading it again */
	fault: function(fault, isWhole) {
		const isOver = fault.code == 'session', reload = function() { window.location.reload(); };
		const again = isOver ? button(_('Log in again'), 'cbi-button-action important', reload) : isWhole ? button(_('Try again'), '', reload) : null;

		this.clear();
		this.add(isOver ? 'warning' : 'danger error', [
			E('strong', [ clean.plain(fault.message) ]), ' ', clean.plain(fault.hint), again ? E('div', [ again ]) : ''
		]).setAttribute('role', 'alert');
	},

	add: function(kind, content) {
		const node = this.node.appendChild(E('div', { 'class': 'alert-message ' + kind }, content));

		this.changed();
		return node;
	}
});

const Frame = baseclass.extend({
	__init__: function(title, intro, tools, state) {
		/* the name of this page: the last part of its address */
		const name = L.env.requestpath[L.env.requestpath.length - 1];

		this.said = E('p', { 'class': 'oasis-said oasis-small', 'role': 'status' });
		this.notices = new Notices(function() {});
		this.body = E('div', { 'class': 'oasis-page-body' });
		this.node = E('div', { 'class': 'oasis oasis-page cbi-map' }, [
			E('div', { 'class': 'oasis-page-top' }, [ E('h2', { 'name': 'content' }, [ icon(name), ' ', title ]), E('span', tools || []) ]),
			E('p', { 'class': 'cbi-map-descr oasis-page-intro' }, nodes(intro)),
			this.notices.node, this.said, this.body
		]);
		if (state)
			state.on({ fault: this.fault, decided: this.decided }, this);
	},

	/* Show these nodes instead of those before. */
	fill: function(content) { this.put(this.body, content); },

	/* Put other nodes into a part of the page; the keyboard stays where it was, or at what was pressed (its data-key). */
	put: function(place, content) {
		const at = document.activeElement, key = at && place.contains(at) && at.dataset.key;

		place.textContent = '';
		content.filter(Boolean).forEach(function(node) { place.appendChild(node); });

		const to = keyed(key || this.pressed);

		if (to && (key || document.activeElement == document.body))
			to.focus({ preventScroll: true });
	},

	/* Say what was done; a screen reader reads it. */
	say: function(text) { this.said.textContent = text; },

	/* Something was decided, and the button that was pressed for it is gone: the keyboard goes to the heading. */
	decided: function(text) {
		const head = this.node.querySelector('h2');

		this.say(text);
		head.setAttribute('tabindex', '-1');
		head.focus({ preventScroll: true });
	},

	/* isWhole: the page could not be filled, so the way on is to load it again */
	fault: function(fault, isWhole) {
		this.said.textContent = '';
		this.notices.fault(fault, isWhole);
	},

	/* Do something while the button that was pressed is disabled; a fault is shown above. Gives a promise that is never rejected. */
	run: function(work, ev) {
		const pressed = ev && ev.currentTarget;

		this.notices.clear();
		this.pressed = pressed && pressed.dataset.key;
		if (pressed)
			pressed.disabled = true;
		return Promise.resolve().then(work).catch(this.fault.bind(this)).finally(function() {
			if (pressed)
				pressed.disabled = false;
		});
	}
});

/* The bar above a list: a search field, choices, and how many entries are left. It knows nothing of the list. */
const Filter = baseclass.extend({
	__init__: function(hint, choices, changed) {
		this.input = E('input', { 'type': 'search', 'class': 'cbi-input-text', 'placeholder': hint, 'input': changed });
		this.selects = choices.map(function(choice) { return select(Object.entries(choice.names), { 'change': changed }); });
		this.count = E('p', { 'class': 'oasis-small', 'role': 'status' });
		this.node = E('div', [
			E('div', { 'class': 'oasis-filter', 'role': 'search' }, [ field(_('Look for'), this.input) ].concat(choices.map(function(choice, i) {
				return field(choice.label, this.selects[i]);
			}, this))),
			this.count
		]);
	},

	/* Tell whether one of these texts holds what is searched for. */
	fits: function(texts) {
		return texts.join('\n').toLowerCase().indexOf(this.input.value.trim().toLowerCase()) != -1;
	},

	chosen: function(i) { return this.selects[i].value; },

	/* Tell whether anything is filtered out. */
	isUsed: function() {
		return this.input.value.trim() != '' || this.selects.some(function(item) { return item.selectedIndex > 0; });
	},

	say: function(text) { this.count.textContent = text; },

	/* Let everything through. */
	clear: function() {
		this.input.value = '';
		this.selects.forEach(function(item) { item.selectedIndex = 0; });
	}
});

return baseclass.extend({
	button: button,
	link: link,
	size: size,
	keyed: keyed,
	field: field,
	select: select,
	icon: icon,
	isWriter: isWriter,
	clock: clock,

	/* Buttons behind three dots; pressing one, Escape or a press elsewhere folds them again. */
	menu: function(name, buttons) {
		const node = E('details', { 'class': 'oasis-menu' }, [
			E('summary', { 'aria-label': name, 'title': name }, [ '\u22ef' ]), E('span', buttons)
		]);
		const away = function(ev) {
			if (!document.contains(node) || !node.contains(ev.target))
				node.open = false;
		};

		node.addEventListener('click', function(ev) {
			if (ev.target.tagName == 'BUTTON')
				node.open = false;
		});
		node.addEventListener('keydown', function(ev) {
			if (ev.key != 'Escape' || !node.open)
				return;
			ev.stopPropagation();
			node.open = false;
			node.firstChild.focus();
		});
		node.addEventListener('toggle', function() {
			document[node.open ? 'addEventListener' : 'removeEventListener']('click', away);
		});
		return node;
	},

	/* A word with a cross that removes it; without `drop` there is no cross. */
	chip: function(content, name, drop) {
		return E('span', { 'class': 'oasis-chip' }, content.concat(drop ? [ link('\u00d7', drop, name) ] : []));
	},

	/* A document or image that belongs to a message. Shape: { name, size_bytes, media_type }. */
	file: function(block) {
		const bytes = block.size_bytes ? ' \u00b7 ' + size(block.size_bytes) : '';

		return E('span', { 'class': 'oasis-chip oasis-file', 'title': block.media_type }, [
			E('span', { 'class': 'oasis-chip-text' }, [ block.name || (block.type == 'image' ? _('Image') : _('Document')) ]),
			E('span', { 'class': 'oasis-count' }, [ bytes ])
		]);
	},

	/* A fault in one line. read: how its text is made visible, clean.plain if absent. */
	fault: function(fault, read) {
		read = read || clean.plain;
		return E('p', { 'class': 'oasis-fault' }, [ E('strong', [ read(fault.message) ]), ' ', read(fault.hint) ]);
	},

	/* Gives { node, clear(unconfined), fault(fault, isWhole), add(kind, nodes) }. */
	notices: function(changed) {
		return new Notices(changed);
	},

	/*
	 * The frame of a page; `tools` (nodes) stand next to its heading. It listens to fault(fault, isWhole) and decided(text) of the state,
	 * which may be absent.
	 * Gives { node, body, notices, fill(nodes), put(place, nodes), say(text), fault(fault, isWhole), run(work, ev) }.
	 */
	frame: function(title, intro, tools, state) {
		return new Frame(title, intro, tools, state);
	},

	/*
	 * choices: [{ label, names: { key: name } }], the first key of each lets everything through.
	 * Gives { node, fits(texts), chosen(i), isUsed(), say(text), clear() }.
	 */
	filter: function(hint, choices, changed) {
		return new Filter(hint, choices, changed);
	},

	/*
	 * Fetch the style of all pages, and those of `sheets`, while `work` (a promise) goes on; gives what that gives. A page is shown in its
	 * style at once: one that gets it later jumps under the finger.
	 */
	styled: function(work, sheets) {
		return Promise.all([ work, sheet('page') ].concat((sheets || []).map(sheet))).then(function(results) { return results[0]; });
	},

	/* A part of a page with a heading, "" for none; content: nodes. */
	section: function(title, content) {
		return E('div', { 'class': 'cbi-section' }, (title ? [ E('h3', [ title ]) ] : []).concat(content));
	},

	/*
	 * A table. columns: [{ title ("" for buttons), isName (heads its row), isNumber, isWide (takes a phone's whole line) }], all but the
	 * title may be absent; rows and sums: lists of cells, each a text, a node or a list of both; empty: what stands there instead when
	 * there are no rows. On a phone each row is a small list.
	 */
	table: function(caption, columns, rows, empty, sums) {
		if (!rows.length)
			return E('p', { 'class': 'oasis-nothing' }, [ empty || _('Nothing is here yet.') ]);

		const head = columns.map(function(column) {
			return E('th', { 'class': 'th' + (column.isNumber ? ' oasis-number' : ''), 'role': 'columnheader', 'scope': 'col' }, [
				column.title || E('span', { 'class': 'oasis-hidden' }, [ _('Actions') ])
			]);
		});

		return E('div', { 'class': 'oasis-wide' }, [ E('table', { 'class': 'table oasis-table', 'role': 'table' }, [
			E('caption', [ caption ]),
			E('thead', { 'role': 'rowgroup' }, [ E('tr', { 'class': 'tr table-titles', 'role': 'row' }, head) ]),
			E('tbody', { 'role': 'rowgroup' }, rows.map(function(contents) { return row(columns, contents); }))
		].concat(sums ? E('tfoot', { 'role': 'rowgroup' }, [ row(columns, sums) ]) : [])) ]);
	},

	/* Buttons at the end of a row. */
	buttons: function(items) {
		return E('div', { 'class': 'oasis-row-buttons' }, items.filter(Boolean));
	},

	/* A word in a coloured pill; kind: good, warn, bad or "" */
	badge: function(text, kind) {
		return E('span', { 'class': 'oasis-badge' + (kind ? ' oasis-' + kind : '') }, [ text ]);
	},

	/* A list of texts from outside. read: how they are made visible, clean.plain if absent. */
	list: function(items, read) {
		return E('ul', items.map(function(item) { return E('li', [ (read || clean.plain)(item) ]); }));
	},

	/* Commands, folded. read: as in list(). */
	commands: function(items, read) {
		return E('details', { 'class': 'oasis-diff' }, [
			E('summary', [ N_(items.length, '%d UCI command', '%d UCI commands').format(items.length) ]),
			E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, [ items.map(read || clean.plain).join('\n') ])
		]);
	},

	/* A moment as the reader's language writes it: the time for today, else day and time. Units: seconds since 1970. */
	time: function(unix_s) {
		if (!unix_s)
			return E('span', [ '\u2013' ]);

		const when = new Date(unix_s * 1000), isNear = Math.abs(Date.now() / 1000 - unix_s) < DAY_S && when.getDate() == new Date().getDate();
		const long = when.toLocaleString(language(), { dateStyle: 'full', timeStyle: 'medium' });
		const short = isNear ? when.toLocaleTimeString(language(), { timeStyle: 'short' })
			: when.toLocaleString(language(), { dateStyle: 'medium', timeStyle: 'short' });

		return E('time', { 'datetime': when.toISOString(), 'title': long }, [ short ]);
	},

	/*
	 * Call tick(seconds left) now and about four times a second, then done() once; ends by itself when `node` leaves the page.
	 * Gives a function that stops it.
	 */
	countdown: function(node, seconds, tick, done) {
		const end_ms = performance.now() + seconds * 1000;
		let shown = false;

		const step = function() {
			const left_s = (end_ms - performance.now()) / 1000;

			shown = shown || document.contains(node);
			if (shown && !document.contains(node))
				return window.clearInterval(timer);

			tick(Math.max(0, left_s));

			if (left_s <= 0) {
				window.clearInterval(timer);
				done();
			}
		};
		const timer = window.setInterval(step, TICK_MS);

		tick(Math.max(0, seconds));
		return function() { window.clearInterval(timer); };
	},

	/* Unix milliseconds hidden in a message id (SCRU128: 25 digits of base 36, the time in the upper 48 bits), or null */
	time_ms: function(id) {
		if (typeof(id) != 'string' || !(/^[0-9a-zA-Z]{25}$/).test(id))
			return null;

		/* 80 lower bits are dropped; a double holds the rest well enough to sort by */
		return Array.from(id).reduce(function(value, digit) { return value * 36 + parseInt(digit, 36); }, 0) / Math.pow(2, 80);
	},

	/* A number with the reader's own separators. */
	number: function(value) { return Number(value || 0).toLocaleString(language()); },

	/* A link to another page of Oasis; name: the last part of its address */
	pageLink: function(name, label) {
		return E('a', { 'href': L.url('admin/network/oasis/' + name) }, [ label ]);
	},

	/* Rows of texts as a file for a spreadsheet, where no cell is a formula. */
	csv: function(rows) {
		/* the mark tells Excel that it is UTF-8 */
		return '\ufeff' + rows.map(function(cells) { return cells.map(saved).join(','); }).join('\r\n') + '\r\n';
	},

	/* Save a file made here. */
	download: function(name, type, parts) {
		const url = URL.createObjectURL(new Blob(parts, { type: type }));
		const anchor = E('a', { 'href': url, 'download': name });

		document.body.appendChild(anchor);
		anchor.click();
		anchor.remove();
		window.setTimeout(function() { URL.revokeObjectURL(url); }, KEEP_URL_MS);
	},

	/* A button that does something that takes a while: press(ev) gives a promise, and the button is disabled until it is settled. */
	busyButton: function(label, classes, press) {
		return button(label, classes, function(ev) {
			const pressed = ev.currentTarget;

			pressed.disabled = true;
			return press(ev).finally(function() { pressed.disabled = false; });
		});
	},

	/* A button that changes something, so it is disabled for those who may only look. key: "row/what", by which the keyboard finds it again. */
	act: function(label, classes, press, key) {
		const node = button(label, classes, press);

		if (!isWriter()) {
			node.disabled = true;
			node.title = _('This login may look, but not write.');
		}
		node.dataset.key = key;
		return node;
	}
});
