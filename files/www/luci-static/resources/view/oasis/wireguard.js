'use strict';
'require view';
'require oasis.rpc as api';
'require oasis.dialog as dialog';
'require oasis.page as page';
'require oasis.panel as panel';
'require oasis.state as states';
'require oasis.clean as clean';

/*
 * The page of WireGuard: servers on this router, their devices and what they do. Making and removing are plans. The QR code of a device,
 * with its private key, is drawn in a dialog alone, from the lines of half blocks that a terminal gets.
 */

/* pixels of a module of the QR code */
const MODULE = 6;

/* One mark a module; lines: texts of "\u2588", "\u2580", "\u2584" and " ", two modules below each other in each: what is drawn is light. */
function drawn(lines, name) {
	const node = E('canvas', { 'role': 'img', 'aria-label': name, 'class': 'oasis-qr', 'width': lines[0].length * MODULE, 'height': (lines.length * 2 - 1) * MODULE });
	const paper = node.getContext('2d');

	paper.fillStyle = '#fff';
	paper.fillRect(0, 0, node.width, node.height);
	paper.fillStyle = '#000';
	lines.forEach(function(text, y) {
		Array.from(text).forEach(function(sign, x) {
			[ '\u2584 ', '\u2580 ' ].forEach(function(dark, below) {
				if (dark.indexOf(sign) != -1)
					paper.fillRect(x * MODULE, (y * 2 + below) * MODULE, MODULE, MODULE);
			});
		});
	});
	return node;
}

function seen(peer) {
	if (peer.disabled)
		return _('switched off');
	if (peer.handshake_s_ago == null)
		return _('never');
	return page.time(Date.now() / 1000 - peer.handshake_s_ago);
}

function bytes(count) {
	return count == null ? '\u2013' : page.size(count);
}

return view.extend({
	load: function() {
		return page.styled(Promise.all([ api.settled('wireguard'), api.settled('info') ]));
	},

	render: function(results) {
		this.reload = this.reload.bind(this);
		this.state = states.create({ isWriter: page.isWriter() });
		this.frame = page.frame('WireGuard',
			[ _('A VPN server on this router: your devices reach home from anywhere. Each change is shown to you as a plan first.') ], [], this.state);
		this.panel = panel.create(this.state);
		this.place = E('div');
		this.state.on({ renew: this.reload }, this);
		this.frame.fill([ this.panel.node, this.place ]);
		window.setTimeout(this.begin.bind(this, results), 0);
		return this.frame.node;
	},

	begin: function(results) {
		this.state.emit('info', results[1].value || {});
		if (results[0].fault)
			return this.frame.fault(results[0].fault, true);
		return this.draw(results[0].value);
	},

	draw: function(found) {
		const servers = found.interfaces || [];
		const sections = servers.map(this.server, this);

		this.endpoint = found.endpoint;
		if (servers.length)
			sections.push(this.outside());
		else
			sections.push(page.section('', [
				E('p', { 'class': 'oasis-nothing' }, [ _('There is no WireGuard server here yet.') ]),
				page.buttons([ page.act(_('Make a server'), 'cbi-button-add', L.bind(this.change, this, _('Make a server'), { action: 'server' }), 'server/add') ])
			]));
		this.frame.put(this.place, sections.concat((found.notes || []).map(function(text) { return E('p', { 'class': 'oasis-small' }, [ clean.plain(text) ]); })));
	},

	server: function(one) {
		const columns = [ { title: _('Device'), isName: true }, { title: _('Address') }, { title: _('Last seen') }, { title: _('Received'), isNumber: true }, { title: _('Sent'), isNumber: true }, { title: '' } ];
		const at = one.interface;
		const rows = (one.peers || []).map(function(peer) {
			const name = clean.plain(peer.name || peer.peer);

			return [ name, (peer.addresses || []).map(clean.plain).join(', '), seen(peer), bytes(peer.received_bytes), bytes(peer.sent_bytes), page.buttons([
				page.act(_('QR code'), '', L.bind(this.show, this, at, peer.peer, name), peer.peer + '/qr'),
				page.act(_('Remove'), 'cbi-button-negative', L.bind(this.change, this, _('Remove %s').format(name), { action: 'remove', name: peer.peer, interface: at }), peer.peer + '/remove')
			]) ];
		}, this);

		return page.section(clean.plain(at), [
			E('p', [ page.badge(one.up ? _('on') : _('off'), one.up ? 'good' : 'warn'), ' ', _('Port %s, public key').format(clean.plain(one.port)), ' ', E('code', [ clean.plain(one.public_key) ]) ]),
			page.table(_('Devices of %s').format(clean.plain(at)), columns, rows, _('No device yet.')),
			page.buttons([ page.act(_('Add a device'), 'cbi-button-add', this.add.bind(this, at), at + '/add') ])
		]);
	},

	outside: function() {
		return page.section(_('From outside'), [
			E('p', [ this.endpoint ? _('Devices find the router at %s.').format(clean.plain(this.endpoint)) : _('No public name or address of this router is known; devices cannot find it.') ]),
			page.buttons([ page.act(_('Change'), '', L.bind(function() {
				return dialog.line(_('From outside'), _('Name or address of this router in the internet'), this.endpoint || '',
					L.bind(function(host) { return api.call('set_endpoint', host).then(this.reload); }, this));
			}, this), 'outside/change') ])
		]);
	},

	add: function(at) {
		return dialog.line(_('Add a device'), _('Name'), '', L.bind(function(name) {
			return this.change(_('Add %s').format(clean.plain(name)), { action: 'add', name: name, interface: at });
		}, this));
	},

	change: function(title, values) {
		return this.panel.begin(title, function() { return api.named('change_wireguard', values); });
	},

	show: function(at, peer, name, ev) {
		return this.frame.run(L.bind(async function() {
			const place = E('div');
			const home = page.select([ [ '', _('everything') ], [ '1', _('only what is for home') ] ], { 'change': function() { fetch().catch(function(fault) { box.fault(fault); }); } });
			const fetch = async function() {
				const found = await api.named('show_wireguard', { name: peer, interface: at, home: home.value == '1' });

				place.textContent = '';
				place.appendChild(drawn(found.qr, _('QR code of %s').format(name)));
			};

			await fetch();

			const box = dialog.open(_('QR code of %s').format(name), [
				E('p', [ _('Scan it in the WireGuard app of the device. It holds the private key: who sees it can connect as this device.') ]),
				page.field(_('Through the tunnel goes'), home), place
			]);

			box.onClose = function() { place.textContent = ''; };
		}, this), ev);
	},

	reload: function() {
		return api.call('wireguard').then(this.draw.bind(this));
	},

	handleSave: null,
	handleSaveApply: null,
	handleReset: null
});
