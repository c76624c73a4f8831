'use strict';
'require baseclass';
'require ui';
'require oasis.page as page';

/*
 * LuCI's dialog with what it lacks: the keyboard stays in it, Escape leaves it, the focus goes back to where it came from,
 * and a fault is shown in it. Titles are the page's own texts, never data: LuCI reads them as HTML.
 */

const FOCUSABLE = 'button:not(:disabled), input:not(:disabled), select, textarea, summary, a[href], [tabindex="0"]';

/* a button that is disabled while the dialog is fetched loses the focus, and the focus is to come back to it */
let focused = null;

document.addEventListener('focusin', function(ev) { focused = ev.target; });

function cycle(ev, node) {
	const all = Array.from(node.querySelectorAll(FOCUSABLE)).filter(function(item) { return item.offsetParent; });
	const edge = ev.shiftKey ? all[0] : all[all.length - 1];

	if (document.activeElement != edge && node.contains(document.activeElement))
		return;
	ev.preventDefault();
	all[ev.shiftKey ? all.length - 1 : 0].focus();
}

const Dialog = baseclass.extend({
	/* The first button is the harmless one: it closes. */
	__init__: function(title, nodes, buttons) {
		this.from = document.activeElement == document.body ? focused : document.activeElement;
		this.trouble = E('div', { 'role': 'alert' });
		this.body = E('div', nodes);
		this.foot = E('div', { 'class': 'right oasis-dialog-foot' });
		this.node = E('div', { 'class': 'oasis-dialog' }, [ this.body, this.trouble, this.foot ]);
		this.buttons(buttons || []);
		ui.showModal(title, [ this.node ]).setAttribute('aria-label', title);
		/* before anything on the page, where Escape stops a run; also when a disabled button lost the focus */
		this.hear = this.key.bind(this);
		document.addEventListener('keydown', this.hear, true);
		(this.node.querySelector('[autofocus]') || this.foot.firstChild).focus();
	},

	/* Buttons in this order behind the one that closes; name: of that one, if not the usual. */
	buttons: function(nodes, name) {
		this.foot.textContent = '';
		this.foot.appendChild(page.button(name || (nodes.length ? _('Cancel') : _('Close')), '', this.close.bind(this)));
		nodes.forEach(function(node) {
			this.foot.appendChild(document.createTextNode(' '));
			this.foot.appendChild(node);
		}, this);
	},

	key: function(ev) {
		if (!this.isOpen())
			return document.removeEventListener('keydown', this.hear, true);
		if (ev.key == 'Tab')
			cycle(ev, this.node);
		if (ev.key != 'Escape' || ev.isComposing)
			return;
		ev.stopPropagation();
		this.close();
	},

	isOpen: function() {
		return document.contains(this.node) && document.body.classList.contains('modal-overlay-active');
	},

	/* A dialog that LuCI put in its place (the session is over) stays. */
	close: function() {
		if (this.onClose)
			this.onClose();
		if (document.contains(this.node))
			ui.hideModal();
		this.node.remove();

		/* the page may have been redrawn behind it */
		const to = this.from && (document.contains(this.from) ? this.from : page.keyed(this.from.dataset.key));

		if (to)
			to.focus({ preventScroll: true });
	},

	fault: function(fault) {
		this.trouble.textContent = '';
		this.trouble.appendChild(page.fault(fault));
	},

	/* Do something while the buttons are disabled; close when it worked, else show the fault. */
	run: function(work) {
		const buttons = this.node.querySelectorAll('button');

		this.trouble.textContent = '';
		buttons.forEach(function(item) { item.disabled = true; });
		return Promise.resolve().then(work).then(this.close.bind(this), this.fault.bind(this))
			.finally(function() { buttons.forEach(function(item) { item.disabled = false; }); });
	}
});

return baseclass.extend({
	/* Gives { node, body, buttons(nodes, name), close(), isOpen(), fault(fault), run(work) }; its `onClose`, when set, is called before it goes. */
	open: function(title, nodes, buttons) {
		return new Dialog(title, nodes, buttons);
	},

	/* A question whose answer does something: act() gives a promise. */
	ask: function(title, text, label, act) {
		const dialog = new Dialog(title, [ E('p', [ text ]) ], [
			page.button(label, 'cbi-button-negative important', function() { return dialog.run(act); })
		]);
		return dialog;
	},

	/* A question for one line of text: act(text) gives a promise. */
	line: function(title, label, value, act) {
		const input = E('input', { 'type': 'text', 'class': 'cbi-input-text', 'maxlength': '200', 'autofocus': '', 'value': value });
		const save = function(ev) {
			ev.preventDefault();
			return dialog.run(function() { return act(input.value.trim()); });
		};
		const dialog = new Dialog(title, [
			E('form', { 'submit': save }, [ page.field(label, input) ])
		], [ page.button(_('Save'), 'cbi-button-action important', save) ]);

		input.select();
		return dialog;
	}
});
