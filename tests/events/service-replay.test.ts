import { beforeAll, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import { biomarkerAdded } from '../../events/catalogue/clinical.js';
import { ADMIN, platform, type Answer, type TestPlatform } from '../support/platform.js';

const CONSUMER = 'clinical.retest';

/** POST /v1/replays and what follows from it. Source: contracts/events.md, sections 3, 4 and 10. */
let p: TestPlatform;
let operator: string;

beforeAll(async () => {
  p = await platform({ services: ['events', 'clinical'], transport: 'run' });
  operator = await p.serviceToken();
});

const DATA = { observation_id: v7(), code: 'ldl_c', source: 'lab' as const, collected_at: '2026-11-18T08:00:00.000Z', draw_id: null };

const emit = (userId: string): Promise<string> =>
  p.host('clinical').transaction(async ctx => {
    ctx.emit(biomarkerAdded, DATA, { userId });
    return ctx.events.at(-1)!.id;
  });

const call = (method: string, path: string, body?: object, token = operator): Promise<Answer> =>
  p.rest(method, `/events/v1${path}`, { token, ...(body && { body }) });
const ask = (more: object = {}, token = operator): Promise<Answer> =>
  call('POST', '/replays', { consumer: CONSUMER, filter: { types: [biomarkerAdded.name] }, reason: 'a test', ...more }, token);
const pointersOf = ({ body }: Answer): string[] => body.errors.map((one: { pointer: string }) => one.pointer);

async function handledBy(ids: readonly string[]): Promise<string[]> {
  const text = 'select event_id from clinical.inbox where consumer = $1 and event_id = any($2) order by processed_at';
  return (await p.sql<{ event_id: string }>(text, [CONSUMER, ids])).map(row => row.event_id);
}

/** Events of a user that the consumer has handled. */
async function handledEvents(count: number): Promise<{ user: string; ids: string[] }> {
  const user = v7();
  const ids: string[] = [];
  for (let index = 0; index < count; index++) ids.push(await emit(user));
  await expect.poll(() => handledBy(ids), { timeout: 20_000 }).toEqual(ids);
  await expect.poll(() => p.sql('select from events.outbox where published_at is null'), { timeout: 20_000 }).toEqual([]);
  return { user, ids };
}

const finished = async (id: string): Promise<any> => {
  await expect.poll(async () => (await call('GET', `/replays/${id}`)).body.status, { timeout: 20_000 }).toBe('completed');
  return (await call('GET', `/replays/${id}`)).body;
};

describe('a replay', () => {
  test('sends to the consumer what it has not handled, and is listed with its progress', async () => {
    const { user, ids } = await handledEvents(3);
    await p.sql('delete from clinical.inbox where event_id = $1', [ids[1]]);
    const created = await ask({ filter: { user_id: user } });
    expect(created).toMatchObject({
      status: 201,
      body: { consumer: CONSUMER, mode: 'dedupe', filter: { user_id: user, types: null }, total: 3, requested_by: 'service:demo-m2m' },
    });
    expect(created.headers.location).toBe(`/events/v1/replays/${created.body.id}`);
    expect(await finished(created.body.id)).toMatchObject({ total: 3, sent: 3, skipped: 0, error: null });
    await expect.poll(() => handledBy(ids), { timeout: 20_000 }).toEqual([ids[0], ids[2], ids[1]]);
    const { data } = (await call('GET', `/replays?consumer=${CONSUMER}&status=completed`)).body;
    expect(data[0].id).toBe(created.body.id);
    expect((await call('GET', '/replays?consumer=clinical.erasure')).body.data).toEqual([]);
    const [audit] = await p.sql(`select details from events.audit_log where action = 'replay.created' and target = $1`, [created.body.id]);
    expect(audit.details).toMatchObject({ consumer: CONSUMER, reason: 'a test', total: 3 });
  });

  test('can be asked for as a trial, which creates nothing', async () => {
    const { user } = await handledEvents(2);
    const before = await p.sql('select from events.replay');
    const trial = await ask({ filter: { user_id: user }, dry_run: true });
    expect([trial.status, trial.body]).toEqual([200, { total: 2 }]);
    expect(await p.sql('select from events.replay')).toHaveLength(before.length);
  });

  test('answers a repeated Idempotency-Key with the same replay', async () => {
    const { user } = await handledEvents(1);
    const body = { consumer: CONSUMER, filter: { user_id: user }, reason: 'a test' };
    const send = () => p.rest('POST', '/events/v1/replays', { token: operator, body, headers: { 'idempotency-key': user } });
    const first = await send();
    expect((await send()).body).toEqual(first.body);
    await finished(first.body.id);
  });

  test('of a consumer waits for the one before it, which can be cancelled once', async () => {
    const stuck = v7(); // cannot be read, so it neither ends nor moves on
    await p.sql(
      `insert into events.replay (id, consumer, mode, filter, status, total, requested_by, reason, created_at)
       values ($1, $2, 'dedupe', '{"user_id":"nobody"}', 'running', 1, 'staff:1', 'a test', now())`,
      [stuck, CONSUMER],
    );
    expect(await ask()).toMatchObject({ status: 409, body: { code: 'conflict', detail: expect.stringContaining(stuck) } });
    expect(await call('POST', `/replays/${stuck}/cancel`)).toMatchObject({ status: 200, body: { status: 'cancelled', sent: 0 } });
    expect((await call('GET', `/replays/${stuck}`)).body.finished_at).not.toBeNull();
    expect(await call('POST', `/replays/${stuck}/cancel`)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('cancelled') },
    });
    expect((await call('POST', `/replays/${v7()}/cancel`)).status).toBe(404);
    const next = await ask({ filter: { user_id: v7() } });
    expect([next.status, next.body.total]).toEqual([201, 0]);
    await finished(next.body.id);
    expect((await call('POST', `/replays/${next.body.id}/cancel`)).status).toBe(409);
  });

  test('is refused for a consumer that is detached', async () => {
    await p.sql(
      `insert into events.consumer (name, service, types, partitions, generation, status) values ('clinical.idle', 'clinical', '{x}', 1, 1, 'detached')`,
    );
    expect(await ask({ consumer: 'clinical.idle' })).toMatchObject({ status: 409, body: { detail: expect.stringContaining('detached') } });
  });
});

