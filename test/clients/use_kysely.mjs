// Kysely: createTable, insert of one and of many.

import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { manyNames, oneName, report, url } from './client.mjs';

const connect = () =>
	new Kysely({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) });

const schema = connect();
await schema.schema.createTable('author')
	.addColumn('id', 'bigint', (column) => column.generatedAlwaysAsIdentity().primaryKey())
	.addColumn('name', 'text', (column) => column.unique())
	.execute();
await schema.destroy();

const db = connect();
const one = await db.insertInto('author').values(oneName).returning('id').executeTakeFirst();
const many = await db.insertInto('author').values(manyNames).returning('id').execute();
await db.destroy();

report('author', 'Kysely', 'kysely', 'identity; RETURNING', [
	{ ...one, ...oneName },
	...many.map((row, i) => ({ ...row, ...manyNames[i] })),
]);
