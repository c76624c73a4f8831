'use strict';
'require baseclass';
'require oasis.words as words';

/*
 * The card of a refusal: what was not proposed, why, and how the owner has it all the same. What he may force here takes two
 * presses, the second below the reasons. It knows no daemon.
 */

function kindWords(kind) {
	switch (kind) {
	case 'reachability': return _('you may not reach the router any more');
	case 'unknown': return _('names or values are not known, or look wrong');
	case 'exec': return _('this runs code as root');
	default: return words.whole(kind);
	}
}

function list(items) {
	return E('ul', items.map(function(item) { return E('li', [ words.whole(item) ]); }));
}

function commands(refusal) {
	return E('details', { 'class': 'oasis-diff' }, [
		E('summary', [ N_(refusal.uci.length, '%d UCI command', '%d UCI commands').format(refusal.uci.length) ]),
		E('pre', { 'class': 'oasis-code', 'tabindex': '0' }, [ refusal.uci.map(words.whole).join('\n') ])
	]);
}

function button(classes, label, press) {
	return E('button', { 'type': 'button', 'class': 'btn cbi-button ' + classes, 'click': press }, [ label ]);
}

const Card = baseclass.extend({
	__init__: function(refusal, act) {
		this.refusal = refusal;
		this.act = act;
		this.heading = E('strong', [ _('Why it was refused') ]);
		this.why = E('div', { 'class': 'oasis-reasons' }, [ this.heading, list(refusal.reasons || []) ]);
		this.trouble = E('div', { 'role': 'alert' });
		this.foot = E('div', { 'class': 'oasis-foot' });
		this.node = this.render();
		this.offer();
	},

	render: function() {
		const refusal = this.refusal;

		return E('section', { 'class': 'oasis-card oasis-refused', 'aria-label': _('Refused change'), 'data-refused': refusal.refused }, [
			E('div', { 'class': 'oasis-head' }, [
				E('strong', [ _('Refused change') ]), E('span', { 'class': 'oasis-badge oasis-no' }, [ _('refused') ])
			]),
			E('p', { 'class': 'oasis-summary' }, [ words.whole(refusal.summary) ]),
			this.why, (refusal.uci || []).length ? commands(refusal) : null,
			refusal.tainted ? E('p', { 'class': 'oasis-others' }, [ _('Words of others were in sight when it was made.') ]) : null,
			refusal.hint ? E('p', { 'class': 'oasis-small' }, [ words.whole(refusal.hint) ]) : null,
			this.trouble, this.foot
		].filter(Boolean));
	},

	offer: function() {
		this.heading.textContent = _('Why it was refused');
		this.why.classList.remove('oasis-asked');
		this.foot.textContent = '';
		if (this.act && this.refusal.refused)
			this.foot.appendChild(button('cbi-button-neutral', _('Propose anyway'), this.confirm.bind(this)));
	},

	/* The second step: the same reasons, now as what is forced. */
	confirm: function() {
		const no = button('cbi-button-neutral', _('No'), this.withdraw.bind(this));

		this.heading.textContent = _('Propose it although %s?').format(this.refusal.force.map(kindWords).join(', '));
		this.why.classList.add('oasis-asked');
		this.foot.textContent = '';
		this.foot.appendChild(no);
		this.foot.appendChild(button('cbi-button-negative', _('Yes, propose it'), this.force.bind(this)));
		no.focus();
	},

	withdraw: function() {
		this.offer();
		this.foot.firstChild.focus();
	},

	force: function(ev) {
		const buttons = this.foot.querySelectorAll('button');

		buttons.forEach(function(item) { item.disabled = true; });
		ev.currentTarget.classList.add('spinning');
		this.trouble.textContent = '';

		return this.act.force(this.refusal).then(L.bind(function() {
			this.foot.textContent = '';
			this.foot.appendChild(E('span', { 'class': 'oasis-state' }, [ _('Proposed all the same') ]));
		}, this)).catch(L.bind(function(fault) {
			this.offer();
			this.trouble.appendChild(E('p', { 'class': 'oasis-fault' }, [ E('strong', [ words.whole(fault.message) ]), ' ', words.whole(fault.hint) ]));
		}, this));
	}
});

return baseclass.extend({
	/* A card's node. act: { force(refusal) } gives a promise, or null for who may only look. */
	card: function(refusal, act) {
		return new Card(refusal, act).node;
	}
});