describe('a replay is refused', () => {
  test.each([
    ['for a consumer that is none', { consumer: 'clinical.nothing' }, ['/consumer']],
    ['without a condition', { filter: {} }, ['/filter']],
    ['with an unknown type', { filter: { types: ['no.such.type.v1'] } }, ['/filter/types/0']],
    ['with a user that is no UUID', { filter: { user_id: 'somebody' } }, ['/filter/user_id']],
    ['from before what the log keeps', { filter: { occurred_from: '2020-01-01T00:00:00.000Z' } }, ['/filter/occurred_from']],
    [
      'with ranges that end before they begin',
      {
        filter: {
          occurred_from: new Date(Date.now() - 1000).toISOString(),
          occurred_to: new Date(Date.now() - 5000).toISOString(),
          sequence_from: 9,
          sequence_to: 8,
        },
      },
      ['/filter/occurred_to', '/filter/sequence_to'],
    ],
    ['to run handlers again that do not declare it', { mode: 'rerun' }, ['/mode']],
    ['with several faults at once', { consumer: 'clinical.nothing', filter: {} }, ['/consumer', '/filter']],
    ['without a reason', { reason: undefined }, ['/reason']],
    ['with a reason that says nothing', { reason: 'x' }, ['/reason']],
    ['with an unknown key', { speed: 9 }, ['/speed']],
  ])('%s', async (_, more, pointers) => {
    const answer = await ask(more);
    expect([answer.status, pointersOf(answer)]).toEqual([400, pointers]);
  });

  test('from before what was dropped of the log', async () => {
    await p.sql('update events.log_floor set seq = 5 where "group" = 3');
    expect(pointersOf(await ask({ filter: { sequence_from: 5 } }))).toEqual(['/filter/sequence_from']);
    expect((await ask({ filter: { sequence_from: 6, sequence_to: 7 }, dry_run: true })).status).toBe(200);
    await p.sql('update events.log_floor set seq = 0');
  });

  test('to those who may only read', async () => {
    const reader = await p.userToken(ADMIN, [], { permissions: ['admin:events:read'] } as never);
    expect((await ask({}, reader)).status).toBe(403);
    expect((await call('GET', '/replays', undefined, reader)).status).toBe(200);
  });
});
