// Knex: migrations that make, widen and rename; four are undone at once.

import knex from 'knex';
import {
	allNames, firstTitles, laterNames, loadedUrl, report, reportDifferences, setval, url,
} from './client.mjs';

const migrations = {
	async make_author(db) {
		await db.schema.createTable('author', (table) => {
			table.increments('id');
			table.text('title').unique();
		});
	},
	async add_book(db) {
		await db.schema.createTable('book', (table) => {
			table.bigIncrements('id');
			table.text('name').unique();
		});
		await db.schema.alterTable('author', (table) => {
			table.bigInteger('id').defaultTo(db.raw("nextval('author_id_seq'::regclass)")).alter({ alterNullable: false });
			table.renameColumn('title', 'name');
		});
		await db.schema.renameTable('author', 'writer');
	},
	async third() {},
	async fourth() {},
};
const undone = [];
const migrationSource = {
	getMigrations: async () => Object.keys(migrations),
	getMigrationName: (name) => name,
	getMigration: async (name) => ({ up: (db) => migrations[name](db), down: async () => undone.push(name) }),
};

// Each step has a connection of its own.
async function step(run, connection = url) {
	const db = knex({ client: 'pg', connection, migrations: { migrationSource } });
	const result = await run(db);
	await db.destroy();
	return result;
}

const store = (table, rows, connection) =>
	step((db) => db(table).insert(rows).returning(['id', ...Object.keys(rows[0])]), connection);

await step((db) => db.migrate.up());
const authors = await store('author', firstTitles);
await step((db) => db.migrate.latest());
for (const table of ['writer', 'book']) await step((db) => db.raw(setval(table)));
authors.push(...await store('writer', laterNames));
report('writer', 'Knex', 'knex', 'increments widened; setval', authors);
report('book', 'Knex', 'knex', 'bigIncrements; setval', await store('book', allNames));

const defaults = await step((db) =>
	Promise.all(['writer', 'book'].map(async (table) => (await db(table).columnInfo()).id.defaultValue)));
reportDifferences('Knex', 'knex', 'columnInfo', defaults.filter((each) => !/^nextval\('\w+_id_seq'::regclass\)$/.test(each)));

await step((db) => db.migrate.latest(), loadedUrl);
report('writer@loaded', 'Knex', 'knex', 'migrations of an empty database', await store('writer', allNames, loadedUrl));

// Knex finds the order by the ids of its own table.
await step((db) => db.migrate.rollback(), loadedUrl);
reportDifferences('Knex', 'knex', 'rollback of four migrations',
	`${undone}` === `${Object.keys(migrations).reverse()}` ? [] : undone);
