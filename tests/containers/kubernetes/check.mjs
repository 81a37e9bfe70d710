// SPDX-License-Identifier: MIT
// Usage: check.mjs DOCUMENTS SCRATCH
//
// Holds each object of a JSON list to Kubernetes' schema of its kind. Prints what is wrong; else the kinds and names. The
// schemas' validators know types, ranges and what has to be there; of fields that do not exist only the compiler knows,
// for which SCRATCH.mts is written, beside a node_modules.

import { readFileSync, writeFileSync } from 'node:fs';
import ts from 'typescript';

const objects = JSON.parse(readFileSync(process.argv[2]));
const wrong = [];

for (const object of objects) {
	const model = (await import(`kubernetes-models/${object.apiVersion}/${object.kind}`))[object.kind];
	try {
		new model(object).validate();
	} catch (error) {
		wrong.push(error.message);
	}
}

const scratch = `${process.argv[3]}.mts`;
writeFileSync(scratch, objects.map(({ apiVersion, kind, ...object }, index) => `
import { ${kind} as Kind${index} } from "kubernetes-models/${apiVersion}/${kind}";
new Kind${index}(${JSON.stringify(object)});`).join(''));
const program = ts.createProgram([scratch], {
	module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, noEmit: true, skipLibCheck: true, strict: true, types: [],
});
for (const diagnostic of ts.getPreEmitDiagnostics(program)) {
	wrong.push(ts.flattenDiagnosticMessageText(diagnostic.messageText, '\n'));
}

for (const message of wrong) {
	console.log(message);
}
if (wrong.length === 0) {
	console.log(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).join(', '));
}
