// SPDX-License-Identifier: MIT
// How many CPUs a JavaScript runtime shows: prints all the numbers that it has, and any CPU of which it says nothing
// sensible. With the argument `os.cpus()` only the length of that list, with an empty one only the others.
'use strict';
const os = require('os');
const question = process.argv[2];
const numbers = [];

if (question !== '') {
	const cpus = os.cpus();
	numbers.push(cpus.length);
	for (const cpu of cpus) {
		const isSane = cpu.model && cpu.model !== 'unknown' && Object.values(cpu.times).every(Number.isInteger) &&
			cpu.times.idle > 0;
		if (!isSane) {
			numbers.push(JSON.stringify(cpu));
		}
	}
}
if (question !== 'os.cpus()') {
	if (os.availableParallelism) {
		numbers.push(os.availableParallelism());
	}
	if (typeof navigator !== 'undefined' && navigator.hardwareConcurrency) {
		numbers.push(navigator.hardwareConcurrency);
	}
}
console.log(numbers.join(' '));
