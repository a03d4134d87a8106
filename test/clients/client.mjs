// What the clients for Node.js have in common.

import { readFileSync } from 'node:fs';

export const url = process.env.DATABASE_URL;
export const oneName = { name: 'one' };
export const manyNames = [...Array(10).keys()].map((i) => ({ name: `many ${i}` }));

const version = (name) =>
	JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version;

export function report(table, client, npmPackage, how, objects) {
	console.log(`= ${table} ${client} ${version(npmPackage)} (${how})`);
	for (const { id, name } of objects) console.log(`${id}\t${name}`);
}
