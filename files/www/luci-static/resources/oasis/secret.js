'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.dialog as dialog';
'require oasis.controls as controls';

/*
 * The key button: a password or key goes to the router by itself, and only a name for it into the message. The value is in
 * the dialog's field alone, and gone from there once it was sent or the dialog is left.
 */

function open(insert) {
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
			E('label', { 'class': 'oasis-field' }, [ E('span', [ _('Password or key') ]), input ])
		]),
		E('p', { 'class': 'oasis-small', 'id': 'oasis-secret' }, [
			_('The model never sees it: the message holds a name for it, which the router replaces when it sets it. It is kept in memory until the service restarts.')
		])
	], [ controls.button(_('Put it into the message'), 'cbi-button-action important', save) ]);

	box.onClose = function() { input.value = ''; };
}

return baseclass.extend({
	/* insert(name) puts the name into the message and gives the node to go on in. */
	button: function(insert) {
		return controls.button(_('Password\u2026'), '', function() { open(insert); });
	}
});
