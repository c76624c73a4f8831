'use strict';
'require baseclass';
'require oasis.controls as controls';
'require oasis.words as words';

/*
 * The line below a message: its other versions, who answered, and what can be done with it. It knows no daemon.
 */

/* The n-th of several versions, with the way to its neighbours. */
function versions(entry, turn) {
	const all = entry.siblings, at = all.findIndex(function(item) { return entry.ids.indexOf(item.id) != -1; });
	const step = function(label, name, other) {
		return E('button', {
			'type': 'button', 'class': 'oasis-link', 'aria-label': name, 'title': other ? words.plain(other.text) : null,
			'disabled': other ? null : '', 'click': function() { turn(other, name); }
		}, [ label ]);
	};

	return E('span', { 'class': 'oasis-versions', 'role': 'group', 'aria-label': _('Versions of this message') }, [
		step('\u2039', _('Previous version'), all[at - 1]),
		E('span', { 'aria-label': _('Version %d of %d').format(at + 1, all.length) }, [ '%d/%d'.format(at + 1, all.length) ]),
		step('\u203a', _('Next version'), all[at + 1])
	]);
}

function actions(entry, act, isWriter) {
	const isUser = entry.role == 'user';
	const press = function(name) { return function() { act[name](entry); }; };

	if (!isWriter)
		return [ controls.link(_('About this message\u2026'), press('about')) ];

	const more = [
		controls.button(_('Bookmark\u2026'), '', press('bookmark')),
		controls.button(_('About this message\u2026'), '', press('about')),
		entry.isForgotten ? null : controls.button(_('Forget this message\u2026'), 'cbi-button-negative', press('forget'))
	].filter(Boolean);

	return [
		isUser ? entry.isForgotten ? null : controls.link(_('Edit and ask again'), press('edit'))
			: controls.link(_('Branch from here'), press('branch')),
		controls.menu(_('More about this message'), more)
	].filter(Boolean);
}

return baseclass.extend({
	/*
	 * entry: { id (the last message shown above the line), ids (all of them), role, text, parents, source, siblings?, isImported,
	 * isForgotten }.
	 * act: { turn(sibling, button's name), edit(entry), branch(entry), bookmark(entry), about(entry),
	 * forget(entry) }; isWriter false leaves what changes nothing.
	 */
	line: function(entry, act, isWriter) {
		return E('div', { 'class': 'oasis-foot-line', 'data-message': entry.id }, [].concat(
			entry.siblings ? versions(entry, act.turn) : [],
			entry.source ? E('span', { 'class': 'oasis-source' }, [ words.plain(entry.source) ]) : [],
			entry.isImported ? E('span', { 'class': 'oasis-badge' }, [ _('imported') ]) : [],
			actions(entry, act, isWriter)
		));
	}
});
