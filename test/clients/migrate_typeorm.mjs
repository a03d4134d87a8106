// TypeORM: migrations that make, widen and rename, the schema builder's differences; four are undone.

import 'reflect-metadata';
import typeorm from 'typeorm';
import {
	allNames, firstTitles, laterNames, loadedUrl, report, reportDifferences, setval, url,
} from './client.mjs';

const { DataSource, EntitySchema, Table } = typeorm;

const entity = (name, generated, type = 'bigint', column = 'name') =>
	new EntitySchema({
		name,
		columns: {
			id: { type, primary: true, generated },
			[column]: { type: 'text', unique: true },
		},
	});
const Author = entity('author', 'increment', 'integer', 'title');
const Writer = entity('writer', 'increment');
const Book = entity('book', 'increment');
const City = entity('city', 'identity');

const table = (name, type, column, generationStrategy = 'increment') =>
	new Table({
		name,
		columns: [
			{ name: 'id', type, isPrimary: true, isGenerated: true, generationStrategy,
				generatedIdentity: generationStrategy === 'identity' ? 'ALWAYS' : undefined },
			{ name: column, type: 'text', isUnique: true },
		],
	});

class MakeAuthor1000000000001 {
	up = (runner) => runner.createTable(table('author', 'integer', 'title'));
}

class AddTables1000000000002 {
	async up(runner) {
		await runner.createTable(table('book', 'bigint', 'name'));
		await runner.createTable(table('city', 'bigint', 'name', 'identity'));
		await runner.query('ALTER TABLE author ALTER id TYPE bigint');
		await runner.renameColumn('author', 'title', 'name');
		await runner.renameTable('author', 'writer');
	}
}

// Each step has a connection of its own.
async function step(options, run) {
	const source = await new DataSource({ type: 'postgres', url, ...options }).initialize();
	const result = await run(source);
	await source.destroy();
	return result;
}

const migrate = (migration) => step({ migrations: [migration] }, (source) => source.runMigrations());
const store = (Entity, names, options) =>
	step({ entities: [Entity], ...options }, (source) =>
		source.getRepository(Entity).save(names.map((each) => ({ ...each }))));

await migrate(MakeAuthor1000000000001);
const authors = await store(Author, firstTitles);
await migrate(AddTables1000000000002);
for (const name of ['writer', 'book', 'city']) await step({}, (source) => source.query(setval(name)));
authors.push(...await store(Writer, laterNames));
report('writer', 'TypeORM', 'typeorm', 'increment widened; setval', authors);
report('book', 'TypeORM', 'typeorm', 'increment; setval', await store(Book, allNames));
report('city', 'TypeORM', 'typeorm', 'identity; setval', await store(City, allNames));

for (const [how, entities] of [['increment', [Writer, Book]], ['identity', [City]]]) {
	const { upQueries } = await step({ entities }, (source) => source.driver.createSchemaBuilder().log());
	reportDifferences('TypeORM', 'typeorm', `schema builder's differences, ${how}`,
		upQueries.map(({ query }) => query));
}
// The second start of the program must leave what the first one has made.
const synchronize = { url: loadedUrl, synchronize: true };
await step({ entities: [Writer, Book], ...synchronize }, () => {});
report('writer@loaded', 'TypeORM', 'typeorm', 'increment, synchronize twice',
	await store(Writer, allNames, { entities: [Writer, Book], ...synchronize }));

// TypeORM finds the last migration by the ids of its own table.
const undone = [];
const migrations = [1, 2, 3, 4].map((number) => class {
	name = `M100000000001${number}`;

	async up() {}

	async down() { undone.push(number); }
});
await step({ url: loadedUrl, migrations }, (source) => source.runMigrations());
for (let i = 0; i < migrations.length; i++) {
	await step({ url: loadedUrl, migrations }, (source) => source.undoLastMigration());
}
reportDifferences('TypeORM', 'typeorm', 'four migrations undone', `${undone}` === '4,3,2,1' ? [] : undone);
