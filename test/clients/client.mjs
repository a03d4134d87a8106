// What the clients for Node.js have in common.

import { readFileSync } from 'node:fs';

export const url = process.env.DATABASE_URL;
export const oneName = { name: 'one' };
export const manyNames = [...Array(10).keys()].map((i) => ({ name: `many ${i}` }));

// Of migrations: rows before and after that the second one renames their column.
export const loadedUrl = `${url}_loaded`;
export const firstTitles = [oneName, ...manyNames.slice(0, 5)].map(({ name }) => ({ title: name }));
export const laterNames = manyNames.slice(5);
export const allNames = [oneName, ...manyNames];
export const setval = (table) =>
	`SELECT setval(pg_get_serial_sequence('${table}', 'id'), max(id)) FROM ${table}`;

const version = (name) =>
	JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version;

export function report(table, client, npmPackage, how, objects, mark = '') {
	console.log(`=${mark} ${table} ${client} ${version(npmPackage)} (${how})`);
	for (const { id, name, title = name } of objects) console.log(`${id}\t${title}`);
}

export function reportDifferences(client, npmPackage, how, differences, mark) {
	report('-', client, npmPackage, how, [], mark);
	console.log(`!${differences.join('; ').replaceAll(/\s+/g, ' ') || 'no difference'}`);
}
