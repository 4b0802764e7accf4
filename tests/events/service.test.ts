import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { v7 } from 'uuid';
import { z } from 'zod';
import { biomarkerAdded } from '../../events/catalogue/clinical.js';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import { ADMIN, DEMO, DEMO2, platform, type Answer, type TestPlatform } from '../support/platform.js';
import { CONTRACT } from './support/contract.js';

const CONSUMER = 'clinical.retest';
const AN_ID = '0190b3a0-1111-7000-8000-000000000001';

let p: TestPlatform;
let operator: string;
/** A bus operator without any other service's scope. */
let plain: string;

beforeAll(async () => {
  p = await platform({ services: ['events', 'clinical', 'webhooks'], transport: 'run' });
  operator = await p.serviceToken();
  plain = await p.serviceToken('admin:events');
});

const call = (method: string, path: string, body?: unknown, token: string | null = operator): Promise<Answer> =>
  p.rest(method, `/events${path}`, { token, ...(body !== undefined && { body }) });

/** Who does it in these tests, as audit rows have it. */
const OPERATOR = { kind: 'service', client_id: 'demo-m2m' };

const audited = (target: string): Promise<any[]> =>
  p.sql('select action, actor, details from events.audit_log where target = $1 order by at, id', [target]);

/** The re-test handler knows no such observation, so its effect is that the event counts as handled. */
const emit = (userId: string): Promise<string> =>
  p.host('clinical').transaction(async ctx => {
    ctx.emit(
      biomarkerAdded,
      { observation_id: AN_ID, code: 'ldl_c', source: 'lab', collected_at: '2026-11-18T08:00:00.000Z', draw_id: null },
      { userId },
    );
    return ctx.events.at(-1)!.id;
  });

/** Events that a consumer has handled, in order. */
async function handled(ids: readonly string[], consumer = CONSUMER): Promise<string[]> {
  const text = `select event_id from ${consumer.split('.')[0]}.inbox where consumer = $1 and event_id = any($2) order by processed_at`;
  return (await p.sql<{ event_id: string }>(text, [consumer, ids])).map(row => row.event_id);
}

async function pages(path: string): Promise<any[]> {
  const rows: any[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const { status, body } = await call('GET', `${path}${cursor && `&cursor=${cursor}`}`);
    expect(status).toBe(200);
    rows.push(...body.data);
    cursor = body.next_cursor;
  }
  return rows;
}

describe('event types', () => {
  test('all pages together are the 154 names of the catalogue', async () => {
    const names = (await pages('/v1/event-types?limit=60')).map(type => type.name);
    expect(names).toEqual(CONTRACT.map(([name]) => name).sort());
  });

  test('65 can be subscribed to, each with a scope and an example that its schema accepts', async () => {
    const { data } = (await call('GET', '/v1/event-types?subscribable=true&limit=100')).body;
    expect(data).toHaveLength(65);
    for (const { scope, json_schema, example } of data) {
      expect(scope).toMatch(/^read:/);
      expect(z.fromJSONSchema(json_schema).safeParse(example).success).toBe(true);
    }
  });

  test.each([
    ['owner=cash', ['cash.expired.v1', 'cash.granted.v1', 'cash.spent.v1']],
    ['scope=read:check_ins', ['check_in.due.v1']],
    ['q=magic%20LINK', []],
    ['q=sign-in%20link', ['auth.magic_link.requested.v1']],
    ['deprecated=true', []],
  ])('are found by %s', async (filter, names) => {
    expect((await call('GET', `/v1/event-types?${filter}`)).body.data.map((type: any) => type.name)).toEqual(names);
  });

  test('one is read by its name, and its schema bears an ETag', async () => {
    const type = (await call('GET', '/v1/event-types/subscription.created.v1')).body;
    expect(type).toMatchObject({
      owner: 'payments',
      emitters: ['payments', 'commerce'],
      user_rule: 'required',
      scope: 'read:subscriptions',
      sensitive: false,
      revision: 1,
    });
    const schema = await call('GET', '/v1/event-types/subscription.created.v1/schema');
    expect(schema.body).toEqual(type.json_schema);
    const again = await p.rest('GET', '/events/v1/event-types/subscription.created.v1/schema', {
      token: operator,
      headers: { 'if-none-match': String(schema.headers.etag) },
    });
    expect(again.status).toBe(304);
    expect((await call('GET', '/v1/event-types/no.such.type.v1')).status).toBe(404);
    expect((await call('GET', '/v1/event-types/no.such.type.v1/schema')).status).toBe(404);
  });

  test('any valid token may read them; their consumers are shown to operators', async () => {
    const member = await p.userToken(DEMO, ['read:account']);
    expect((await call('GET', '/v1/event-types?limit=1', undefined, member)).status).toBe(200);
    expect((await call('GET', '/v1/event-types?limit=1', undefined, null)).status).toBe(401);
    const query = '{ eventType(name: "clinical.biomarker.added.v1") { name consumers { name status } } }';
    const { data } = await p.graphql(query, {}, { token: operator });
    expect(data.eventType.consumers.map((one: any) => one.name)).toEqual(expect.arrayContaining([CONSUMER, 'webhooks.delivery']));
    expect((await p.graphql(query, {}, { token: member })).errors[0]!.extensions.code).toBe('FORBIDDEN');
  });
});

