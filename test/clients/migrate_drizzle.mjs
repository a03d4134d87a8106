// Drizzle: migrations of drizzle-kit that make, widen and rename, and what push would do.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { drizzle } from 'drizzle-orm/node-postgres';
import { migrate } from 'drizzle-orm/node-postgres/migrator';
import { bigint, bigserial, pgTable, serial, text } from 'drizzle-orm/pg-core';
import pg from 'pg';
import {
	allNames, firstTitles, laterNames, loadedUrl, report, reportDifferences, setval, url,
} from './client.mjs';

const { generateDrizzleJson, generateMigration, pushSchema } =
	createRequire(import.meta.url)('drizzle-kit/api');

const id = () => bigserial({ mode: 'bigint' }).primaryKey();
const author = pgTable('author', { id: serial().primaryKey(), title: text().unique() });
const writer = pgTable('writer', { id: id(), name: text().unique('author_title_unique') });
const book = pgTable('book', { id: id(), name: text().unique() });
const city = pgTable('city', {
	id: bigint({ mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
	name: text().unique(),
});

const generate = (before, after) =>
	generateMigration(generateDrizzleJson(before), generateDrizzleJson(after));
const migrations = {
	make_author: await generate({}, { author }),
	add_tables: [
		'ALTER TABLE author ALTER id TYPE bigint',
		'ALTER TABLE author RENAME title TO name',
		'ALTER TABLE author RENAME TO writer',
		...await generate({ writer }, { writer, book, city }),
	],
};
const migrationsFolder = mkdtempSync(new URL('drizzle', import.meta.url).pathname);
mkdirSync(`${migrationsFolder}/meta`);

// Each step has a connection of its own.
async function step(run, connectionString = url) {
	const pool = new pg.Pool({ connectionString });
	const result = await run(drizzle(pool));
	await pool.end();
	return result;
}

async function migrateTo(last, database) {
	const entries = [];
	for (const [tag, statements] of Object.entries(migrations).slice(0, last)) {
		writeFileSync(`${migrationsFolder}/${tag}.sql`, statements.join('\n--> statement-breakpoint\n'));
		entries.push({ idx: entries.length, version: '7', when: entries.length + 1, tag, breakpoints: true });
	}
	writeFileSync(`${migrationsFolder}/meta/_journal.json`,
		JSON.stringify({ version: '7', dialect: 'postgresql', entries }));
	await step((db) => migrate(db, { migrationsFolder }), database);
}

const store = (table, rows, database) =>
	step((db) => db.insert(table).values(rows).returning(), database);

await migrateTo(1);
const authors = await store(author, firstTitles);
await migrateTo(2);
for (const name of ['writer', 'book', 'city']) await step((db) => db.execute(setval(name)));
authors.push(...await store(writer, laterNames));
const books = await store(book, allNames);
const cities = await store(city, allNames);
const { statementsToExecute } = await step((db) => pushSchema({ writer, book, city }, db, ['public']));
const ofIdentity = (sql) => sql.includes('"city"');

report('writer', 'Drizzle', 'drizzle-orm', 'serial widened; setval', authors);
report('book', 'Drizzle', 'drizzle-orm', 'bigserial; setval', books);
report('city', 'Drizzle', 'drizzle-orm', 'identity; setval', cities);
reportDifferences('drizzle-kit', 'drizzle-kit', 'push, serial', statementsToExecute.filter((sql) => !ofIdentity(sql)));
reportDifferences('drizzle-kit', 'drizzle-kit', 'push, identity', statementsToExecute.filter(ofIdentity), 'known');

await migrateTo(2, loadedUrl);
report('writer@loaded', 'Drizzle', 'drizzle-orm', 'migrations of an empty database',
	await store(writer, allNames, loadedUrl));
