// Prisma: its DDL, create() and createManyAndReturn(), through the adapter for pg.
//
// Only the parts of Prisma in JavaScript and WebAssembly are used: a schema
// engine that is a file which does nothing lets its commands start.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import pg from 'pg';
import { manyNames, oneName, report, url } from './client.mjs';

const directory = new URL('prisma/', import.meta.url);
const schemaFile = new URL('schema.prisma', directory).pathname;

mkdirSync(directory, { recursive: true });
writeFileSync(schemaFile, `
generator client {
	provider   = "prisma-client-js"
	engineType = "client"
	output     = "client"
}
datasource db {
	provider = "postgresql"
	url      = env("DATABASE_URL")
}
model author {
	id   BigInt @id @default(autoincrement())
	name String @unique
}
`);
writeFileSync(new URL('prisma.config.mjs', directory), `
import { PrismaPg } from '@prisma/adapter-pg';
export default {
	experimental: { adapter: true },
	engine: 'js',
	adapter: async () => new PrismaPg({ connectionString: process.env.DATABASE_URL }),
};
`);

const prisma = (...args) =>
	execFileSync(process.execPath, [new URL('node_modules/prisma/build/index.js', import.meta.url).pathname,
		...args], {
		cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'],
		env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true', PRISMA_HIDE_UPDATE_MESSAGE: '1',
			CHECKPOINT_DISABLE: '1' },
	});
prisma('generate', '--schema', schemaFile);
const ddl = prisma('migrate', 'diff', '--config', 'prisma.config.mjs', '--from-empty',
	'--to-schema-datamodel', schemaFile, '--script');

const schema = new pg.Client(url);
await schema.connect();
await schema.query(ddl);
await schema.end();

const { PrismaPg } = await import('@prisma/adapter-pg');
const { PrismaClient } = (await import(new URL('client/index.js', directory))).default;
const client = new PrismaClient({ adapter: new PrismaPg({ connectionString: url }) });
const one = await client.author.create({ data: oneName });
const many = await client.author.createManyAndReturn({ data: manyNames });
await client.$disconnect();

report('author', 'Prisma', 'prisma', 'bigserial; RETURNING', [one, ...many]);
