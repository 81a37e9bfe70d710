// SPDX-License-Identifier: MIT
// Usage: apply-policy.mjs POLICY POD
//
// Prints the pod, as JSON, that an API server would make of this one at its creation: POLICY is a JSON list of a
// MutatingAdmissionPolicy and its binding, POD one of a pod. The expressions are evaluated by a CEL evaluator; what
// Kubernetes does around them is done here, as far as it is needed, and as its documentation says it:
// https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/

import { readFileSync } from 'node:fs';
import { CelScalar, celEnv, celMethod, isCelError, isCelList, isCelMap, listType, parse, plan } from '@bufbuild/cel';

const toCel = (value) => {
	if (Array.isArray(value)) {
		return value.map(toCel);
	}
	if (value !== null && typeof value === 'object') {
		return new Map(Object.entries(value).map(([key, each]) => [key, toCel(each)]));
	}
	return Number.isInteger(value) ? BigInt(value) : value;
};

const fromCel = (value) => {
	if (isCelList(value)) {
		return [...value].map(fromCel);
	}
	if (isCelMap(value)) {
		return Object.fromEntries([...value.entries()].map(([key, each]) => [key, fromCel(each)]));
	}
	return typeof value === 'bigint' ? Number(value) : value;
};

const indexOf = celMethod('indexOf', listType(CelScalar.DYN), [CelScalar.DYN], CelScalar.INT, function (wanted) {
	const text = JSON.stringify(fromCel(wanted));
	return BigInt([...this].findIndex((each) => JSON.stringify(fromCel(each)) === text));
});

const stringConstant = (value) => ({
	$typeName: 'cel.expr.Expr',
	id: 0n,
	exprKind: {
		case: 'constExpr',
		value: { $typeName: 'cel.expr.Constant', constantKind: { case: 'stringValue', value } },
	},
});

// Object.spec.volumes{...} and JSONPatch{...} are types that only an API server has. Here they become maps, once each has
// been found to stand where an object of its type belongs.
function makeMaps(node, place) {
	if (node === null || typeof node !== 'object') {
		return;
	}
	if (node.$typeName === 'cel.expr.Expr.CreateStruct' && node.messageName !== '') {
		const name = node.messageName;
		const fits = place === undefined ? /^(Object|JSONPatch)$/ : place === 'JSONPatch.value' ? /^Object\./ : undefined;
		if (fits ? !fits.test(name) : name !== place) {
			throw new Error(`${name} where ${place ?? 'Object or JSONPatch'} belongs`);
		}
		for (const entry of node.entries) {
			const field = entry.keyKind.value;
			makeMaps(entry.value, `${name}.${field}`);
			entry.keyKind = { case: 'mapKey', value: stringConstant(field) };
		}
		node.messageName = '';
		return;
	}
	Object.values(node).forEach((each) => makeMaps(each, place));
}

function evaluate(expression, object) {
	const tree = parse(expression);
	makeMaps(tree.expr);
	const result = plan(celEnv({ funcs: [indexOf] }), tree)({ object: toCel(object) });
	if (isCelError(result)) {
		throw new Error(result.message);
	}
	return fromCel(result);
}

// Lists of a pod whose elements have a key are merged; others are replaced as a whole, which an ApplyConfiguration may
// not do.
const keys = { containers: 'name', env: 'name', initContainers: 'name', volumeMounts: 'mountPath', volumes: 'name' };

function merge(target, changes) {
	for (const [field, change] of Object.entries(changes)) {
		if (Array.isArray(change)) {
			const key = keys[field];
			if (!key) {
				throw new Error(`${field}: may not mutate atomic arrays`);
			}
			target[field] ??= [];
			for (const element of change) {
				const same = target[field].find((each) => each[key] === element[key]);
				same ? merge(same, element) : target[field].push(element);
			}
		} else if (typeof change === 'object') {
			merge((target[field] ??= {}), change);
		} else {
			target[field] = change;
		}
	}
}

function patch(target, operation) {
	if (operation.op !== 'add') {
		throw new Error(`${operation.op} is not done here`);
	}
	const way = operation.path.split('/').slice(1);
	const last = way.pop();
	const parent = way.reduce((object, step) => object[step], target);
	Array.isArray(parent) ? parent.splice(last === '-' ? parent.length : last, 0, operation.value)
		: (parent[last] = operation.value);
}

function isFor(policy, binding, pod) {
	const wanted = Object.entries(binding.spec.matchResources.objectSelector.matchLabels);
	const rules = policy.spec.matchConstraints.resourceRules;
	return binding.spec.policyName === policy.metadata.name &&
		rules.some((rule) => rule.operations.includes('CREATE') && rule.resources.includes('pods')) &&
		wanted.every(([key, value]) => pod.metadata.labels?.[key] === value) &&
		policy.spec.matchConditions.every((condition) => evaluate(condition.expression, pod));
}

const [policy, binding] = JSON.parse(readFileSync(process.argv[2]));
const [pod] = JSON.parse(readFileSync(process.argv[3]));
if (isFor(policy, binding, pod)) {
	for (const mutation of policy.spec.mutations) {
		if (mutation.patchType === 'ApplyConfiguration') {
			merge(pod, evaluate(mutation.applyConfiguration.expression, pod));
		} else {
			evaluate(mutation.jsonPatch.expression, pod).forEach((operation) => patch(pod, operation));
		}
	}
}
console.log(JSON.stringify(pod, null, 2));
