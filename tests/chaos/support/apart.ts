import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Slug } from '../../../events/slugs.js';
import { dropDatabase } from '../../support/database.js';
import { freePort, platformEnv, RemotePlatform, seededDatabase } from '../../support/platform.js';
import type { Child } from '../../support/processes.js';
import { until } from '../../support/until.js';
import type { Patch } from '../wrong-designs.js';
import { Member } from './fleet.js';

const START_MS = 180_000;

export type Env = Record<string, string>;

/** A member, and what cannot be killed beside it. */
export interface Parts<Victim extends string> {
  members: Readonly<Record<Victim, Member>>;
  others: readonly Child[];
}

const addressOf = (slug: Slug): string => `SUBGRAPH_URL_${slug.toUpperCase()}`;

/** Variables of a process that is not the base, where identity and the others answer. */
export const beside = (env: Env, own: Env): Env => ({
  ...env,
  SUBGRAPH_URL_IDENTITY: env.BASE_URL!,
  SUBGRAPH_URL_PLATFORM: env.BASE_URL!,
  ...own,
});

/** A service's own process, where it answers, listens to events and looks at the clock. */
export function ownProcess(env: Env, slug: Slug, patches: readonly Patch[]): Member {
  const { [addressOf(slug)]: url, ...rest } = env;
  const own = { SERVICES: slug, ROLES: 'subgraphs,consumers,scheduler', PORT: new URL(url!).port };
  return new Member({ env: beside(rest, own), patches });
}

/** Variables of all, with an address for each service that has its own process. */
async function sharedEnv(databaseUrl: string, apart: readonly Slug[], own: Env): Promise<Env> {
  const env = await platformEnv(databaseUrl, { services: [...apart, 'events'], transport: 'run' });
  for (const slug of apart) env[addressOf(slug)] = `http://localhost:${await freePort()}`;
  return { ...env, ...own, GATEWAY_URL: env.BASE_URL!, IDENTITY_ISSUER: `${env.BASE_URL}/identity` };
}

/** A platform on a database of its own, some of whose processes can be killed. */
export class Apart<Victim extends string> {
  private constructor(
    readonly p: RemotePlatform,
    readonly members: Readonly<Record<Victim, Member>>,
    private readonly others: readonly Child[],
    private readonly tidy: () => Promise<void>,
  ) {}

  /** @param apart services with a process of their own. @param own further variables of all. */
  static async start<Victim extends string>(
    apart: readonly Slug[],
    own: Env,
    begin: (env: Env) => Promise<Parts<Victim>>,
  ): Promise<Apart<Victim>> {
    const databaseUrl = await seededDatabase();
    const dataDir = await mkdtemp(join(tmpdir(), 'platform-apart-'));
    const env = await sharedEnv(databaseUrl, apart, { ...own, DATA_DIR: dataDir });
    const { members, others } = await begin(env);
    const tidy = async (): Promise<void> => {
      await dropDatabase(databaseUrl);
      await rm(dataDir, { recursive: true, force: true });
    };
    const owner = new pg.Pool({ connectionString: databaseUrl, max: 2 });
    const all = new Apart<Victim>(new RemotePlatform(env, owner), members, others, tidy);
    return all.#started(['identity', 'events', ...apart]).catch(async error => {
      await all.stop();
      throw error;
    });
  }

  get #members(): Member[] {
    return Object.values(this.members);
  }

  async #started(slugs: readonly Slug[]): Promise<this> {
    await this.ready();
    const answers = (slug: string) => async () =>
      fetch(`${this.p.url}/${slug}/readyz`).then(
        answer => answer.status,
        () => 0,
      );
    for (const slug of slugs)
      await until(`${slug} to be ready`, answers(slug), status => status === 200, START_MS).catch(error => {
        throw new Error(`${(error as Error).message}\n${this.told()}`);
      });
    return this;
  }

  /** Every process that can be killed has started. */
  async ready(): Promise<void> {
    await Promise.all(this.#members.map(member => member.untilReady()));
  }

  /** What the processes printed last. */
  told(): string {
    const printed = [...this.#members.map(member => member.printed), ...this.others.map(child => child.printed())];
    return printed.map(text => text.slice(-3_000)).join('\n---\n');
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#members.map(member => member.stop()), ...this.others.map(child => child.end('SIGKILL'))]);
    await this.p.stop();
    await this.tidy();
  }
}
