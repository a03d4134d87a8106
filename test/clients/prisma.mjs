// What the two scripts for Prisma have in common: its commands and its client.
//
// Only the parts of Prisma in JavaScript and WebAssembly are used: a schema
// engine that is a file which does nothing lets its commands start.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const directory = mkdtempSync(new URL('prisma', import.meta.url).pathname);

// Write a file into the project's directory.
export function write(name, text) {
	mkdirSync(dirname(`${directory}/${name}`), { recursive: true });
	writeFileSync(`${directory}/${name}`, text);
}

export function writeSchema(name, models) {
	write(`${name}.prisma`, `
generator client {
	provider   = "prisma-client-js"
	engineType = "client"
	output     = "${name}"
}
datasource db {
	provider = "postgresql"
	url      = env("DATABASE_URL")
}
${models}`);
}

// The adapter does not know the types of two columns of catalogs, which it
// gets to see from Prisma's migrations.
write('prisma.config.mjs', `
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
class Client extends pg.Client {
	constructor(config) {
		super(config);
		this.connection.on('rowDescription', ({ fields }) => {
			for (const field of fields) if ([18, 19].includes(field.dataTypeID)) field.dataTypeID = 25;
		});
	}
}
export default {
	schema: process.env.PRISMA_SCHEMA,
	migrations: { path: 'migrations' },
	experimental: { adapter: true },
	engine: 'js',
	adapter: async () => new PrismaPg({ Client }),
};
`);

// Run a command of Prisma for a schema, and return what it prints.
export const prisma = (schema, ...args) =>
	execFileSync(process.execPath, [new URL('node_modules/prisma/build/index.js', import.meta.url).pathname,
		...args, '--config', 'prisma.config.mjs'], {
		cwd: directory, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'],
		env: { ...process.env, PRISMA_SCHEMA: `${schema}.prisma`, PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true',
			PRISMA_HIDE_UPDATE_MESSAGE: '1', CHECKPOINT_DISABLE: '1' },
	});

// A client made for a schema, with a connection of its own.
export async function connect(schema, connectionString) {
	const { PrismaPg } = await import('@prisma/adapter-pg');
	const { PrismaClient } = (await import(`${directory}/${schema}/index.js`)).default;
	return new PrismaClient({ adapter: new PrismaPg({ connectionString }) });
}
