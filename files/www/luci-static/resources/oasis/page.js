'use strict';
'require baseclass';
'require oasis.controls as controls';
'require oasis.notices as notices';

/*
 * What the pages beside the chat are made of: the frame with its heading and the place where faults are told, tables,
 * badges, times, files to save. Data comes in as text and leaves as text nodes. It knows no daemon.
 */

/* what a spreadsheet would take for a formula */
const FORMULA = /^[=+\-@\t\r]/;
const DAY_S = 86400;
const KEEP_URL_MS = 60000;

function language() {
	return document.documentElement.lang || undefined;
}

/* The name of this page: the last part of its address. */
function here() {
	return L.env.requestpath[L.env.requestpath.length - 1];
}

/* A small picture of ours in the colour of the words beside it; it says nothing to a screen reader. */
function icon(name) {
	return E('span', {
		'class': 'oasis-icon', 'aria-hidden': 'true', 'style': "--oasis-icon: url('%s')".format(L.resource('oasis/icons/' + name + '.svg'))
	});
}

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

function saved(text) {
	const plain = String(text == null ? '' : text);

	return '"%s"'.format((FORMULA.test(plain) && isNaN(plain) ? "'" + plain : plain).replace(/"/g, '""'));
}

function sheet(name) {
	return new Promise(function(resolve) {
		document.head.appendChild(E('link', { 'rel': 'stylesheet', 'href': L.resource('oasis/' + name + '.css'), 'load': resolve, 'error': resolve }));
	});
}

const Frame = baseclass.extend({
	__init__: function(title, intro, tools) {
		this.said = E('p', { 'class': 'oasis-said oasis-small', 'role': 'status' });
		this.notices = notices.create(function() {});
		this.body = E('div', { 'class': 'oasis-page-body' });
		this.node = E('div', { 'class': 'oasis oasis-page cbi-map' }, [
			E('div', { 'class': 'oasis-page-top' }, [ E('h2', { 'name': 'content' }, [ icon(here()), ' ', title ]), E('span', tools || []) ]),
			E('p', { 'class': 'cbi-map-descr oasis-page-intro' }, nodes(intro)),
			this.notices.node, this.said, this.body
		]);
	},

	/* Show these nodes instead of those before. */
	fill: function(content) { this.put(this.body, content); },

	/* Put other nodes into a part of the page; the keyboard stays where it was, or at what was pressed (its data-key). */
	put: function(place, content) {
		const at = document.activeElement, key = at && place.contains(at) && at.dataset.key;

		place.textContent = '';
		content.filter(Boolean).forEach(function(node) { place.appendChild(node); });

		const to = controls.keyed(key || this.pressed);

		if (to && (key || document.activeElement == document.body))
			to.focus({ preventScroll: true });
	},

	/* Tell what was done; a screen reader says it. */
	say: function(text) { this.said.textContent = text; },

	/* isWhole: the page could not be filled, so the way on is to load it again */
	fault: function(fault, isWhole) {
		this.said.textContent = '';
		this.notices.fault(fault, isWhole);
	},

	clear: function() { this.notices.clear(); },

	/* Do something while the button that was pressed rests; a fault is told above. Gives a promise that is never rejected. */
	run: function(work, ev) {
		const button = ev && ev.currentTarget;

		this.clear();
		this.pressed = button && button.dataset.key;
		if (button)
			button.disabled = true;
		return Promise.resolve().then(work).catch(this.fault.bind(this)).finally(function() {
			if (button)
				button.disabled = false;
		});
	}
});

return baseclass.extend({
	/*
	 * The frame of a page; `tools` (nodes) stand beside its heading.
	 * Gives { node, body, fill(nodes), put(place, nodes), say(text), fault(fault, isWhole), clear(), run(work, ev) }.
	 */
	frame: function(title, intro, tools) {
		return new Frame(title, intro, tools);
	},

	/*
	 * Fetch the style of all pages, and `sheets` beside it, while `work` (a promise) goes on; gives what that gives. A page is shown in its
	 * style at once: one that gets it later jumps under the finger.
	 */
	styled: function(work, sheets) {
		return Promise.all([ work, sheet('page') ].concat((sheets || []).map(sheet))).then(function(results) { return results[0]; });
	},

	/* Tell whether this login may change anything. */
	isWriter: function() { return L.hasViewPermission() !== false; },

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

	icon: icon,

	/* A moment in the reader's own words: the time for today, else day and time. Units: seconds since 1970. */
	time: function(unix_s) {
		const when = new Date(unix_s * 1000), isNear = Math.abs(Date.now() / 1000 - unix_s) < DAY_S && when.getDate() == new Date().getDate();
		const long = when.toLocaleString(language(), { dateStyle: 'full', timeStyle: 'medium' });
		const short = isNear ? when.toLocaleTimeString(language(), { timeStyle: 'short' })
			: when.toLocaleString(language(), { dateStyle: 'medium', timeStyle: 'short' });

		return E('time', { 'datetime': when.toISOString(), 'title': long }, [ short ]);
	},

	/* A number with the reader's own separators. */
	number: function(value) { return Number(value || 0).toLocaleString(language()); },

	/* A way to another page of Oasis; page: the last part of its address */
	way: function(page, label) {
		return E('a', { 'href': L.url('admin/network/oasis/' + page) }, [ label ]);
	},

	/* Rows of texts as a file for a spreadsheet, where no cell is a formula. */
	csv: function(rows) {
		/* the mark tells Excel that it is UTF-8 */
		return '\ufeff' + rows.map(function(cells) { return cells.map(saved).join(','); }).join('\r\n') + '\r\n';
	},

	/* Save a file made here. */
	download: function(name, type, parts) {
		const url = URL.createObjectURL(new Blob(parts, { type: type }));
		const link = E('a', { 'href': url, 'download': name });

		document.body.appendChild(link);
		link.click();
		link.remove();
		window.setTimeout(function() { URL.revokeObjectURL(url); }, KEEP_URL_MS);
	},

	/* A button of a page; one that only a writer may press rests for others and says why. */
	button: function(label, classes, press, isWriter) {
		const button = controls.button(label, classes, press);

		if (isWriter === false) {
			button.disabled = true;
			button.title = _('This login may look, but not write.');
		}
		return button;
	},

	/* A button that changes something, so only a writer may press it. key: "row/what", by which the keyboard finds it again. */
	act: function(label, classes, press, key) {
		const button = this.button(label, classes, press, this.isWriter());

		button.dataset.key = key;
		return button;
	}
});
