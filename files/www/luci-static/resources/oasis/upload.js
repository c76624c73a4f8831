'use strict';
'require baseclass';
'require oasis.rpc as api';

/*
 * Sends a file to the daemon in pieces: one is on the way at a time. It knows no node.
 */

/* 48 KiB in base64, what a piece may have */
const PIECE_BYTES = 36 * 1024;

function base64(buffer) {
	const bytes = new Uint8Array(buffer);
	let text = '';

	/* a call takes only so many arguments */
	for (let at = 0; at < bytes.length; at += 8192)
		text += String.fromCharCode.apply(null, bytes.subarray(at, at + 8192));
	return window.btoa(text);
}

return baseclass.extend({
	/*
	 * Send a file; moved(part of 1) is called on the way.
	 * Gives { done: promise of the last reply ({ upload, size_bytes, media_type? }), never settled once stopped, stop() }.
	 */
	send: function(file, moved) {
		let isStopped = false, isBusy = false, id;

		/* what came so far takes the room of another file; a daemon that is gone has forgotten it anyway */
		const forget = function() {
			if (id)
				api.call('drop_upload', id).catch(function() {});
		};

		const work = async function(resolve) {
			let reply = {}, at = 0;

			do {
				const end = Math.min(at + PIECE_BYTES, file.size);
				const data = base64(await file.slice(at, end).arrayBuffer());

				if (isStopped)
					return;
				isBusy = true;
				try {
					reply = await api.call('upload', reply.upload, file.name, data, end >= file.size);
				}
				finally {
					isBusy = false;
				}
				id = reply.upload;
				if (isStopped)
					return forget();
				at = end;
				moved(at / file.size);
			} while (at < file.size);

			resolve(reply);
		};

		return {
			done: new Promise(function(resolve, reject) {
				if (!file.size)
					return reject(api.fault('usage', _('The file is empty.')));
				work(resolve).catch(function(error) {
					/* the file itself may be gone or not readable */
					reject(error.code ? error : api.fault('file', _('The file cannot be read.')));
				});
			}),

			/* Also for a file that was sent, but goes along with no message. */
			stop: function() {
				isStopped = true;
				if (!isBusy)
					forget();
			}
		};
	}
});
