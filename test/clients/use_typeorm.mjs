// TypeORM: synchronize, save() of one and of many.

import 'reflect-metadata';
import typeorm from 'typeorm';
import { manyNames, oneName, report, url } from './client.mjs';

const { DataSource, EntitySchema } = typeorm;

// Two ways to generate a key: a bigserial column and an identity column.
for (const strategy of ['increment', 'identity']) {
	const Author = new EntitySchema({
		name: `author_${strategy}`,
		columns: {
			id: { type: 'bigint', primary: true, generated: strategy },
			name: { type: 'text', unique: true },
		},
	});
	const options = { type: 'postgres', url, entities: [Author] };
	const schema = await new DataSource({ ...options, synchronize: true }).initialize();
	await schema.destroy();

	const source = await new DataSource(options).initialize();
	const authors = source.getRepository(Author);
	const one = await authors.save({ ...oneName });
	const many = await authors.save(manyNames.map((author) => ({ ...author })));
	await source.destroy();

	report(Author.options.name, 'TypeORM', 'typeorm', `${strategy}; RETURNING`, [one, ...many]);
}
