import { beforeAll, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import { biomarkerAdded } from '../../events/catalogue/clinical.js';
import { ADMIN, platform, type Answer, type TestPlatform } from '../support/platform.js';

const CONSUMER = 'clinical.retest';
const PATIENCE = { timeout: 60_000 };

/** Taking a consumer off the stream and bringing it back. Source: contracts/events.md, sections 3 and 10. */
let p: TestPlatform;
let operator: string;

beforeAll(async () => {
  p = await platform({ services: ['events', 'clinical'], transport: 'run' });
  operator = await p.serviceToken();
});

const DATA = { observation_id: v7(), code: 'ldl_c', source: 'lab' as const, collected_at: '2026-11-18T08:00:00.000Z', draw_id: null };

/** One transaction per event, so that they are as many commits. */
async function emit(userId: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++)
    await p.host('clinical').transaction(async ctx => {
      ctx.emit(biomarkerAdded, DATA, { userId });
      ids.push(ctx.events.at(-1)!.id);
    });
  return ids;
}

const call = (method: string, path: string, body?: object, token = operator): Promise<Answer> =>
  p.rest(method, `/events/v1${path}`, { token, ...(body && { body }) });
const order = (what: string, body: object = {}): Promise<Answer> => call('POST', `/consumers/${CONSUMER}/${what}`, body);
const consumer = async (): Promise<any> => (await call('GET', `/consumers/${CONSUMER}`)).body;

async function handled(ids: readonly string[]): Promise<string[]> {
  const text = 'select event_id from clinical.inbox where consumer = $1 and event_id = any($2) order by processed_at';
  return (await p.sql<{ event_id: string }>(text, [CONSUMER, ids])).map(row => row.event_id);
}

async function published(): Promise<void> {
  await expect.poll(() => p.sql('select from events.outbox where published_at is null'), PATIENCE).toEqual([]);
}

/** How many events the consumer has ever handled. */
const runs = async (): Promise<number> =>
  Number((await p.sql<{ n: number }>(`select count(*)::int as n from clinical.inbox where consumer = $1`, [CONSUMER]))[0]!.n);

test('100 events that came during a pause are handled after it, in order and none twice', async () => {
  const user = v7();
  const [first] = await emit(user, 1);
  await expect.poll(() => handled([first!]), PATIENCE).toEqual([first]);
  expect((await order('pause', { reason: 'a look' })).status).toBe(200);
  const ids = await emit(user, 100);
  expect((await order('resume')).status).toBe(200);
  await expect.poll(() => handled(ids), PATIENCE).toEqual(ids);
});

describe('a detached consumer', () => {
  test('gets exactly what it missed when it is attached, in order, then what comes', async () => {
    const user = v7();
    const [first] = await emit(user, 1);
    await expect.poll(() => handled([first!]), PATIENCE).toEqual([first]);
    await published();
    await expect.poll(async () => (await consumer()).depth, PATIENCE).toBe(0); // a connection made anew is given again what was not acknowledged
    const before = await runs();
    const detached = await order('detach', { reason: 'moves house' });
    expect(detached).toMatchObject({ status: 200, body: { status: 'detached', position: expect.any(String), depth: 0 } });
    expect((await order('detach')).status).toBe(409);
    expect((await order('pause')).status).toBe(409);
    const missed = await emit(user, 50);
    await published();
    expect(await handled(missed)).toEqual([]);
    expect((await consumer()).depth).toBe(0);

    expect(await order('attach', { reason: 'has moved' })).toMatchObject({ status: 202, body: { status: 'active' } });
    const live = await emit(user, 5); // while it is being fed
    await expect.poll(() => handled([...missed, ...live]), PATIENCE).toEqual([...missed, ...live]);
    expect(await runs()).toBe(before + 55);
    await expect.poll(async () => (await consumer()).position, PATIENCE).toBeNull();
    const later = await emit(user, 2);
    await expect.poll(() => handled(later), PATIENCE).toEqual(later);
    expect((await order('attach')).status).toBe(409);
    const actions = await p.sql<{ action: string; actor: any; details: any }>(
      `select action, actor, details from events.audit_log where target = $1 and action ~ 'tach|position' order by at, id`,
      [CONSUMER],
    );
    expect(actions.map(({ action }) => action)).toEqual(['consumer.detached', 'consumer.position_noted', 'consumer.attached']);
    expect(actions.map(({ details }) => details.reason)).toEqual(['moves house', undefined, 'has moved']);
    expect(actions.map(({ actor }) => actor.client_id)).toEqual(['demo-m2m', 'demo-m2m', 'demo-m2m']);
  });

  test('can be detached while it is paused with events in its queue, and gets those as well', async () => {
    const user = v7();
    await order('pause');
    const waiting = await emit(user, 10);
    await published();
    expect(await order('detach')).toMatchObject({ status: 200, body: { status: 'detached', paused_reason: null } });
    const missed = await emit(user, 10);
    await published();
    expect((await order('attach')).status).toBe(202);
    await expect.poll(() => handled([...waiting, ...missed]), PATIENCE).toEqual([...waiting, ...missed]);
  });

  test('cannot be attached when the log no longer has what it missed', async () => {
    expect((await order('detach')).status).toBe(200);
    await p.sql('update events.log_floor set position = 1000000');
    expect(await order('attach')).toMatchObject({
      status: 409,
      body: { code: 'conflict', detail: expect.stringContaining('log no longer has') },
    });
    await p.sql('update events.log_floor set position = 0');
    expect((await order('attach')).status).toBe(202);
    await expect.poll(async () => (await consumer()).position, PATIENCE).toBeNull();
  });

  test('is the business of operators only, and of consumers that exist', async () => {
    const reader = await p.userToken(ADMIN, [], { permissions: ['admin:events:read'] } as never);
    for (const what of ['detach', 'attach']) {
      expect((await call('POST', `/consumers/${CONSUMER}/${what}`, {}, reader)).status).toBe(403);
      expect((await call('POST', `/consumers/clinical.nothing/${what}`, {})).status).toBe(404);
    }
  });
});
