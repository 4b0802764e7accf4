import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { dropDatabase } from '../../support/database.js';
import { freePort, platformEnv, RemotePlatform, seededDatabase } from '../../support/platform.js';
import { startProcess, type Child } from '../../support/processes.js';
import { until } from '../../support/until.js';
import { Member } from '../support/fleet.js';
import type { Patch } from '../wrong-designs.js';

const SANDBOX = join(import.meta.dirname, '../../../dist/subgraphs/payments/ports/sandbox/main.js');
const START_MS = 180_000;

/** Processes that are killed. */
export const VICTIMS = ['payments', 'accounting', 'relay'] as const;
export type Victim = (typeof VICTIMS)[number];

type Env = Record<string, string>;

/** Variables of all, with an address for each service that has its own process. */
async function sharedEnv(databaseUrl: string, dataDir: string): Promise<Env> {
  const address = async (): Promise<string> => `http://localhost:${await freePort()}`;
  const env = await platformEnv(databaseUrl, { services: ['payments', 'accounting', 'events'], transport: 'run' });
  return {
    ...env,
    DATA_DIR: dataDir,
    GATEWAY_URL: env.BASE_URL!,
    IDENTITY_ISSUER: `${env.BASE_URL}/identity`,
    PAYMENTS_SANDBOX_URL: `http://127.0.0.1:${await freePort()}`,
    SUBGRAPH_URL_PAYMENTS: await address(),
    SUBGRAPH_URL_ACCOUNTING: await address(),
  };
}

function without(env: Env, ...names: string[]): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}

/** Variables of a process that is not the base, where identity and the others answer. */
const beside = (env: Env, own: Env): Env => ({
  ...env,
  SUBGRAPH_URL_IDENTITY: env.BASE_URL!,
  SUBGRAPH_URL_PLATFORM: env.BASE_URL!,
  ...own,
});

/** A service's own process, where it answers, listens to events and looks at the clock. */
function ownProcess(env: Env, slug: 'payments' | 'accounting', patches: readonly Patch[]): Member {
  const address = `SUBGRAPH_URL_${slug.toUpperCase()}`;
  const own = { SERVICES: slug, ROLES: 'subgraphs,consumers,scheduler', PORT: new URL(env[address]!).port };
  return new Member({ env: beside(without(env, address), own), patches });
}

/** Payments, accounting and the relay each in a process that can be killed; the rest in one, and the sandbox in another, that cannot. */
export class Fleet {
  private constructor(
    readonly p: RemotePlatform,
    readonly members: Readonly<Record<Victim, Member>>,
    private readonly others: readonly Child[],
    private readonly tidy: () => Promise<void>,
  ) {}

  static async start(patches: readonly Patch[] = []): Promise<Fleet> {
    const databaseUrl = await seededDatabase();
    const dataDir = await mkdtemp(join(tmpdir(), 'platform-money-'));
    const env = await sharedEnv(databaseUrl, dataDir);
    const base = startProcess({ ...env, SERVICES: 'identity,platform,events', ROLES: 'subgraphs,gateway,rest' });
    const sandbox = startProcess(env, SANDBOX);
    const members = {
      payments: ownProcess(env, 'payments', patches),
      accounting: ownProcess(env, 'accounting', []),
      relay: new Member({ env: beside(env, { ROLES: 'relay', PORT: String(await freePort()) }), patches: [] }),
    };
    const owner = new pg.Pool({ connectionString: databaseUrl, max: 2 });
    const tidy = async (): Promise<void> => {
      await dropDatabase(databaseUrl);
      await rm(dataDir, { recursive: true, force: true });
    };
    const fleet = new Fleet(new RemotePlatform(env, owner), members, [base, sandbox], tidy);
    return fleet.#started().catch(async error => {
      await fleet.stop();
      throw error;
    });
  }

  async #started(): Promise<this> {
    await this.ready();
    const answers = (slug: string) => async () =>
      fetch(`${this.p.url}/${slug}/readyz`).then(
        answer => answer.status,
        () => 0,
      );
    for (const slug of ['identity', 'events', 'payments', 'accounting'])
      await until(`${slug} to be ready`, answers(slug), status => status === 200, START_MS).catch(error => {
        throw new Error(`${(error as Error).message}\n${this.told()}`);
      });
    return this;
  }

  /** Every process that can be killed has started. */
  async ready(): Promise<void> {
    await Promise.all(VICTIMS.map(victim => this.members[victim].untilReady()));
  }

  /** What the processes printed last. */
  told(): string {
    const printed = [...Object.values(this.members).map(({ printed }) => printed), ...this.others.map(child => child.printed())];
    return printed.map(text => text.slice(-3_000)).join('\n---\n');
  }

  async stop(): Promise<void> {
    await Promise.all([...VICTIMS.map(victim => this.members[victim].stop()), ...this.others.map(child => child.end('SIGKILL'))]);
    await this.p.stop();
    await this.tidy();
  }
}
