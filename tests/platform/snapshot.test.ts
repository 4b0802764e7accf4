import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { directly } from '../../gateway/composition/directly.js';
import { flagSource } from '../../gateway/composition/flags.js';
import { BRAND, platform, type TestPlatform } from '../support/platform.js';
import { change, cycleOn, ofBrand, resetFlags, STAGE } from './flag-changes.js';
import { CYCLE, PROMPT } from './flag-fixtures.js';

let p: TestPlatform;
let service: string;

beforeAll(async () => {
  p = await platform({ services: ['platform'] });
  service = await p.serviceToken();
});
beforeEach(() => resetFlags(p));

describe('a snapshot', () => {
  const QUERY = `query($r: Int) { flagSnapshot(ifRevisionNot: $r) {
    revision flags { key variants offVariant defaultRule rules prerequisites enabled killed archived failClosed salt revision } } }`;
  const snapshotOf = async (token: string, r: number | null = null) => (await p.graphql(QUERY, { r }, { token })).data.flagSnapshot;
  const keysOf = ({ flags }: { flags: { key: string }[] }) => flags.map(({ key }) => key);

  test("holds a service's own flags, just as the evaluator takes them", async () => {
    await change(p, PROMPT, { rules: [{ ...ofBrand(2500) }, { variant: 'on' }] });
    const { revision, flags } = await snapshotOf(await p.internalToken('clinical'));
    const [{ sum }] = await p.sql('select sum(revision)::int from platform.flag');
    expect(revision).toBe(sum);
    expect(keysOf({ flags })).toEqual([CYCLE, PROMPT]);
    expect(flags[1]).toEqual({
      key: PROMPT,
      variants: [
        { name: 'on', value: true },
        { name: 'off', value: false },
      ],
      offVariant: 'off',
      defaultRule: { variant: 'off' },
      rules: [
        { conditions: [{ attribute: 'BRAND', operator: 'IN', values: [BRAND] }], rollout: [{ variant: 'on', basisPoints: 2500 }] },
        { conditions: [], variant: 'on' },
      ],
      prerequisites: [{ key: CYCLE, variant: 'on' }],
      enabled: true,
      killed: false,
      archived: false,
      failClosed: true,
      salt: 's1',
      revision: expect.any(Number),
    });
  });

  test('holds the flags of which a service is owner or reader, and all with admin:platform', async () => {
    const cash = await p.internalToken('cash');
    expect(keysOf(await snapshotOf(await p.internalToken('intelligence')))).toEqual([STAGE]);
    expect(keysOf(await snapshotOf(cash))).toEqual([]);
    expect(keysOf(await snapshotOf(await p.serviceToken('admin:cash')))).toEqual([]);
    expect(keysOf(await snapshotOf(service))).toEqual([CYCLE, PROMPT, STAGE]);
    await change(p, STAGE, { set: `readers = '{cash,labs}'` });
    expect(keysOf(await snapshotOf(cash))).toEqual([STAGE]);
  });

  test('is the same for a process that hosts platform, which asks in the name of each service without a token', async () => {
    await change(p, STAGE, { set: `readers = '{cash,labs}'` });
    for (const slug of ['clinical', 'intelligence', 'cash', 'platform', 'live'] as const) {
      const read = await flagSource(() => directly(p.host('platform'), slug))(null);
      const { revision, flags } = await snapshotOf(await p.internalToken(slug));
      expect([slug, read!.revision, [...read!.flags.values()]]).toEqual([slug, revision, flags]);
    }
  });

  test('is null while the revision is the given one', async () => {
    const { revision } = await snapshotOf(service);
    expect(await snapshotOf(service, revision)).toBeNull();
    await cycleOn(p);
    expect((await snapshotOf(service, revision)).revision).toBe(revision + 1);
  });

  test('is answered with 304 over REST until a flag changes', async () => {
    const get = (etag?: string) =>
      p.rest('GET', '/platform/v1/flags/snapshot', { token: service, headers: etag ? { 'if-none-match': etag } : {} });
    const first = await get();
    expect([first.status, keysOf(first.body)]).toEqual([200, [CYCLE, PROMPT, STAGE]]);
    const etag = String(first.headers.etag);
    expect((await get(etag)).status).toBe(304);
    await cycleOn(p);
    const second = await get(etag);
    expect([second.status, second.headers.etag === etag, second.body.revision]).toEqual([200, false, first.body.revision + 1]);
  });
});

describe('reading flags', () => {
  test('by key', async () => {
    const { status, body } = await p.rest('GET', `/platform/v1/admin/flags/${PROMPT}`, { token: service });
    expect([status, body.key, body.prerequisites]).toEqual([200, PROMPT, [{ key: CYCLE, variant: 'on' }]]);
    expect((await p.rest('GET', '/platform/v1/admin/flags/feature.nope', { token: service })).status).toBe(404);
  });

  test('by owner, by keys, and archived ones apart', async () => {
    const list = async (query: string) =>
      (await p.rest('GET', `/platform/v1/admin/flags?${query}`, { token: service })).body.data.map(({ key }: { key: string }) => key);
    expect(await list('owner=clinical')).toEqual([CYCLE, PROMPT]);
    expect(await list(`keys=${STAGE},feature.nope`)).toEqual([STAGE]);
    expect([await list('protected=false'), await list('archived=true')]).toEqual([[], []]);
  });

  test('shows conditions and rollouts in wire form', async () => {
    await change(p, PROMPT, { rules: [ofBrand(2500)], set: `default_rule = '{"rollout":[{"variant":"on","basisPoints":5}]}'` });
    const { body } = await p.rest('GET', `/platform/v1/admin/flags/${PROMPT}`, { token: service });
    expect(body.rules).toEqual([
      {
        position: 0,
        conditions: [{ attribute: 'brand', operator: 'in', values: [BRAND] }],
        serve: null,
        rollout: [{ variant: 'on', basis_points: 2500 }],
      },
    ]);
    expect(body.default_rule).toEqual({ variant: null, rollout: [{ variant: 'on', basis_points: 5 }] });
  });

  test('is the same in GraphQL', async () => {
    const { data } = await p.graphql(
      '{ featureFlags(protected: true) { key enabled killed revision } featureFlag(key: "feature.nope") { key } }',
      {},
      { token: service },
    );
    expect([data.featureFlags.map(({ key }: { key: string }) => key), data.featureFlag]).toEqual([[CYCLE, PROMPT, STAGE], null]);
  });
});
