import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { flagSource } from '../../gateway/composition/flags.js';
import { FlagClient } from '../../runtime/flags/client.js';
import { atEnd } from '../support/at-end.js';
import { BRAND, DEMO, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { change, cycleOn, resetFlags } from './flag-changes.js';
import { CYCLE } from './flag-fixtures.js';

let p: TestPlatform;
let service: string;

beforeAll(async () => {
  p = await platform({ services: ['platform', 'clinical', 'intelligence', 'workflow'] });
  service = await p.serviceToken();
});
beforeEach(() => resetFlags(p));

describe('killing a flag', () => {
  const kill = (key: string, token = service, reason = 'error rate') =>
    p.rest('POST', `/platform/v1/admin/flags/${key}/kill`, { token, body: { reason } });
  const events = () =>
    p.sql(`select subject, user_id, brand_id, data from events.outbox where type = 'platform.brand.cache_invalidated.v1' order by seq`);
  const versionOf = async (brand: string) =>
    (await p.sql('select cache_version from platform.brand where id = $1', [brand]))[0].cache_version as number;

  test('is one write that wins over every rule', async () => {
    await change(p, CYCLE, { rules: [{ variant: 'on' }], set: `enabled = true, default_rule = '{"variant":"on"}'` });
    const [{ revision }] = await p.sql('select revision from platform.flag where key = $1', [CYCLE]);
    expect(await kill(CYCLE)).toMatchObject({
      status: 200,
      body: {
        key: CYCLE,
        killed: true,
        enabled: true,
        revision: revision + 1,
        rules: [{ position: 0, serve: { variant: 'on' }, rollout: null }],
      },
    });
    expect(
      (await p.rest('POST', '/platform/v1/flags/evaluate', { token: service, body: { keys: [CYCLE], brand_id: BRAND, user_id: DEMO } }))
        .body.data[0],
    ).toMatchObject({
      value: false,
      reason: 'disabled',
      revision: revision + 1,
    });
  });

  test('keeps before, after, reason and who asked, and an audit row', async () => {
    const { body } = await kill(CYCLE);
    const [record] = await p.sql('select * from platform.flag_change where flag_key = $1 order by created_at desc, id desc limit 1', [
      CYCLE,
    ]);
    expect(record).toMatchObject({
      before: { killed: false },
      after: { killed: true },
      reason: 'error rate',
      requested_by: 'service:demo-m2m',
      status: 'applied',
      revision: body.revision,
    });
    const [audit] = await p.sql(
      `select actor, details from platform.audit_log where action = 'feature_flag.killed' and target = $1 order by at desc, id desc limit 1`,
      [CYCLE],
    );
    expect(audit).toMatchObject({ actor: { kind: 'service', client_id: 'demo-m2m' }, details: { was_killed: false } });
  });

  test('tells every active brand, each with a growing version', async () => {
    const [second, suspended] = ['0190b3a0-0000-7000-8000-000000000002', '0190b3a0-0000-7000-8000-000000000003'];
    await p.sql(
      `insert into platform.brand (id, slug, name, legal_name, status, default_locale, locales, default_currency, currencies, countries, time_zone, theme, support_email, created_at)
       select $1, 'third', name, legal_name, 'suspended', default_locale, locales, default_currency, currencies, countries, time_zone, theme, support_email, created_at
       from platform.brand where id = $2`,
      [suspended, BRAND],
    );
    const [before, its, known] = [await versionOf(BRAND), await versionOf(second), (await events()).length];
    await kill(CYCLE);
    const emitted = (await events()).slice(known).sort((a, b) => (a.brand_id < b.brand_id ? -1 : 1));
    expect(emitted).toMatchObject([
      { subject: `brand:${BRAND}`, user_id: null, brand_id: BRAND, data: { brand_id: BRAND, keys: ['flags'], version: before + 1 } },
      { brand_id: second, data: { keys: ['flags'], version: its + 1 } },
    ]);
    expect(await versionOf(suspended)).toBe(0);
    await p.sql('delete from platform.brand where id = $1', [suspended]);
  });

  test('again changes nothing', async () => {
    const first = await kill(CYCLE);
    const [{ count }] = await p.sql('select count(*)::int from platform.flag_change');
    const known = (await events()).length;
    expect(await kill(CYCLE, service, 'once more, to be sure')).toMatchObject({
      status: 200,
      body: { killed: true, revision: first.body.revision },
    });
    expect([(await p.sql('select count(*)::int from platform.flag_change'))[0].count, (await events()).length]).toEqual([count, known]);
  });

  test('by two at once is one change', async () => {
    const [{ revision }] = await p.sql('select revision from platform.flag where key = $1', [CYCLE]);
    const answers = await Promise.all([kill(CYCLE), kill(CYCLE), kill(CYCLE)]);
    expect(answers.map(({ status, body }) => [status, body.revision])).toEqual(Array(3).fill([200, revision + 1]));
  });

  test('reaches the clients in other services, and works when it comes from staff', async () => {
    await cycleOn(p);
    const flags = p.host('clinical').flags;
    await flags.refresh();
    expect(flags.boolean(CYCLE)).toBe(true);
    const staff = await p.userToken(DEMO, ['read:profile'], { permissions: ['admin:platform:flags'] });
    expect((await kill(CYCLE, staff)).status).toBe(200);
    await expect.poll(() => flags.boolean(CYCLE), { timeout: 10_000 }).toBe(false);
    const [record] = await p.sql('select requested_by from platform.flag_change order by created_at desc, id desc limit 1');
    expect(record.requested_by).toBe(`staff:${DEMO}`);
  });

  test('is in force in a client that only hears the control channel, and never polls', async () => {
    await cycleOn(p);
    const host = p.host('clinical');
    const client = new FlagClient(
      flagSource(() => host.federation),
      host.log,
    ); // not started: there is no poll
    const hint = host.transport.onHint('cache', '*', () => void client.refresh());
    atEnd(async () => hint.stop());
    await client.refresh();
    expect(client.boolean(CYCLE)).toBe(true);
    expect((await kill(CYCLE)).status).toBe(200);
    await until(
      'the kill to be heard',
      async () => client.evaluate(CYCLE),
      ({ reason }) => reason === 'DISABLED',
    );
    expect(client.boolean(CYCLE)).toBe(false);
  });

  test('is in force in every service of the process', async () => {
    await cycleOn(p);
    const clients = (['clinical', 'workflow', 'platform'] as const).map(slug => p.host(slug).flags);
    await Promise.all(clients.map(client => client.refresh()));
    await kill(CYCLE);
    await until(
      'every client',
      async () => clients.map(client => client.boolean(CYCLE)),
      found => found.every(on => !on),
    );
  });

  test('is the same in GraphQL', async () => {
    const mutation = 'mutation($input: KillFeatureFlagInput!) { killFeatureFlag(input: $input) { key killed } }';
    const ask = (reason: string) => p.graphql(mutation, { input: { key: CYCLE, reason } }, { token: service });
    expect((await ask('short')).errors[0]!.extensions).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ pointer: '/input/reason' }] });
    expect((await ask('error rate')).data.killFeatureFlag).toEqual({ key: CYCLE, killed: true });
  });

  test('needs a reason of ten characters and a flag that exists', async () => {
    expect(await kill(CYCLE, service, 'too short')).toMatchObject({ status: 400, body: { errors: [{ pointer: '/reason' }] } });
    expect(await kill('feature.nope')).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});
