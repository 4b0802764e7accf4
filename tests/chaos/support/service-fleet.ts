import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { schemaOf, type Slug } from '../../../events/slugs.js';
import { dropDatabase } from '../../support/database.js';
import { freePort, platformEnv, RemotePlatform, seededDatabase } from '../../support/platform.js';
import { startProcess, type Child } from '../../support/processes.js';
import { until } from '../../support/until.js';
import type { Patch } from '../wrong-designs.js';
import { Member } from './fleet.js';

const START_MS = 180_000;

type Env = Record<string, string>;

export interface ServiceFleetOptions<Own extends Slug> {
  /** Services with a process each, which can be killed; the relay has one, too. */
  own: readonly Own[];
  /** Changes of the first of them. */
  patches?: readonly Patch[];
  /** More variables of all. */
  env?: (base: Env) => Promise<Env> | Env;
  /** More processes, which are not killed. */
  beside?: (env: Env) => readonly Child[];
}

const addressOf = (slug: Slug): string => `SUBGRAPH_URL_${schemaOf(slug).toUpperCase()}`;

/** Variables of all, with an address for each service that has its own process. */
async function sharedEnv(databaseUrl: string, dataDir: string, { own, env: more }: ServiceFleetOptions<Slug>): Promise<Env> {
  const env = await platformEnv(databaseUrl, { services: [...own, 'events'], transport: 'run' });
  const addresses: Env = {};
  for (const slug of own) addresses[addressOf(slug)] = `http://localhost:${await freePort()}`;
  const base = { ...env, DATA_DIR: dataDir, GATEWAY_URL: env.BASE_URL!, IDENTITY_ISSUER: `${env.BASE_URL}/identity`, ...addresses };
  return { ...base, ...(await more?.(base)) };
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
function ownProcess(env: Env, slug: Slug, patches: readonly Patch[]): Member {
  const address = addressOf(slug);
  const own = { SERVICES: slug, ROLES: 'subgraphs,consumers,scheduler', PORT: new URL(env[address]!).port };
  return new Member({ env: beside(without(env, address), own), patches });
}

/** Some services and the relay each in a process that can be killed; the rest in one that cannot. */
export class ServiceFleet<Own extends Slug> {
  private constructor(
    readonly p: RemotePlatform,
    readonly members: Readonly<Record<Own | 'relay', Member>>,
    private readonly others: readonly Child[],
    private readonly tidy: () => Promise<void>,
  ) {}

  static async start<Own extends Slug>(options: ServiceFleetOptions<Own>): Promise<ServiceFleet<Own>> {
    const databaseUrl = await seededDatabase();
    const dataDir = await mkdtemp(join(tmpdir(), 'platform-fleet-'));
    const env = await sharedEnv(databaseUrl, dataDir, options);
    const base = startProcess({ ...env, SERVICES: 'identity,platform,events', ROLES: 'subgraphs,gateway,rest' });
    const services = options.own.map((slug, at) => [slug, ownProcess(env, slug, at === 0 ? (options.patches ?? []) : [])]);
    const relay = new Member({ env: beside(env, { ROLES: 'relay', PORT: String(await freePort()) }), patches: [] });
    const members = Object.fromEntries([...services, ['relay', relay]]) as Record<Own | 'relay', Member>;
    const owner = new pg.Pool({ connectionString: databaseUrl, max: 2 });
    const tidy = async (): Promise<void> => {
      await dropDatabase(databaseUrl);
      await rm(dataDir, { recursive: true, force: true });
    };
    const others = [base, ...(options.beside?.(env) ?? [])];
    const fleet = new ServiceFleet<Own>(new RemotePlatform(env, owner), members, others, tidy);
    return fleet.#started(options.own).catch(async error => {
      await fleet.stop();
      throw error;
    });
  }

  async #started(own: readonly Slug[]): Promise<this> {
    await this.ready();
    const answers = (slug: string) => async () =>
      fetch(`${this.p.url}/${slug}/readyz`).then(
        answer => answer.status,
        () => 0,
      );
    for (const slug of ['identity', 'events', ...own])
      await until(`${slug} to be ready`, answers(slug), status => status === 200, START_MS).catch(error => {
        throw new Error(`${(error as Error).message}\n${this.told()}`);
      });
    return this;
  }

  get #all(): Member[] {
    return Object.values(this.members);
  }

  /** Every process that can be killed has started. */
  async ready(): Promise<void> {
    await Promise.all(this.#all.map(member => member.untilReady()));
  }

  /** What the processes printed last. */
  told(): string {
    const printed = [...this.#all.map(({ printed }) => printed), ...this.others.map(child => child.printed())];
    return printed.map(text => text.slice(-3_000)).join('\n---\n');
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#all.map(member => member.stop()), ...this.others.map(child => child.end('SIGKILL'))]);
    await this.p.stop();
    await this.tidy();
  }
}
