'use strict';
'require baseclass';
'require oasis.rpc as api';
'require oasis.page as page';
'require oasis.words as words';

/*
 * What happened while nobody looked, as a small list behind its number: unseen ones count until the list was opened in this
 * browser. Whoever has no right to it, or nothing to read, sees nothing.
 */

const SHOWN = 10;
const SEEN = 'oasis-notice';

/* A browser that keeps nothing shows the count again, and nothing worse. */
function seen(id) {
	try {
		if (id)
			window.localStorage.setItem(SEEN, id);
		return window.localStorage.getItem(SEEN) || '';
	}
	catch (error) {
		return '';
	}
}

return baseclass.extend({
	/* Gives { node, look() }; look() asks the daemon and gives a promise that is never rejected. changed(): the height may be another. */
	create: function(changed) {
		const count = E('summary', { 'class': 'oasis-link' });
		const list = E('ul', { 'class': 'oasis-happened' });
		const node = E('details', { 'hidden': '' }, [ count, list ]);
		let newest = '';

		const name = function(unseen) {
			count.textContent = unseen ? N_(unseen, '%d new notice', '%d new notices').format(unseen) : _('Notices');
		};

		node.addEventListener('toggle', function() {
			if (node.open) {
				seen(newest);
				name(0);
			}
			changed();
		});

		return {
			node: node,
			look: function() {
				return api.call('told').then(function(reply) {
					const notices = reply.notices || [], last = seen();

					newest = reply.newest || '';
					list.textContent = '';
					notices.slice(-SHOWN).reverse().forEach(function(one) {
						list.appendChild(E('li', [ page.time(one.when_unix_s), ' ', words.plain(one.text) ]));
					});
					node.hidden = !notices.length;
					name(node.open ? 0 : notices.filter(function(one) { return one.id > last; }).length);
					changed();
				}).catch(function() { /* the chat is what this page is for, and tells what is wrong */ });
			}
		};
	}
});
