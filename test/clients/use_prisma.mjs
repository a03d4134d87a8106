// Prisma: its DDL, create() and createManyAndReturn(), through the adapter for pg.

import pg from 'pg';
import { manyNames, oneName, report, url } from './client.mjs';
import { connect, prisma, writeSchema } from './prisma.mjs';

writeSchema('schema', `
model author {
	id   BigInt @id @default(autoincrement())
	name String @unique
}
`);
prisma('schema', 'generate');
const ddl = prisma('schema', 'migrate', 'diff', '--from-empty', '--to-schema-datamodel', 'schema.prisma', '--script');

const schema = new pg.Client(url);
await schema.connect();
await schema.query(ddl);
await schema.end();

const client = await connect('schema', url);
const one = await client.author.create({ data: oneName });
const many = await client.author.createManyAndReturn({ data: manyNames });
await client.$disconnect();

report('author', 'Prisma', 'prisma', 'bigserial; RETURNING', [one, ...many]);
