/** Two gateways before the services of a third process: no answer is older than its request, however many equal ones are under way. */
import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { updateBrand } from '../../subgraphs/platform/commands/brand.js';
import { Member } from '../chaos/support/fleet.js';
import type { Patch } from '../chaos/wrong-designs.js';
import { atEnd } from '../support/at-end.js';
import { freePort, platform, RemotePlatform, type TestPlatform } from '../support/platform.js';
import { HeldAnswers } from './held-answers.js';

/** What a gateway commonly does with equal queries: who comes later gets the answer of the one under way. */
const JOINS: Patch = {
  module: 'gateway/plans/in-flight.js',
  find: 'const line = this.#lines.get(key);',
  replace: `const known = (this.joined ??= new Map()).get(key);
        if (known) return known.then(copyOf);
        const mine = this.next.execute(operation, request).finally(() => this.joined.delete(key));
        this.joined.set(key, mine);
        return mine;
        const line = null;`,
};

let p: TestPlatform;
let token: string;
let brandId: string;
let held: HeldAnswers;
let [a, b, joining]: RemotePlatform[] = [];

/** Where one asks: a gateway, or the services' own. */
type Asked = Pick<RemotePlatform, 'graphql' | 'rest'>;

/** A gateway in a process of its own, which asks the services through `held`. */
async function gateway(services: string, patches: readonly Patch[] = []): Promise<RemotePlatform> {
  const port = await freePort();
  const env: Record<string, string> = {
    ...p.env,
    ROLES: 'gateway,rest',
    PORT: String(port),
    BASE_URL: `http://localhost:${port}`,
    SUBGRAPH_URL_IDENTITY: p.url,
    SUBGRAPH_URL_PLATFORM: services,
    IDENTITY_ISSUER: `${p.url}/identity`,
  };
  const member = new Member({ env, patches });
  atEnd(() => member.stop());
  await member.untilReady();
  return new RemotePlatform(env, new pg.Pool({ connectionString: env.DATABASE_URL, max: 1 }));
}

const READ = '{ brand(slug: "main") { id version } }';
const WRITE = 'mutation ($input: UpdateBrandInput!) { updateBrand(input: $input) { version } }';

beforeAll(async () => {
  p = await platform({ services: ['platform'], env: { DATABASE_POOL_MAX: '4' } });
  token = await p.serviceToken();
  held = new HeldAnswers(p.url, body => body.includes('brand(slug:'));
  const services = await held.listen();
  [a, b, joining] = await Promise.all([gateway(services), gateway(services), gateway(services, [JOINS])]);
  brandId = (await p.graphql(READ, {}, { token })).data.brand.id;
});

const byGraphql = async (at: Asked): Promise<number> => (await at.graphql(READ, {}, { token })).data.brand.version;
const byRest = async (at: Asked): Promise<number> => (await at.rest('GET', '/platform/v1/brands/main', { token })).body.version;

type Write = (expectedVersion: number) => Promise<number>;
const inputOf = (expectedVersion: number) => ({ id: brandId, expectedVersion, name: `Main ${expectedVersion}` });
const writeByGraphql = async (at: Asked, version: number): Promise<number> =>
  (await at.graphql(WRITE, { input: inputOf(version) }, { token })).data.updateBrand.version;

/** Every way to change what is read. Each gives the version that it made. */
const WRITES = (at: Asked): Write[] => [
  version => writeByGraphql(at, version),
  version => writeByGraphql(b!, version),
  async expected_version => {
    const body = { expected_version, name: `Main ${expected_version}` };
    return (await b!.rest('PATCH', `/platform/v1/admin/brands/${brandId}`, { token, body })).body.version;
  },
  async version => (await p.host('platform').transaction(ctx => updateBrand(ctx, inputOf(version)))).version,
];

/** Asks at a gateway, and notes answers from before the newest change that was acknowledged when they were asked for. */
class Readers {
  acknowledged = 0;
  answers = 0;
  readonly older: string[] = [];
  #stopped = false;
  readonly #asking: Promise<void>[];

  constructor(private readonly at: Asked) {
    this.#asking = [byGraphql, byGraphql, byGraphql, byRest, byRest].map(read => this.#keepReading(read));
  }

  async read(by: typeof byRest): Promise<void> {
    const least = this.acknowledged;
    const version = await by(this.at);
    this.answers++;
    if (!(version >= least)) this.older.push(`${version} after ${least}`);
  }

  async #keepReading(by: typeof byRest): Promise<void> {
    while (!this.#stopped) await this.read(by);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#asking);
  }
}

/** Two other answers of the gateway, by which it has read what was sent before. */
async function untilReceived(at: Asked): Promise<void> {
  for (const _twice of [1, 2]) expect((await at.graphql('{ __typename }', {}, { token })).status).toBe(200);
}

/** Changes the brand while answers from before the change are under way to the gateway, and then asks there. */
async function round(at: Asked, readers: Readers, write: Write): Promise<void> {
  await held.hold();
  readers.acknowledged = await write(readers.acknowledged);
  const asked = [readers.read(byGraphql), readers.read(byRest)];
  await untilReceived(at);
  held.release();
  await Promise.all(asked);
}

async function rounds(at: Asked, count: number): Promise<Readers> {
  const readers = new Readers(at);
  try {
    readers.acknowledged = await byGraphql(p);
    for (let turn = 0; turn < count; turn++) for (const write of WRITES(at)) await round(at, readers, write);
  } finally {
    held.release();
    await readers.stop();
  }
  return readers;
}

/** Of a machine on which much else runs. */
const SLOW_MS = 300_000;

test(
  'whoever has seen a change reads it, however it was made, though answers from before it are under way',
  async () => {
    const [before, shares] = [held.given, process.env.GATEWAY_EXECUTOR !== 'stock'];
    const { older, answers } = await rounds(a!, 50);
    expect(older).toEqual([]);
    if (shares) expect(held.given - before, 'equal queries share answers').toBeLessThan(answers * 0.9);
  },
  SLOW_MS,
);

test.skipIf(process.env.GATEWAY_EXECUTOR === 'stock')(
  'a gateway that hands out the answer of the query under way is found out',
  async () => {
    expect((await rounds(joining!, 2)).older.length).toBeGreaterThanOrEqual(8);
  },
);
