import { beforeAll, describe, expect, test, vi } from 'vitest';
import { v7 } from 'uuid';
import { biomarkerAdded } from '../../events/catalogue/clinical.js';
import { platformCanary } from '../../events/catalogue/platform.js';
import { newId } from '../../events/envelope.js';
import { lookAtAlarms } from '../../subgraphs/events/commands/alarms.js';
import { Lags } from '../../subgraphs/events/workers/alarms.js';
import { alarmsOf } from '../../subgraphs/events/rules.js';
import { platform, type TestPlatform } from '../support/platform.js';

/** Probes over the whole bus, and what developers are told. Source: contracts/events.md, section 5. */
let p: TestPlatform;

beforeAll(async () => {
  p = await platform({
    services: ['events', 'clinical', 'webhooks'],
    transport: 'run',
    env: { ROLES: 'subgraphs,gateway,rest,relay,consumers' },
  }); // the looks are ours
});

const bus = async (): Promise<any> => (await p.rest('GET', '/events/v1/bus', { token: await p.serviceToken() })).body;

interface Told {
  kind: string;
  consumer?: string;
  [detail: string]: unknown;
}

/** Alarms that were sent since the last call. */
let seen = 0;
async function told(): Promise<Told[]> {
  const rows = await p.sql<{ seq: number; data: { recipient_type: string; recipient_id: string; params: Told } }>(
    `select seq::float8 as seq, data from events.outbox where type = 'comms.message.send_requested.v1' and data->>'template' = 'bus_alarm' and seq > $1 order by seq`,
    [seen],
  );
  seen = rows.at(-1)?.seq ?? seen;
  for (const { data } of rows) expect(data).toMatchObject({ recipient_type: 'staff_role', recipient_id: 'developer' });
  return rows.map(({ data }) => data.params);
}

const look = (lags: ReadonlyMap<string, number> = new Map()): Promise<void> => p.host('events').transaction(ctx => lookAtAlarms(ctx, lags));

test('a probe is measured once, and the bus shows how long probes take', async () => {
  expect(await bus()).toMatchObject({ roundtrip_p50_ms: null, roundtrip_p95_ms: null });
  const probe = v7();
  await p.host('platform').transaction(async ctx => {
    ctx.emit(platformCanary, { probe_id: probe, sent_at: ctx.now().toISOString(), origin: 'platform' }, {});
    ctx.emit(platformCanary, { probe_id: probe, sent_at: ctx.now().toISOString(), origin: 'platform' }, {});
  });
  await expect.poll(async () => (await bus()).roundtrip_p95_ms, { timeout: 30_000 }).toBeGreaterThanOrEqual(0);
  const rows = await p.sql('select type, slot, ms from events.roundtrip');
  expect(rows).toEqual([{ type: platformCanary.name, slot: expect.any(Number), ms: expect.any(Number) }]);
});

test('a consumer that is stuck with an event in hand lags, though nothing is ready', async () => {
  const oldestAt = new Date(Date.now() - 400_000);
  const depthOf = (name: string) =>
    name === 'clinical.retest' ? { ready: 0, unacked: 1, oldestAt } : { ready: 0, unacked: 0, oldestAt: null };
  vi.spyOn(p.host('events').transport, 'depths').mockImplementation(async names => names.map(depthOf));
  const lags = await new Lags().look(p.host('events'));
  expect([...lags].filter(([, seconds]) => seconds > 300).map(([name]) => name)).toEqual(['clinical.retest']);
});

describe('developers are told', () => {
  test('that a consumer has new dead letters, once for all of them, and again of those that come later', async () => {
    await look();
    await told();
    const letter = () =>
      p.sql(
        `insert into events.dead_letter (id, consumer, event_id, order_key, seq, type, status, reason, attempts, first_failed_at, last_failed_at)
         values ($1, 'clinical.retest', $2, 's:x', 1, $3, 'dead', 'permanent', 1, now(), now())`,
        [newId(), newId(), biomarkerAdded.name],
      );
    await letter();
    await letter();
    await look();
    expect(await told()).toEqual([{ kind: 'dead_letter', consumer: 'clinical.retest', count: 2 }]);
    await look();
    expect(await told()).toEqual([]);
    await letter();
    await look();
    expect(await told()).toEqual([{ kind: 'dead_letter', consumer: 'clinical.retest', count: 1 }]);
    await p.sql(`delete from events.dead_letter where order_key = 's:x'`);
  });

  test('that a consumer lags, when it begins and when it begins anew', async () => {
    const lags = new Map([
      ['clinical.retest', 301],
      ['webhooks.delivery', 299],
    ]);
    await look(lags);
    expect(await told()).toEqual([{ kind: 'consumer_lag', consumer: 'clinical.retest', seconds: 301 }]);
    await look(lags);
    expect(await told()).toEqual([]);
    await look();
    await look(lags);
    expect(await told()).toEqual([{ kind: 'consumer_lag', consumer: 'clinical.retest', seconds: 301 }]);
  });

  test('that probes are slow', async () => {
    await p.sql('update events.roundtrip set ms = 2500');
    await look();
    expect(await told()).toEqual([{ kind: 'roundtrip', p95_ms: 2500 }]);
  });

  test('that an event was handled out of order', async () => {
    await p.sql(`insert into events.disorder (consumer, event_id) values ('clinical.retest', $1)`, [v7()]);
    await look();
    expect(await told()).toEqual([{ kind: 'out_of_order', consumer: 'clinical.retest', count: 1 }]);
    await look();
    expect(await told()).toEqual([]);
  });
});

test.each([
  [{ unpublishedSeconds: 60, cause: null, lags: new Map([['a.b', 300]]), roundtripP95Ms: 2_000 }, []],
  [{ unpublishedSeconds: 61, cause: null, lags: new Map(), roundtripP95Ms: null }, ['unpublished']],
  [{ unpublishedSeconds: 0, cause: null, lags: new Map([['a.b', 301]]), roundtripP95Ms: 2_001 }, ['consumer_lag', 'roundtrip']],
])('the limits of the alarms are those of the contract: %j', (state, kinds) => {
  expect(alarmsOf(state).map(({ kind }) => kind)).toEqual(kinds);
});

test('the alarm says why the oldest waits, where that is known', () => {
  const state = { unpublishedSeconds: 61, lags: new Map(), roundtripP95Ms: null };
  const cause = 'platform.clinical.retest.g1.p01 does not confirm';
  expect(alarmsOf({ ...state, cause })).toEqual([{ kind: 'unpublished', key: '', params: { seconds: 61, cause } }]);
  expect(alarmsOf({ ...state, cause: null })).toEqual([{ kind: 'unpublished', key: '', params: { seconds: 61 } }]);
});
