// Knex: createTable, insert of one and of many.

import knex from 'knex';
import { manyNames, oneName, report, url } from './client.mjs';

const connect = () => knex({ client: 'pg', connection: url });

const schema = connect();
await schema.schema.createTable('author', (table) => {
	table.bigIncrements('id');
	table.text('name').unique();
});
await schema.destroy();

const db = connect();
const one = await db('author').insert(oneName).returning('id');
const many = await db('author').insert(manyNames).returning('id');
await db.destroy();

report('author', 'Knex', 'knex', 'bigserial; RETURNING', [
	{ ...one[0], ...oneName },
	...many.map((row, i) => ({ ...row, ...manyNames[i] })),
]);
