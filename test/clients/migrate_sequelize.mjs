// Sequelize: migrations by umzug that make, widen and rename, sync() that alters.

import { DataTypes, Sequelize } from 'sequelize';
import { SequelizeStorage, Umzug } from 'umzug';
import {
	allNames, firstTitles, laterNames, loadedUrl, report, reportDifferences, setval, url,
} from './client.mjs';

const columns = (type, name) => ({
	id: { type, primaryKey: true, autoIncrement: true },
	[name]: { type: DataTypes.TEXT, unique: true },
});
const migrations = [
	{
		name: 'make_author',
		up: ({ context }) => context.createTable('author', columns(DataTypes.INTEGER, 'title')),
	},
	{
		name: 'add_book',
		async up({ context }) {
			await context.createTable('book', columns(DataTypes.BIGINT, 'name'));
			await context.changeColumn('author', 'id', {
				type: DataTypes.BIGINT, allowNull: false,
				defaultValue: Sequelize.literal("nextval('author_id_seq'::regclass)"),
			});
			await context.renameColumn('author', 'title', 'name');
			await context.renameTable('author', 'writer');
		},
	},
];

// Each step has a connection of its own.
async function step(run, database = url) {
	const sequelize = new Sequelize(database, { logging: false });
	const result = await run(sequelize);
	await sequelize.close();
	return result;
}

const migrate = (options, database) =>
	step((sequelize) =>
		new Umzug({ migrations, context: sequelize.getQueryInterface(),
			storage: new SequelizeStorage({ sequelize }), logger: undefined }).up(options), database);

const define = (sequelize, table, type = DataTypes.BIGINT, column = 'name') =>
	sequelize.define(table, columns(type, column), { freezeTableName: true, timestamps: false });

const store = (table, rows, database, ...how) =>
	step((sequelize) => define(sequelize, table, ...how).bulkCreate(rows), database);

await migrate({ step: 1 });
const authors = await store('author', firstTitles, url, DataTypes.INTEGER, 'title');
await migrate();
for (const table of ['writer', 'book']) await step((sequelize) => sequelize.query(setval(table)));
authors.push(...await store('writer', laterNames));
report('writer', 'Sequelize', 'sequelize', 'integer widened; setval', authors);
report('book', 'Sequelize', 'sequelize', 'bigserial; setval', await store('book', allNames));

const defaults = await step((sequelize) =>
	Promise.all(['writer', 'book'].map(async (table) =>
		(await sequelize.getQueryInterface().describeTable(table)).id.defaultValue)));
reportDifferences('Sequelize', 'sequelize', 'describeTable', defaults.filter((each) => !/^nextval\(\w+_id_seq/.test(each)));

await migrate({}, loadedUrl);
await step((sequelize) => define(sequelize, 'writer').sync({ alter: true }), loadedUrl);
report('writer@loaded', 'Sequelize', 'sequelize', 'migrations of an empty database, sync({ alter })',
	await store('writer', allNames, loadedUrl));
