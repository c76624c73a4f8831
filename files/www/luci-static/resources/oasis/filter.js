'use strict';
'require baseclass';

/*
 * The bar above a list: a word to look for, choices, and how many entries are left. It knows nothing of the list.
 */

function field(label, input) {
	return E('label', { 'class': 'oasis-field' }, [ E('span', [ label ]), input ]);
}

const Bar = baseclass.extend({
	__init__: function(hint, choices, changed) {
		this.input = E('input', { 'type': 'search', 'class': 'cbi-input-text', 'placeholder': hint, 'input': changed });
		this.selects = choices.map(function(choice) {
			return E('select', { 'class': 'cbi-input-select', 'change': changed }, Object.keys(choice.names).map(function(key) {
				return E('option', { 'value': key }, [ choice.names[key] ]);
			}));
		});
		this.count = E('p', { 'class': 'oasis-small', 'role': 'status' });
		this.node = E('div', [
			E('div', { 'class': 'oasis-filter', 'role': 'search' }, [ field(_('Look for'), this.input) ].concat(choices.map(function(choice, i) {
				return field(choice.label, this.selects[i]);
			}, this))),
			this.count
		]);
	},

	/* Tell whether one of these texts holds the word. */
	fits: function(texts) {
		return texts.join('\n').toLowerCase().indexOf(this.input.value.trim().toLowerCase()) != -1;
	},

	chosen: function(i) { return this.selects[i].value; },

	/* Tell whether anything is held back. */
	isUsed: function() {
		return this.input.value.trim() != '' || this.selects.some(function(select) { return select.selectedIndex > 0; });
	},

	say: function(text) { this.count.textContent = text; },

	/* Let everything through. */
	clear: function() {
		this.input.value = '';
		this.selects.forEach(function(select) { select.selectedIndex = 0; });
	}
});

return baseclass.extend({
	/*
	 * choices: [{ label, names: { key: name } }], the first key of each lets everything through.
	 * Gives { node, fits(texts), chosen(i), isUsed(), say(text), clear() }.
	 */
	bar: function(hint, choices, changed) {
		return new Bar(hint, choices, changed);
	}
});
