import { beforeAll, expect, test } from 'vitest';
import { v7 } from 'uuid';
import { biomarkerAdded } from '../../events/catalogue/clinical.js';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';

/** The log in the order of the relay: for dashboards that follow it, and for deliveries that catch up. */
let p: TestPlatform;
let operator: string;

beforeAll(async () => {
  p = await platform({ services: ['events', 'clinical', 'webhooks'], transport: 'run' });
  operator = await p.serviceToken();
});

const DATA = { observation_id: DEMO, code: 'ldl_c', source: 'lab' as const, collected_at: '2026-11-18T08:00:00.000Z', draw_id: null };

const emit = (userId: string, note: (id: string) => void = () => undefined): Promise<string> =>
  p.host('clinical').transaction(async ctx => {
    ctx.emit(biomarkerAdded, DATA, { userId });
    const { id } = ctx.events.at(-1)!;
    note(id);
    return id;
  });

const tail = async (query: string): Promise<{ ids: string[]; next: string }> => {
  const { status, body } = await p.rest('GET', `/events/v1/events?order=log&${query}`, { token: operator });
  expect([status, typeof body.next_cursor]).toEqual([200, 'string']);
  return { ids: body.data.map((one: any) => one.id), next: body.next_cursor };
};

/** Everything that a filter lets through, page by page, until a page is empty. */
async function all(query: string, from = ''): Promise<{ ids: string[]; next: string }> {
  const ids: string[] = [];
  for (let cursor = from; ;) {
    const page = await tail(`${query}${cursor && `&cursor=${cursor}`}`);
    ids.push(...page.ids);
    cursor = page.next;
    if (page.ids.length === 0) return { ids, next: cursor };
  }
}

test('pages follow each other per user by sequence, and the cursor at the end is good for what comes later', async () => {
  const user = v7();
  const ids = [await emit(user), await emit(user), await emit(user)];
  await expect.poll(async () => (await all(`user_id=${user}&limit=2`)).ids, { timeout: 10_000 }).toEqual(ids);
  const { next } = await all(`user_id=${user}&limit=2`);
  const later = await emit(user);
  await expect.poll(async () => (await all(`user_id=${user}`, next)).ids, { timeout: 10_000 }).toEqual([later]);
});

test('`now` starts at the end, and a waiting reader gets an event as soon as it is there', async () => {
  const user = v7();
  await emit(user);
  await expect.poll(async () => (await all(`user_id=${user}`)).ids.length, { timeout: 10_000 }).toBe(1);
  const end = await tail(`user_id=${user}&cursor=now`);
  expect(end.ids).toEqual([]);
  const began = performance.now();
  const waiting = tail(`user_id=${user}&cursor=${end.next}&wait=20`);
  await emit(v7()); // somebody else's does not end the wait
  const id = await emit(user);
  expect((await waiting).ids).toEqual([id]);
  expect(performance.now() - began).toBeLessThan(15_000);
});

test('a wait that brings nothing ends in time with a cursor', async () => {
  const began = performance.now();
  expect((await tail(`user_id=${v7()}&cursor=now&wait=1`)).ids).toEqual([]);
  expect(performance.now() - began).toBeGreaterThanOrEqual(900);
});

test('an event that commits late is not skipped, although others were read past its sequence', async () => {
  const [slow, quick] = [v7(), v7()];
  let late = '';
  let commit = (): void => undefined;
  const held = new Promise<void>(resolve => (commit = resolve));
  const owner = p.host('clinical');
  const begun = owner.transaction(async ctx => {
    ctx.emit(biomarkerAdded, DATA, { userId: slow });
    late = ctx.events.at(-1)!.id;
    await ctx.em.flush();
    await ctx.sql('select events.append($1::json, null)', [JSON.stringify(ctx.events.splice(0))]); // its sequence is drawn, its commit waits
    await held;
  });
  await expect.poll(() => late, { timeout: 5_000 }).not.toBe('');
  const ids = [await emit(quick), await emit(quick)];
  const from = `types=${biomarkerAdded.name}&occurred_from=${new Date(Date.now() - 60_000).toISOString()}&limit=100`;
  await expect.poll(async () => (await all(from)).ids, { timeout: 10_000 }).toEqual(expect.arrayContaining(ids));
  const { next } = await all(from);
  commit();
  await begun;
  await expect.poll(async () => (await all(from, next)).ids, { timeout: 10_000 }).toEqual([late]);
});

test.each([['wait=5'], ['order=log&wait=21'], ['order=log&wait=-1'], ['order=log&cursor=nonsense'], ['cursor=now'], ['order=oldest']])(
  'GET /v1/events?%s is a 400',
  async query => {
    expect((await p.rest('GET', `/events/v1/events?${query}`, { token: operator })).status).toBe(400);
  },
);

test('the delivery log gives webhooks, and nobody else, payloads byte for byte in order, without erased ones', async () => {
  const [user, other] = [v7(), v7()];
  const ids = [await emit(user), await emit(user), await emit(user)];
  await emit(other);
  await expect.poll(async () => (await all(`user_id=${user}`)).ids, { timeout: 10_000 }).toEqual(ids);
  await p.sql(`update events.outbox set data = '{}', erased_at = now() where id = $1`, [ids[1]]);
  const query = `query ($users: [ID!], $after: String) { deliveryLog(userIds: $users, types: ["${biomarkerAdded.name}"], first: 1, after: $after) {
    nodes { id type userId sequence occurredAt dataText } pageInfo { endCursor hasNextPage } } }`;
  const ask = (token: string, after: string | null = null) => p.graphql(query, { users: [user], after }, { token });
  const webhooks = await p.internalToken('webhooks');
  const first = (await ask(webhooks)).data.deliveryLog;
  expect(first.nodes).toEqual([expect.objectContaining({ id: ids[0], userId: user, dataText: JSON.stringify(DATA) })]);
  expect(first.pageInfo.hasNextPage).toBe(true);
  const second = (await ask(webhooks, first.pageInfo.endCursor)).data.deliveryLog;
  expect([second.nodes.map((one: any) => one.id), second.pageInfo.hasNextPage]).toEqual([[ids[2]], false]);
  for (const token of [operator, await p.internalToken('clinical'), await p.userToken(DEMO, ['read:account'])])
    expect((await ask(token)).errors[0]!.extensions.code).toBe('FORBIDDEN');
  const [audit] = await p.sql<{ details: { events: number } }>(
    `select details from events.audit_log where action = 'delivery_log.read' limit 1`,
  );
  expect(audit!.details.events).toBe(1);
});
