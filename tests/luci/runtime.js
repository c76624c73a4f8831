/*
 * A stand-in for LuCI's browser runtime, as far as the pages of this project need one.
 *
 * It behaves like the real one where a page can get it wrong: a bare string child of E() is parsed as HTML while an
 * array of strings becomes text (and null in it the word "null"), calls of one frame go out as one batch unless
 * `nobatch`, a call ends after 20 s, -32002 asks once whether the session lives and then covers the page with a dialog,
 * dependencies are the `require` strings at the top of a source, and a file yields a class of which one instance is made.
 */
(function(window, document) {
	'use strict';

	const RPC_TIMEOUT_S = 20;
	const UBUS_WORDS = [ 'Command OK', 'Invalid command', 'Invalid argument', 'Method not found', 'Resource not found',
		'No data received', 'Permission denied', 'Request timeout', 'Not supported', 'Unspecified error', 'Connection lost' ];

	/* %s %d %f %x %h (HTML escaped) %%, and %1$s for a numbered argument; .2 as a precision */
	String.prototype.format = function() {
		const args = arguments;
		let next = 0;

		return this.replace(/%(?:(\d+)\$)?(?:\.(\d+))?([%sdfxh])/g, function(whole, number, precision, kind) {
			if (kind == '%')
				return '%';

			const value = args[number != null ? number - 1 : next++];

			switch (kind) {
			case 'd': return String(Math.trunc(+value || 0));
			case 'f': return (+value || 0).toFixed(precision == null ? 6 : +precision);
			case 'x': return (+value || 0).toString(16);
			case 'h': return String(value).replace(/[<>&"']/g, function(c) { return '&#%d;'.format(c.charCodeAt(0)); });
			default: return precision == null ? String(value) : String(value).slice(0, +precision);
			}
		});
	};

	/* --- classes --- */

	class BaseClass {
		constructor() {
			if (typeof(this.__init__) == 'function')
				this.__init__.apply(this, arguments);
		}

		static extend(properties) {
			const made = class extends this {};
			Object.keys(properties).forEach(function(key) { made.prototype[key] = properties[key]; });
			return made;
		}

		static isSubclass(value) {
			return typeof(value) == 'function' && value.prototype instanceof BaseClass;
		}

		super(name, args) {
			let proto = Object.getPrototypeOf(Object.getPrototypeOf(this));
			while (proto && !Object.prototype.hasOwnProperty.call(proto, name))
				proto = Object.getPrototypeOf(proto);
			return proto[name].apply(this, args || []);
		}

		varargs(args, from) {
			return Array.prototype.slice.call(args, from || 0);
		}
	}

	/* --- nodes --- */

	const dom = {
		elem(value) {
			return value != null && typeof(value) == 'object' && 'nodeType' in value;
		},

		append(node, children) {
			if (Array.isArray(children))
				children.forEach(function(child) {
					/* the real one means to skip null, but looks at the wrong variable: it writes "null" */
					node.appendChild(dom.elem(child) ? child : document.createTextNode(String(child)));
				});
			else if (typeof(children) == 'function')
				dom.append(node, children(node));
			else if (dom.elem(children))
				node.appendChild(children);
			else if (children != null)
				node.innerHTML = String(children);

			return node.lastChild;
		},

		content(node, children) {
			while (node.firstChild)
				node.removeChild(node.firstChild);

			return dom.append(node, children);
		},

		attr(node, attributes) {
			Object.keys(attributes || {}).forEach(function(key) {
				const value = attributes[key];

				if (value == null)
					return;
				if (typeof(value) == 'function')
					node.addEventListener(key, value);
				else
					node.setAttribute(key, typeof(value) == 'object' ? JSON.stringify(value) : value);
			});
		},

		parse(html) {
			return new DOMParser().parseFromString(html, 'text/html').body.firstChild;
		},

		create(what, attributes, children) {
			if (attributes == null || Array.isArray(attributes) || dom.elem(attributes) || typeof(attributes) != 'object') {
				children = children === undefined ? attributes : children;
				attributes = null;
			}

			let node;
			if (Array.isArray(what)) {
				node = document.createDocumentFragment();
				what.forEach(function(item) { node.appendChild(dom.create(item)); });
			}
			else {
				node = dom.elem(what) ? what : what.charAt(0) == '<' ? dom.parse(what) : document.createElement(what);
			}

			dom.attr(node, attributes);
			dom.append(node, children);
			return node;
		},

		parent(node, selector) {
			return node.closest(selector);
		}
	};

	/* --- HTTP and ubus --- */

	const request = {
		queue: [],

		send(url, content, timeout_ms) {
			return new Promise(function(resolve, reject) {
				const xhr = new XMLHttpRequest();
				const start = Date.now();

				xhr.open(content == null ? 'GET' : 'POST', url, true);
				xhr.timeout = timeout_ms;
				xhr.onreadystatechange = function() {
					if (xhr.readyState != 4)
						return;
					if (xhr.status == 0)
						reject(new Error(Date.now() - start >= timeout_ms ? 'XHR request timed out' : 'XHR request aborted by browser'));
					else
						resolve({ ok: xhr.status >= 200 && xhr.status < 300, status: xhr.status, text: xhr.responseText });
				};

				if (content != null)
					xhr.setRequestHeader('Content-Type', 'application/json');
				xhr.send(content == null ? null : JSON.stringify(content));
			});
		},

		/* Calls made before the next frame share one POST; a hidden page has no frames and sends none. */
		enqueue(message) {
			return new Promise(function(resolve, reject) {
				if (request.queue.push({ message, resolve, reject }) == 1)
					requestAnimationFrame(request.flush);
			});
		},

		flush() {
			const batch = request.queue.splice(0);

			request.send(rpc.getBaseURL(), batch.map(function(entry) { return entry.message; }), RPC_TIMEOUT_S * 1000)
				.then(request.parse)
				.then(function(replies) {
					batch.forEach(function(entry, i) {
						if (Array.isArray(replies) && replies[i] != null)
							entry.resolve(replies[i]);
						else
							entry.reject(new Error('No related RPC reply'));
					});
				})
				.catch(function(error) {
					batch.forEach(function(entry) { entry.reject(error); });
				});
		},

		parse(response) {
			if (!response.ok)
				L.raise('RPCError', 'RPC call failed with HTTP error %d', response.status);
			return JSON.parse(response.text);
		}
	};

	const rpc = {
		baseURL: '/ubus/',
		number: 1,

		getBaseURL() { return this.baseURL; },
		setBaseURL(url) { this.baseURL = url; },
		getSessionID() { return this.session || L.env.sessionid; },
		setSessionID(session) { this.session = session; },
		getStatusText(code) { return UBUS_WORDS[code] || 'Unknown error code'; },

		declare(options) {
			return function() {
				const args = arguments;
				const params = {};

				(options.params || []).forEach(function(name, i) { params[name] = args[i]; });
				return rpc.invoke(options, params);
			};
		},

		invoke(options, params) {
			const message = {
				jsonrpc: '2.0',
				id: this.number++,
				method: 'call',
				params: [ this.getSessionID(), options.object, options.method, params ]
			};
			const reply = options.nobatch
				? request.send(this.baseURL + '?' + Date.now(), message, RPC_TIMEOUT_S * 1000).then(request.parse)
				: request.enqueue(message);

			return reply.then(function(value) { return rpc.deny(options, value); })
				.then(function(value) { return rpc.unpack(options, value); });
		},

		/* "Access denied" has several causes; only a dead session is worth a login. */
		deny(options, value) {
			if (value == null || value.error == null || value.error.code != -32002 || options.object == 'session')
				return value;

			return rpc.invoke({ object: 'session', method: 'access', expect: { access: true } },
				{ scope: 'uci', object: 'luci', 'function': 'read' })
				.catch(function() { L.notifySessionExpiry(); })
				.then(function() { return value; });
		},

		unpack(options, value) {
			if (value == null || value.jsonrpc != '2.0')
				L.raise('RPCError', 'RPC call to %s/%s returned invalid message frame', options.object, options.method);
			if (value.error)
				L.raise('RPCError', 'RPC call to %s/%s failed with error %d: %s',
					options.object, options.method, value.error.code, value.error.message);

			const status = value.result[0];
			if (options.reject && status != 0)
				L.raise('RPCError', 'RPC call to %s/%s failed with ubus code %d: %s',
					options.object, options.method, status, rpc.getStatusText(status));

			return rpc.expected(options.expect, value.result.length > 1 ? value.result[1] : status);
		},

		expected(expect, value) {
			const key = expect ? Object.keys(expect)[0] : null;
			const type = Object.prototype.toString;

			if (key == null)
				return value;
			if (key != '' && value != null)
				value = value[key];
			return value == null || type.call(value) != type.call(expect[key]) ? expect[key] : value;
		}
	};

	/* --- the page's furniture --- */

	/* LuCI asks for its menu once, and the browser keeps it until the login ends. */
	const menu = {
		flushCache() { window.sessionStorage.removeItem('menu'); },

		show() {
			const tabs = document.querySelector('#tabmenu ul'), kept = JSON.parse(window.sessionStorage.getItem('menu')) || {};

			if (kept.session != L.env.sessionid)
				window.sessionStorage.setItem('menu', JSON.stringify({ session: L.env.sessionid, tabs: tabs.innerHTML }));
			else
				tabs.innerHTML = kept.tabs;
			tabs.querySelectorAll('li').forEach(function(tab) {
				tab.classList.toggle('active', tab.firstChild.pathname == window.location.pathname);
			});
		}
	};

	const ui = {
		menu,

		createHandlerFn(self, fn) {
			const extra = Array.prototype.slice.call(arguments, 2);

			return function(ev) {
				const button = ev.currentTarget;

				button.classList.add('spinning');
				button.disabled = true;
				return Promise.resolve((typeof(fn) == 'string' ? self[fn] : fn).apply(self, extra.concat([ ev ])))
					.finally(function() {
						button.classList.remove('spinning');
						button.disabled = false;
					});
			};
		},

		addNotification(title, children) {
			const classes = Array.prototype.slice.call(arguments, 2);
			const note = dom.create('div', { 'class': [ 'alert-message' ].concat(classes).join(' '), role: 'alert' }, [
				dom.create('button', { 'class': 'btn', style: 'float:right', click: function() { note.remove(); } }, [ _('Dismiss') ]),
				dom.create('h4', [ title || '' ])
			]);

			dom.append(note, children);
			document.getElementById('maincontent').prepend(note);
			return note;
		},

		showModal(title, children) {
			let overlay = document.getElementById('modal_overlay');

			if (!overlay) {
				overlay = dom.create('div', { id: 'modal_overlay' }, [
					dom.create('div', { 'class': 'modal', role: 'dialog', 'aria-modal': 'true' })
				]);
				document.body.appendChild(overlay);
			}

			dom.content(overlay.firstChild, [ dom.create('h4', [ title ]) ]);
			dom.append(overlay.firstChild, children);
			document.body.classList.add('modal-overlay-active');
			return overlay.firstChild;
		},

		hideModal() {
			document.body.classList.remove('modal-overlay-active');
		}
	};

	const poll = {
		queue: [],

		add(fn, seconds) {
			const entry = { fn, busy: false };

			entry.timer = window.setInterval(function() {
				if (!entry.busy) {
					entry.busy = true;
					Promise.resolve(fn()).finally(function() { entry.busy = false; });
				}
			}, (seconds || 5) * 1000);
			this.queue.push(entry);
		},

		stop() {
			this.queue.splice(0).forEach(function(entry) { window.clearInterval(entry.timer); });
		}
	};

	const view = BaseClass.extend({
		load() {},
		render() {},
		handleSave() {},
		handleSaveApply() {},
		handleReset() {},

		__init__() {
			const place = document.getElementById('view');

			Promise.resolve(this.load())
				.then(this.render.bind(this))
				.then(function(nodes) {
					dom.content(place, nodes);
					dom.append(place, this.addFooter());
				}.bind(this))
				.catch(L.error);
		},

		/* The real one shows its bar unless all three are null. */
		addFooter() {
			return this.handleSave || this.handleSaveApply || this.handleReset
				? dom.create('div', { 'class': 'cbi-page-actions' }, [ 'Save & Apply' ]) : null;
		}
	});

	/* --- the class loader --- */

	const classes = { baseclass: BaseClass, view, dom, rpc, request, ui, poll };

	/* The strings at the top of a source that say what it needs; the first other string ends the list. */
	function requirements(source) {
		const found = [];
		let comment = 0, start = -1, quote = -1, previous = -1;

		for (let i = 0; i < source.length; previous = source.charCodeAt(i), i++) {
			const chr = source.charCodeAt(i);

			if (comment) {
				if (comment == 47 ? chr == 10 : previous == 42 && chr == 47)
					comment = 0;
			}
			else if (quote == -1 && previous == 47 && (chr == 47 || chr == 42)) {
				comment = chr;
			}
			else if (chr == quote) {
				const match = /^require[ \t]+(\S+)(?:[ \t]+as[ \t]+([a-zA-Z_]\S*))?$/.exec(source.substring(start, i));

				if (match)
					found.push({ name: match[1], as: match[2] || match[1].replace(/[^a-zA-Z0-9_]/g, '_') });
				else if (source.substring(start, i) != 'use strict')
					break;
				quote = -1;
			}
			else if (quote == -1 && (chr == 34 || chr == 39)) {
				start = i + 1;
				quote = chr;
			}
		}

		return found;
	}

	function compile(name, source, url, from) {
		const needs = requirements(source);

		return Promise.all(needs.map(function(need) { return L.require(need.name, from); })).then(function(instances) {
			const names = needs.map(function(need) { return ', ' + need.as; }).join('');
			const factory = (0, eval)('(function(window, document, L' + names + ') { ' + source + ' })\n\n//# sourceURL=' + url + '\n');
			const made = factory.apply(factory, [ window, document, L ].concat(instances));

			if (!BaseClass.isSubclass(made))
				L.raise('TypeError', '"%s" factory yields invalid constructor', name);

			classes[name] = new made();
			return classes[name];
		});
	}

	class LuCI {
		constructor(env) {
			this.env = env;
			env.resource_version = document.querySelector('script[src*="/runtime.js"]').getAttribute('src').split('?v=')[1];
			this.dom = dom;
			this.Class = BaseClass;
		}

		start(name) {
			ui.menu.show();
			const loaded = new Promise(function(resolve) { document.addEventListener('DOMContentLoaded', resolve); });
			const probe = request.send(this.env.ubuspath, { jsonrpc: '2.0', id: 'init', method: 'list' }, 5000)
				.then(function(response) { return response.ok; }, function() { return false; });

			return Promise.all([ probe, loaded ]).then(function(results) {
				rpc.setBaseURL(results[0] ? L.env.ubuspath : L.url('admin/ubus'));
				return L.require(name);
			}).catch(L.error);
		}

		require(name, from) {
			const url = '%s/%s.js?v=%s'.format(this.env.base_url, name.replace(/\./g, '/'), this.env.resource_version);

			if (classes[name] != null) {
				if ((from || []).indexOf(name) != -1)
					this.raise('DependencyError', 'Circular dependency: class "%s" depends on "%s"', name, from.join('" which depends on "'));
				return Promise.resolve(classes[name]);
			}

			classes[name] = request.send(url, null, 20000).then(function(response) {
				if (!response.ok)
					L.raise('NetworkError', 'HTTP error %d while loading class file "%s"', response.status, url);
				return compile(name, response.text, url, [ name ].concat(from || []));
			});
			return classes[name];
		}

		raise(type, text) {
			const error = type instanceof Error ? type : new Error(String.prototype.format.apply(text, Array.prototype.slice.call(arguments, 2)));

			if (!(type instanceof Error))
				error.name = type;
			throw error;
		}

		error(error) {
			if (error.name != 'SessionError')
				ui.addNotification(error.name, [ dom.create('pre', [ error.message ]) ], 'danger');
			throw error;
		}

		notifySessionExpiry() {
			poll.stop();
			ui.showModal(_('Session expired'), [
				dom.create('div', { 'class': 'alert-message warning' },
					[ _('A new login is required since the authentication session expired.') ]),
				dom.create('div', { 'class': 'right' }, [
					dom.create('div', { 'class': 'btn primary', click: function() {
						window.location = window.location.pathname + window.location.search;
					} }, [ _('Log in…') ])
				])
			]);
			L.raise('SessionError', 'Login session is expired');
		}

		bind(fn, self) { return Function.prototype.bind.apply(fn, Array.prototype.slice.call(arguments, 1)); }
		isObject(value) { return value != null && typeof(value) == 'object'; }
		toArray(value) { return value == null ? [] : Array.isArray(value) ? value : [ value ]; }
		resolveDefault(value, fallback) { return Promise.resolve(value).catch(function() { return fallback; }); }
		path(prefix, parts) { return [ prefix ].concat(Array.prototype.slice.call(parts)).join('/'); }
		url() { return this.path(this.env.scriptname, arguments); }
		resource() { return this.path(this.env.resource, arguments); }
		hasViewPermission() { return this.env.nodespec.satisfied ? !this.env.nodespec.readonly : null; }
	}

	window.LuCI = LuCI;
	window.E = dom.create;

	/* LuCI looks up hashes of these keys; which form of a plural it is, the catalogue's own rule says */
	function translated(text, context, form) {
		const key = (context ? context + '\u0001' : '') + text.trim().replace(/[ \t\n]+/g, ' ') + (form == null ? '' : '\u0002' + form);

		return (window.TR || {})[key];
	}

	window._ = function(text, context) { return translated(text, context) || text; };
	window.N_ = function(n, one, many, context) {
		const form = +new Function('n', ((window.TR || {})[''] || 'nplurals=2; plural=(n != 1);').replace(/nplurals=\d+;/, 'var') + '; return +plural;')(n);

		return translated(one, context, form) || (form ? many : one);
	};
})(window, document);
