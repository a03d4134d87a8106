// Drizzle: drizzle-kit's DDL, insert of one and of many.

import { createRequire } from 'node:module';
import { drizzle } from 'drizzle-orm/node-postgres';
import { bigint, bigserial, pgTable, text } from 'drizzle-orm/pg-core';
import pg from 'pg';
import { manyNames, oneName, report, url } from './client.mjs';

const { generateDrizzleJson, generateMigration } = createRequire(import.meta.url)('drizzle-kit/api');

const author = pgTable('author', {
	id: bigserial({ mode: 'bigint' }).primaryKey(),
	name: text().unique(),
});
const book = pgTable('book', {
	id: bigint({ mode: 'bigint' }).primaryKey().generatedAlwaysAsIdentity(),
	name: text().unique(),
});

const schema = new pg.Client(url);
await schema.connect();
for (const sql of await generateMigration(generateDrizzleJson({}), generateDrizzleJson({ author, book })))
	await schema.query(sql);
await schema.end();

const pool = new pg.Pool({ connectionString: url });
const db = drizzle(pool);
for (const [name, table, ddl] of [['author', author, 'bigserial'], ['book', book, 'identity']]) {
	const one = await db.insert(table).values(oneName).returning({ id: table.id });
	const many = await db.insert(table).values(manyNames).returning({ id: table.id });

	report(name, 'Drizzle', 'drizzle-orm', `${ddl}; RETURNING`, [
		{ ...one[0], ...oneName },
		...many.map((row, i) => ({ ...row, ...manyNames[i] })),
	]);
}
await pool.end();
