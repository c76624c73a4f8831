'use strict';
'require baseclass';
'require oasis.words as words';

/*
 * What is said above the conversation: a fault of the page as a whole, a plan that waits elsewhere, and what stays true
 * of the router. It knows no daemon.
 */

function button(label, classes, press) {
	return E('button', { 'type': 'button', 'class': 'btn cbi-button ' + classes, 'click': press }, [ label ]);
}

function reload() {
	window.location.reload();
}

return baseclass.extend({
	/* changed() is called when the height may have changed.
	   Gives { node, clear(unconfined), fault(fault, isWhole), plan(plan, open) }; why the worker is not confined stays
	   until another clear() says otherwise. */
	create: function(changed) {
		const node = E('div', { 'class': 'oasis-notices', 'aria-live': 'polite' });
		let standing = null;

		const clear = function(unconfined) {
			if (unconfined !== undefined)
				standing = unconfined ? E('div', { 'class': 'alert-message warning' }, [
					_('The AI worker is not confined: %s').format(words.plain(unconfined))
				]) : null;
			node.textContent = '';
			if (standing)
				node.appendChild(standing);
			changed();
		};

		return {
			node: node,
			clear: clear,

			/* isWhole: the page could not be filled, so trying again means loading it again */
			fault: function(fault, isWhole) {
				const kind = fault.code == 'session' ? 'warning' : 'danger error';
				const again = fault.code == 'session' ? button(_('Log in again'), 'cbi-button-action important', reload)
					: isWhole ? button(_('Try again'), '', reload) : null;

				clear();
				node.appendChild(E('div', { 'class': 'alert-message ' + kind, 'role': 'alert' }, [
					E('strong', [ words.plain(fault.message) ]), ' ', words.plain(fault.hint), again ? E('div', [ again ]) : ''
				]));
				changed();
			},

			plan: function(plan, open) {
				node.appendChild(E('div', { 'class': 'alert-message notice' }, [
					_('A plan in another chat waits for your decision: %s').format(words.plain(plan.summary)), ' ', button(_('Open'), '', open)
				]));
				changed();
			}
		};
	}
});