describe('the log', () => {
  test('shows an event with its metadata; data only to who may read the owner, and leaves an audit row', async () => {
    const id = await emit(DEMO);
    const event = (await call('GET', `/v1/events/${id}`)).body;
    expect(event).toMatchObject({
      id,
      type: biomarkerAdded.name,
      user_id: DEMO,
      subject: null,
      source: 'clinical',
      data: { code: 'ldl_c' },
      erased_at: null,
    });
    expect(event.sequence).toBeGreaterThan(0);
    expect((await call('GET', `/v1/events/${id}`, undefined, plain)).body).toMatchObject({ id, data: null });
    const audits = await p.sql(`select details from events.audit_log where action = 'event.read' and target = $1`, [id]);
    expect(audits).toEqual([{ details: { type: biomarkerAdded.name, user_id: DEMO } }]);
  });

  test('staff read the flow by role, and data by the role of the owner', async () => {
    const id = await emit(DEMO);
    const read = async (permissions: string[]) =>
      call('GET', `/v1/events/${id}`, undefined, await p.userToken(ADMIN, [], { permissions } as never));
    expect((await read(['admin:events:read'])).body.data).toBeNull();
    expect((await read(['admin:events:read', 'admin:clinical:read'])).body.data).toMatchObject({ code: 'ldl_c' });
    expect((await read(['admin:clinical:read'])).status).toBe(403);
  });

  test('is listed newest first, by type, user and time, page by page', async () => {
    const user = v7();
    const ids = [await emit(user), await emit(user), await emit(user)];
    const first = (await call('GET', `/v1/events?user_id=${user}&limit=2`)).body;
    expect(first.data.map((event: any) => event.id)).toEqual([ids[2], ids[1]]);
    const second = (await call('GET', `/v1/events?user_id=${user}&limit=2&cursor=${first.next_cursor}`)).body;
    expect([second.data.map((event: any) => event.id), second.next_cursor]).toEqual([[ids[0]], null]);
    const [newest] = first.data;
    expect(
      (await call('GET', `/v1/events?user_id=${user}&occurred_from=${newest.occurred_at}&types=${newest.type},x.y.v1`)).body.data[0].id,
    ).toBe(ids[2]);
    expect((await call('GET', `/v1/events?user_id=${user}&type=user.created.v1`)).body.data).toEqual([]);
    expect((await call('GET', '/v1/events?user_id=nobody')).body.data).toEqual([]);
    expect((await call('GET', '/v1/events?cursor=nonsense')).status).toBe(400);
    expect((await call('GET', `/v1/events/${randomUUID()}`)).status).toBe(404);
  });

  test("a member sees own ids, types and times, never another's and never data", async () => {
    const [mine, foreign] = [await emit(DEMO2), await emit(DEMO)];
    const token = await p.userToken(DEMO2, ['read:account']);
    const { data } = (await call('GET', '/v1/events/me?limit=100', undefined, token)).body;
    expect(data).toContainEqual({ id: mine, type: biomarkerAdded.name, occurred_at: expect.any(String) });
    expect(data.map((event: any) => event.id)).not.toContain(foreign);
    expect((await call('GET', '/v1/events/me', undefined, await p.userToken(DEMO2, ['read:live']))).status).toBe(403);
    expect((await call('GET', `/v1/events/${mine}`, undefined, token)).status).toBe(403);
  });

  test("an erasure leaves id, type and times of the user's earlier events, and {} for data; other users keep theirs", async () => {
    const [gone, kept] = [v7(), v7()];
    const [emptied, other] = [await emit(gone), await emit(kept)];
    await p.host('identity').transaction(async ctx => {
      const data = {
        request_id: v7(),
        scope: 'full' as const,
        requested_at: '2026-11-20T09:30:00.000Z',
        due_at: '2026-12-20T09:30:00.000Z',
      };
      ctx.emit(userErasureRequested, data, { userId: gone });
    });
    await expect
      .poll(async () => (await call('GET', `/v1/events/${emptied}`)).body.erased_at, { timeout: 20_000 })
      .toEqual(expect.any(String));
    expect((await call('GET', `/v1/events/${emptied}`)).body).toMatchObject({ id: emptied, type: biomarkerAdded.name, data: {} });
    expect((await call('GET', `/v1/events/${other}`)).body).toMatchObject({ data: { code: 'ldl_c' }, erased_at: null });
  });

  test('a stranger learns nothing by key, on the subgraph port either', async () => {
    const id = await emit(DEMO);
    const representations = [
      { __typename: 'PlatformEvent', id },
      { __typename: 'EventConsumer', name: CONSUMER },
      { __typename: 'EventType', name: biomarkerAdded.name },
    ];
    const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
      ... on PlatformEvent { id source data } ... on EventConsumer { name service } ... on EventType { name owner } } }`;
    const ask = async (token: string) =>
      (await p.rest('POST', '/events/graphql', { token, body: { query, variables: { representations } } })).body.data._entities;
    expect(await ask(await p.userToken(DEMO2, ['read:account']))).toEqual([null, null, { name: biomarkerAdded.name, owner: 'clinical' }]);
    expect(await ask(plain)).toEqual([
      { id, source: 'clinical', data: null },
      { name: CONSUMER, service: 'clinical' },
      { name: biomarkerAdded.name, owner: 'clinical' },
    ]);
  });

  test('readyz names database, transport and relay, and fails while no relay has a group', async () => {
    const checks = async (): Promise<any> => (await call('GET', '/readyz', undefined, null)).body.checks;
    expect(await checks()).toMatchObject({ database: 'ok', transport: 'ok', relay: 'ok' });
    const abandoned = async (): Promise<any> => {
      await p.sql(`update events.lease set expires_at = clock_timestamp() - interval '11 seconds' where name = 'relay:3'`);
      return call('GET', '/readyz', undefined, null);
    };
    await expect
      .poll(abandoned, { timeout: 20_000 })
      .toMatchObject({ status: 503, body: { status: 'unavailable', checks: { transport: 'ok', relay: 'failing' } } });
    await expect.poll(async () => (await checks()).relay, { timeout: 20_000 }).toBe('ok');
  });

  test('the bus says what waits and who relays it', async () => {
    const bus = (await call('GET', '/v1/bus')).body;
    expect(bus).toMatchObject({
      transport: inject('amqpUrl') ? 'rabbitmq' : 'embedded',
      connected: true,
      open_dead_letters: expect.any(Number),
    });
    expect(bus.groups.map((one: any) => one.group)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
});

describe('consumers', () => {
  test('are listed with what waits for them', async () => {
    const { data } = (await call('GET', '/v1/consumers?service=clinical')).body;
    expect(data.map((one: any) => one.name)).toEqual(expect.arrayContaining(['clinical.erasure', CONSUMER]));
    expect(data.find((one: any) => one.name === CONSUMER)).toMatchObject({
      types: [biomarkerAdded.name],
      status: 'active',
      depth: expect.any(Number),
      blocked_keys: 0,
      dead_letters: 0,
    });
    expect((await call('GET', '/v1/consumers/clinical.nothing')).status).toBe(404);
  });

  test('a paused one handles nothing until it is resumed, and then all of it in order', async () => {
    expect((await call('POST', `/v1/consumers/${CONSUMER}/pause`, { reason: 'a look' })).body).toMatchObject({
      status: 'paused',
      paused_reason: 'a look',
      version: 2,
    });
    expect((await call('POST', `/v1/consumers/${CONSUMER}/pause`, {})).status).toBe(409);
    const passesBy = async (): Promise<boolean> => {
      const id = await emit(v7());
      await expect.poll(() => handled([id], 'webhooks.delivery'), { timeout: 20_000 }).toEqual([id]);
      return (await handled([id])).length === 0;
    };
    await expect.poll(async () => [await passesBy(), await passesBy(), await passesBy()], { timeout: 20_000 }).toEqual([true, true, true]);
    const user = v7();
    const ids = [await emit(user), await emit(user), await emit(user)];
    await expect
      .poll(async () => (await call('GET', `/v1/consumers/${CONSUMER}`)).body.depth, { timeout: 20_000 })
      .toBeGreaterThanOrEqual(6);
    expect(await handled(ids)).toEqual([]);
    const resumed = await call('POST', `/v1/consumers/${CONSUMER}/resume`, { reason: 'all is well' });
    expect(resumed.body).toMatchObject({ status: 'active', paused_reason: null });
    await expect.poll(() => handled(ids), { timeout: 20_000 }).toEqual(ids);
    expect((await call('POST', `/v1/consumers/${CONSUMER}/resume`)).status).toBe(409);
    expect(await audited(CONSUMER)).toEqual([
      { action: 'consumer.paused', actor: OPERATOR, details: { status: 'paused', reason: 'a look' } },
      { action: 'consumer.resumed', actor: OPERATOR, details: { status: 'active', reason: 'all is well' } },
    ]);
  });
});

describe('dead letters', () => {
  const letterOf = (event: string): Promise<any> =>
    call('GET', `/v1/dead-letters?limit=100&status=dead,parked,retrying,resolved,discarded`).then(({ body }) =>
      body.data.find((one: any) => one.event_id === event),
    );

  /** An event that its handler refused for good, as the machinery files it, and a second one of the user behind it. */
  async function blocked(): Promise<{ user: string; first: string; second: string; letter: string }> {
    const [user, letter] = [v7(), v7()];
    const first = await emit(user);
    await expect.poll(() => handled([first]), { timeout: 20_000 }).toEqual([first]);
    await p.sql('delete from clinical.inbox where event_id = $1', [first]);
    await p.sql(
      `insert into events.dead_letter (id, consumer, event_id, order_key, seq, type, status, reason, error_class, attempts, first_failed_at, last_failed_at)
       select $1, $2, o.id, o.order_key, o.seq, o.type, 'dead', 'permanent', 'Permanent', 1, now(), now() from events.outbox o where o.id = $3`,
      [letter, CONSUMER, first],
    );
    const second = await emit(user);
    await expect.poll(async () => (await letterOf(second))?.status, { timeout: 20_000 }).toBe('parked');
    return { user, first, second, letter };
  }

  test('a permanent failure blocks the next events of its user at this consumer, and no other user', async () => {
    const { user, first, second, letter } = await blocked();
    const { data } = (await call('GET', `/v1/dead-letters?consumer=${CONSUMER}&user_id=${user}`)).body;
    expect(data.map((one: any) => [one.event_id, one.status, one.reason])).toEqual([
      [first, 'dead', 'permanent'],
      [second, 'parked', 'behind_another'],
    ]);
    expect((await call('GET', `/v1/dead-letters/${data[1].id}`)).body).toMatchObject({
      consumer: CONSUMER,
      blocked_behind: { id: letter },
    });
    const next = (await call('GET', `/v1/dead-letters?user_id=${user}&limit=1`)).body.next_cursor;
    expect((await call('GET', `/v1/dead-letters?user_id=${user}&limit=1&cursor=${next}`)).body.data[0].event_id).toBe(second);
    expect((await call('GET', `/v1/consumers/${CONSUMER}`)).body).toMatchObject({ blocked_keys: 1, dead_letters: 2 });
    const free = await emit(v7());
    await expect.poll(() => handled([free]), { timeout: 20_000 }).toEqual([free]);
    expect((await call('POST', `/v1/dead-letters/${data[1].id}/replay`)).body).toMatchObject({
      status: 409,
      detail: expect.stringContaining(letter),
    });

    expect(await call('POST', `/v1/dead-letters/${letter}/replay`, { reason: 'handler repaired' })).toMatchObject({
      status: 202,
      body: { id: letter, status: 'retrying' },
    });
    expect(await audited(letter)).toEqual([{ action: 'dead_letter.replayed', actor: OPERATOR, details: { reason: 'handler repaired' } }]);
    await expect.poll(() => handled([first, second]), { timeout: 20_000 }).toEqual([first, second]);
    await expect.poll(async () => [(await letterOf(first)).status, (await letterOf(second)).status]).toEqual(['resolved', 'resolved']);
    expect((await call('POST', `/v1/dead-letters/${letter}/replay`)).status).toBe(409);
    expect((await call('POST', `/v1/dead-letters/${letter}/discard`, { reason: 'too late' })).status).toBe(409);
  });

  test('discarding needs a reason, is audited, and lets the next one go on', async () => {
    const { first, second, letter } = await blocked();
    expect((await call('POST', `/v1/dead-letters/${letter}/discard`, {})).body).toMatchObject({
      status: 400,
      errors: [{ pointer: '/reason' }],
    });
    expect((await call('POST', `/v1/dead-letters/${letter}/discard`, { reason: 'settled by hand' })).body).toMatchObject({
      status: 'discarded',
      resolved_by: 'service:demo-m2m',
    });
    await expect.poll(() => handled([first, second]), { timeout: 20_000 }).toEqual([second]);
    expect(await audited(letter)).toEqual([{ action: 'dead_letter.discarded', actor: OPERATOR, details: { reason: 'settled by hand' } }]);
  });

  test("a consumer's are replayed together, each key from its first", async () => {
    const one = await blocked();
    const two = await blocked();
    expect(await call('POST', '/v1/dead-letters/replay', { consumer: CONSUMER, reason: 'too_old' })).toMatchObject({
      status: 202,
      body: { keys: 0, events: 0 },
    });
    const replayed = await call('POST', '/v1/dead-letters/replay', { consumer: CONSUMER, note: 'handler repaired' });
    expect(replayed.body).toEqual({ keys: 2, events: 4 });
    expect((await audited(CONSUMER)).at(-1)).toEqual({
      action: 'dead_letters.replayed',
      actor: OPERATOR,
      details: { keys: 2, events: 4, reason: null, type: null, note: 'handler repaired' },
    });
    for (const { first, second } of [one, two])
      await expect.poll(() => handled([first, second]), { timeout: 20_000 }).toEqual([first, second]);
    expect((await call('POST', '/v1/dead-letters/replay', { consumer: 'clinical.nothing' })).body).toMatchObject({
      status: 400,
      errors: [{ pointer: '/consumer' }],
    });
  });

  test.each([
    ['POST', `/v1/consumers/${CONSUMER}/pause`],
    ['POST', `/v1/dead-letters/${AN_ID}/replay`],
    ['POST', '/v1/dead-letters/replay'],
  ])('%s %s needs the right to operate, not to read', async (method, path) => {
    const reader = await p.userToken(ADMIN, [], { permissions: ['admin:events:read'] } as never);
    expect((await call(method, path, {}, reader)).status).toBe(403);
  });

  test('whoever may only operate reads what a consumer has become, and no other', async () => {
    const worker = await p.userToken(ADMIN, [], { permissions: ['admin:events:operate'] } as never);
    const does = (action: string) => call('POST', `/v1/consumers/${CONSUMER}/${action}`, {}, worker);
    expect(await does('pause')).toMatchObject({ status: 200, body: { name: CONSUMER, status: 'paused', depth: expect.any(Number) } });
    expect(await does('resume')).toMatchObject({ status: 200, body: { name: CONSUMER, status: 'active' } });
    expect((await call('GET', `/v1/consumers/${CONSUMER}`, undefined, worker)).status).toBe(403);
  });

  test('what does not exist is a 404, and a filter that is no word of the list a 400', async () => {
    expect((await call('GET', `/v1/dead-letters/${AN_ID}`)).status).toBe(404);
    expect((await call('POST', '/v1/dead-letters/nothing/replay')).status).toBe(404);
    expect((await call('GET', '/v1/dead-letters?status=lost')).status).toBe(400);
    expect((await call('GET', '/v1/dead-letters?cursor=nonsense')).status).toBe(400);
  });
});
