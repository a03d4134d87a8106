// Prisma: migrations that make, widen and rename, db pull, db push.

import {
	allNames, firstTitles, laterNames, report, reportDifferences, setval, url,
} from './client.mjs';
import { connect, prisma, write, writeSchema } from './prisma.mjs';

const model = (name, type, column) => `
model ${name} {
	id ${type} @id @default(autoincrement())
	${column} String @unique
}
`;

// Steps have connections of their own.
async function store(schema, name, data) {
	const client = await connect(schema, url);
	const objects = await client[name].createManyAndReturn({ data });
	await client.$disconnect();
	return objects;
}

async function reset(name) {
	const client = await connect('second', url);
	await client.$queryRawUnsafe(setval(name));
	await client.$disconnect();
}

writeSchema('first', model('author', 'Int', 'title'));
writeSchema('second', model('writer', 'BigInt', 'name') + model('book', 'BigInt', 'name'));
for (const schema of ['first', 'second']) prisma(schema, 'generate');

write('migrations/migration_lock.toml', 'provider = "postgresql"');
write('migrations/1_make_author/migration.sql',
	prisma('first', 'migrate', 'diff', '--from-empty', '--to-schema-datamodel', 'first.prisma', '--script'));
prisma('first', 'migrate', 'deploy');
const authors = await store('first', 'author', firstTitles);

// What is written by hand, lest rows be lost, and what Prisma makes of the rest.
writeSchema('renamed', model('writer', 'BigInt', 'name'));
write('migrations/2_add_book/migration.sql', `
ALTER TABLE author ALTER id TYPE bigint;
ALTER TABLE author RENAME title TO name;
ALTER TABLE author RENAME TO writer;
ALTER INDEX author_pkey RENAME TO writer_pkey;
ALTER INDEX author_title_key RENAME TO writer_name_key;
` + prisma('second', 'migrate', 'diff', '--from-schema-datamodel', 'renamed.prisma',
	'--to-schema-datamodel', 'second.prisma', '--script'));
prisma('second', 'migrate', 'deploy');
for (const name of ['writer', 'book']) await reset(name);
authors.push(...await store('second', 'writer', laterNames));
report('writer', 'Prisma', 'prisma', 'serial widened; setval', authors);
report('book', 'Prisma', 'prisma', 'bigserial; setval', await store('second', 'book', allNames));

const pulled = prisma('second', 'db', 'pull', '--print');
reportDifferences('Prisma', 'prisma', 'db pull',
	pulled.match(/@default\((?!autoincrement\(\)).*/g) ?? []);
const pushed = prisma('second', 'db', 'push', '--skip-generate');
reportDifferences('Prisma', 'prisma', 'db push', pushed.includes('already in sync') ? [] : [pushed]);
