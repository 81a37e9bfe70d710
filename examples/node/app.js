// SPDX-License-Identifier: MIT
// Answers each request with the number of its workers, of which it has one for each CPU.
'use strict';

const cluster = require('node:cluster');
const http = require('node:http');
const os = require('node:os');

const workers = os.availableParallelism();

if (cluster.isPrimary) {
	let listening = 0;
	cluster.on('listening', () => {
		if (++listening === workers) {
			console.log(`listening on 8080: ${workers} workers, ${os.cpus().length} CPUs`);
		}
	});
	for (let i = 0; i < workers; i++) {
		cluster.fork();
	}
} else {
	http.createServer((request, response) => response.end(`${workers} workers\n`)).listen(8080);
}
