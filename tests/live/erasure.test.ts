import { beforeAll, expect, test } from 'vitest';
import { newId } from '../../runtime/data/ids.js';
import { eraseUser, type ErasureScope } from '../../runtime/erasure/erasure.js';
import { erase } from '../../subgraphs/live/erase.js';
import { platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { assign, change, grant, onAirNow, person, session, type Person } from './fixture.js';

let p: TestPlatform;
let service: string;
beforeAll(async () => {
  p = await platform({ services: ['live', 'entitlements'] });
  service = await p.serviceToken();
}, 300_000);

const forget = (who: Person, scope: ErasureScope = 'full') =>
  p.host('live').transaction(ctx => eraseUser(ctx, erase, { userId: who.id, requestId: newId(), scope }));
const recordings = async (id: string): Promise<any[]> =>
  (await p.rest('GET', `/live/v1/sessions/${id}/recordings`, { token: service })).body.data;

async function recorded(id: string): Promise<void> {
  await p.rest('POST', '/live/embedded-streaming/egress', { body: { room: `ls_${id}_1`, duration_seconds: 60 } });
  await until(
    'the recording',
    () => recordings(id),
    rows => rows[0]?.status === 'ready',
  );
}

test("recordings of the brand's sessions that the user hosted are retained, with the basis; the title stays, the host is null", async () => {
  const host = await person(p);
  const { id } = await onAirNow(p, 0, { host_user_id: host.id, recording_enabled: true });
  await recorded(id);
  await change(p, id, { status: 'ended' });
  expect(await forget(host)).toMatchObject({
    outcome: 'retained',
    basis: expect.stringContaining('contract'),
    records: { live_session_host: 1 },
  });
  expect(await recordings(id)).toMatchObject([{ status: 'ready' }]);
  expect((await p.rest('GET', `/live/v1/admin/sessions/${id}`, { token: service })).body).toMatchObject({
    title: 'Ask the lab',
    host: null,
  });
  expect(await forget(host)).toMatchObject({ outcome: 'nothing_held' });
});

test("recordings of a member's own session are deleted, and nothing of it is retained", async () => {
  const giver = await person(p);
  await grant(p, giver, 'live.host');
  const now = Date.now();
  const times = { starts_at: new Date(now + 600_000).toISOString(), ends_at: new Date(now + 4_200_000).toISOString() };
  const body = { kind: 'broadcast', title: 'Mine', ...times, recording_enabled: true };
  const { id } = (await p.rest('POST', '/live/v1/sessions', { token: giver.token, body })).body;
  expect((await change(p, id, { status: 'live' })).status).toBe(200);
  await recorded(id);
  expect(await forget(giver)).toMatchObject({ outcome: 'anonymised', records: { live_recording: 1 } });
  expect(await recordings(id)).toEqual([]);
});

test('of health alone nothing is retained, because sessions and recordings stay as they are', async () => {
  const host = await person(p);
  const { id } = await onAirNow(p, 0, { host_user_id: host.id, recording_enabled: true });
  await recorded(id);
  expect(await forget(host, 'health')).toMatchObject({ outcome: 'nothing_held' });
  expect((await p.rest('GET', `/live/v1/admin/sessions/${id}`, { token: service })).body.host).toEqual({ id: host.id });
});

test('staff are told of each scheduled session that loses its host, and of no other, by the id of the session only', async () => {
  const [host, other] = [await person(p), await person(p)];
  const { id } = await session(p, { host_user_id: host.id });
  const helped = await session(p, { host_user_id: other.id });
  await assign(p, helped.id, other, host, { role: 'speaker' });
  const cancelled = await session(p, { host_user_id: host.id });
  await change(p, cancelled.id, { status: 'cancelled' });
  await forget(host);
  const told = await p.sql(
    `select user_id, data from events.outbox where type = 'comms.message.send_requested.v1' and data->>'template' = 'live_host_erased'`,
  );
  expect(told).toEqual([
    {
      user_id: null,
      data: expect.objectContaining({
        recipient_type: 'staff_role',
        params: { session_id: id, starts_at: '2049-06-02T18:00:00.000Z' },
        dedupe_key: `live:host_erased:${id}`,
      }),
    },
  ]);
  expect(JSON.stringify(told)).not.toContain(host.id);
});
