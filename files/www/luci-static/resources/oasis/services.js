'use strict';
'require baseclass';

/*
 * The choice of the service and model that answers. It knows no daemon: choosing is a function it is given.
 */

function labelOf(service) {
	const name = service.model && service.model != service.name ? '%s \u00b7 %s'.format(service.name, service.model) : service.name;

	return service.ready ? name : _('%s (not set up)').format(name);
}

return baseclass.extend({
	/* choose(identifier) gives a promise; null for who may only look. Gives { node, set(services) }. */
	choice: function(choose) {
		const select = E('select', { 'class': 'cbi-input-select', 'disabled': choose ? null : '' });
		const note = E('span', { 'class': 'oasis-small' });
		const node = E('label', { 'hidden': '' }, [ E('span', { 'class': 'oasis-small' }, [ _('Answered by') ]), select, note ]);
		let known = [], active = '';

		const mark = function(identifier) {
			const service = known.filter(function(item) { return item.identifier == identifier; })[0];

			active = identifier;
			select.value = identifier;
			note.textContent = service && service.note || '';
		};

		select.addEventListener('change', function() {
			const wanted = select.value;

			select.disabled = true;
			choose(wanted).then(function() { mark(wanted); }, function() { mark(active); })
				.finally(function() { select.disabled = false; });
		});

		return {
			node: node,

			set: function(services) {
				const chosen = services.filter(function(service) { return service.active; })[0];

				known = services;
				select.textContent = '';
				services.forEach(function(service) {
					select.appendChild(E('option', {
						'value': service.identifier, 'title': service.note, 'disabled': service.ready ? null : ''
					}, [ labelOf(service) ]));
				});
				node.hidden = !services.length;
				mark(chosen ? chosen.identifier : '');
			}
		};
	}
});
