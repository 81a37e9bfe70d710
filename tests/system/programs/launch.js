// SPDX-License-Identifier: MIT
// Starts each program that is named, with each policy of $POLICIES, and prints the policy and what the program says.
const { execFileSync } = require("child_process");

for (const program of process.argv.slice(2)) {
	for (const policy of process.env.POLICIES.split(" ")) {
		const said = execFileSync(program, [], { env: { ...process.env, CPUQUOTA: policy } });
		console.log(`${policy}: ${said.toString().trim()}`);
	}
}
