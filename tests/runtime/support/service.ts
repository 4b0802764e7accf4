import pg from 'pg';
import { inject } from 'vitest';
import type { Transport } from '../../../events/transport/port.js';
import { openHost } from '../../../gateway/composition/hosts.js';
import { Revocations } from '../../../runtime/access/revocations.js';
import { loadConfig } from '../../../runtime/config.js';
import { migrate } from '../../../runtime/data/database.js';
import { houseTables } from '../../../runtime/data/house-tables.js';
import { createLogger } from '../../../runtime/observe/log.js';
import { StopStack } from '../../../gateway/composition/shutdown.js';
import { createMetrics } from '../../../runtime/observe/metrics.js';
import { systemCaller, type Caller } from '../../../runtime/request/caller.js';
import type { RunningService } from '../../../runtime/running-service.js';
import type { ServiceDeclaration } from '../../../runtime/service.js';
import { atEnd } from '../../support/at-end.js';
import { createDatabase, dropDatabase } from '../../support/database.js';
import { platformEnv } from '../../support/platform.js';

const notCalled = (): Promise<never> => Promise.reject(new Error('not called'));

async function openService(declaration: ServiceDeclaration, databaseUrl: string): Promise<RunningService> {
  const log = createLogger('silent');
  const revocations = new Revocations(async () => [], log);
  await revocations.poll();
  const stops = new StopStack(log);
  atEnd(() => stops.run());
  const config = loadConfig(await platformEnv(databaseUrl));
  const transport = { wake: () => undefined } as Transport;
  const setting = { databaseUrl, transport, revocations, federation: () => ({ run: notCalled }), flagFeed: () => ({ run: notCalled }) };
  return openHost(declaration, { config, log, metrics: createMetrics(), stops, print: () => undefined }, setting);
}

/** A service of a test, with its schema. */
export interface Started {
  host: RunningService;
  /** SQL as the owner of the database. */
  sql<Row = any>(text: string): Promise<Row[]>;
}

/** Starts a declaration on a database of its own, which has the house tables, those of `statements`, and no other service. */
export async function startService(declaration: ServiceDeclaration, statements: readonly string[]): Promise<Started> {
  const databaseUrl = await createDatabase(inject('databaseUrl'));
  atEnd(() => dropDatabase(databaseUrl));
  await migrate(databaseUrl, []);
  const owner = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  owner.on('error', () => undefined); // one that is idle when its database is removed
  atEnd(() => owner.end());
  for (const statement of [...houseTables(declaration.slug), ...statements]) await owner.query(statement);
  return { host: await openService(declaration, databaseUrl), sql: async text => (await owner.query(text)).rows };
}

/** A machine client with the admin scope of payments, the slug of the services here. */
export const CALLER: Caller = {
  ...systemCaller('payments'),
  kind: 'service',
  clientId: 'shop',
  serviceSlug: null,
  scopes: new Set(['admin:payments']),
};
