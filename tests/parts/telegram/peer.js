// Starts telegram-test-api on a free port of 127.0.0.1 and prints its address; ends with its input.
const net = require('net');
const TelegramServer = require('telegram-test-api');

const probe = net.createServer().listen(0, '127.0.0.1', () => {
	const port = probe.address().port;
	probe.close(async () => {
		const server = new TelegramServer({ port: port, host: '127.0.0.1', storage: 'RAM', storeTimeout: 3600 });
		await server.start();
		console.log(server.config.apiURL);
	});
});
process.stdin.on('end', () => process.exit(0)).resume();
