// Sequelize: sync(), create() and bulkCreate().

import { DataTypes, Sequelize } from 'sequelize';
import { manyNames, oneName, report, url } from './client.mjs';

const connect = () => new Sequelize(url, { logging: false });
const define = (sequelize) =>
	sequelize.define('author', {
		id: { type: DataTypes.BIGINT, primaryKey: true, autoIncrement: true },
		name: { type: DataTypes.TEXT, unique: true },
	}, { freezeTableName: true, timestamps: false });

const schema = connect();
define(schema);
await schema.sync();
await schema.close();

const sequelize = connect();
const Author = define(sequelize);
const one = await Author.create(oneName);
const many = await Author.bulkCreate(manyNames);
await sequelize.close();

report('author', 'Sequelize', 'sequelize', 'bigserial; RETURNING', [one, ...many]);
