'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.dialog as dialog';
'require oasis.words as words';

/*
 * What a message would send to a model, before it is sent: to whom, how much, and every byte.
 */

function decoded(parts) {
	const bytes = Uint8Array.from(parts.map(window.atob).join(''), function(letter) { return letter.charCodeAt(0); });

	return new TextDecoder().decode(bytes);
}

/* JSON in lines for people; what is none as it is. */
function pretty(text) {
	try {
		return JSON.stringify(JSON.parse(text), null, 2);
	}
	catch (e) {
		return text;
	}
}

async function asked(given) {
	const first = await api.named('privacy', given), parts = [ first.data ];

	for (let part = 1; part < first.parts; part++)
		parts.push((await api.named('privacy', Object.assign({ part: part }, given))).data);
	return Object.assign({}, first, { text: decoded(parts) });
}

function shown(reply) {
	const service = reply.service || {}, name = words.plain(service.name);

	if (!reply.url)
		return [ E('p', [ _('Nothing: %s answers on the router itself.').format(name) ]) ];
	return [
		E('p', [
			E('strong', [ service.is_local ? _('To %s, a server of your own').format(name) : _('To %s, outside your home').format(name) ]),
			E('br'), E('code', [ words.plain(reply.method) + ' ' + words.plain(reply.url) ]), E('br'),
			_('%d bytes, about %d tokens. Passwords and keys of the router are placeholders in it, and your key is not shown.').format(reply.bytes, reply.tokens)
		]),
		E('pre', { 'class': 'oasis-sent', 'tabindex': '0', 'aria-label': _('What would be sent') }, [ words.plain(pretty(reply.text)) ])
	];
}

return baseclass.extend({
	/* Show what a message would send; given: { message, chat?, service? }. */
	show: function(given) {
		const body = E('div', { 'role': 'status' }, [ _('Asking\u2026') ]);
		const box = dialog.open(_('What would be sent'), [ body ], []);

		return asked(given).then(function(reply) {
			body.textContent = '';
			shown(reply).forEach(function(node) { body.appendChild(node); });
		}, function(fault) {
			body.textContent = '';
			box.fault(fault);
		});
	}
});
