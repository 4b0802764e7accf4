import { beforeAll, describe, expect, test } from 'vitest';
import { v7 } from 'uuid';
import { biomarkerAdded } from '../../events/catalogue/clinical.js';
import { DeadLetterStatus } from '../../subgraphs/events/entities/enums.js';
import { handlingOf } from '../../subgraphs/events/rules.js';
import { ADMIN, DEMO, DEMO2, platform, type Answer, type TestPlatform } from '../support/platform.js';

/** Cause and effect of an event, what became of it, and whom it may be shown to. */
let p: TestPlatform;
let operator: string;

beforeAll(async () => {
  p = await platform({ services: ['events', 'clinical', 'webhooks', 'intelligence'], transport: 'run' });
  operator = await p.serviceToken();
});

const DATA = { observation_id: DEMO, code: 'ldl_c', source: 'lab' as const, collected_at: '2026-11-18T08:00:00.000Z', draw_id: null };

/** An event as a handler of `cause` emits it. */
const emit = (userId: string, cause: string | null = null): Promise<string> =>
  p.host('clinical').transaction(async ctx => {
    ctx.causationId = cause;
    ctx.emit(biomarkerAdded, DATA, { userId });
    return ctx.events.at(-1)!.id;
  });

const get = (path: string, token = operator): Promise<Answer> => p.rest('GET', `/events/v1${path}`, { token });

describe('an event', () => {
  test('shows what became of it at each consumer of its type', async () => {
    const id = await emit(v7());
    await expect
      .poll(async () => (await get(`/events/${id}`)).body.handling.map((one: any) => [one.consumer, one.status]), { timeout: 20_000 })
      .toEqual([
        ['clinical.retest', 'handled'],
        ['intelligence.features', 'handled'],
        ['webhooks.delivery', 'handled'],
      ]);
    const { handling } = (await get(`/events/${id}`)).body;
    expect(handling[0].at).toMatch(/Z$/);
  });

  test('names its cause and its effects, and the tree tells the whole story without data', async () => {
    const user = v7();
    const root = await emit(user);
    const [left, right] = [await emit(user, root), await emit(user, root)];
    const leaf = await emit(user, left);
    const query = `query ($id: ID!, $after: String) { platformEvent(id: $id) { causedBy { id } effects(first: 1, after: $after) { nodes { id } pageInfo { endCursor hasNextPage } } } }`;
    const first = (await p.graphql(query, { id: root }, { token: operator })).data.platformEvent;
    expect(first).toMatchObject({ causedBy: null, effects: { nodes: [{ id: left }], pageInfo: { hasNextPage: true } } });
    const second = (await p.graphql(query, { id: root, after: first.effects.pageInfo.endCursor }, { token: operator })).data.platformEvent;
    expect(second.effects).toMatchObject({ nodes: [{ id: right }], pageInfo: { hasNextPage: false } });

    const { body } = await get(`/events/${left}/trace`);
    expect(body.causes.map((one: any) => one.id)).toEqual([root]);
    expect(body.nodes.map((one: any) => [one.depth, one.event.id, one.event.causation_id])).toEqual([
      [0, left, root],
      [1, leaf, left],
    ]);
    expect(body.nodes[0].event).not.toHaveProperty('data');
    expect(body.truncated).toBe(false);
    expect((await get(`/events/${leaf}/trace`)).body.causes.map((one: any) => one.id)).toEqual([root, left]);
    expect((await get(`/events/${v7()}/trace`)).status).toBe(404);
  });

  test('shows at most 200 events in 10 levels of what followed, and says that there is more', async () => {
    const user = v7();
    const chain = [await emit(user)];
    for (let depth = 1; depth <= 12; depth++) chain.push(await emit(user, chain.at(-1)!));
    const deep = (await get(`/events/${chain[0]}/trace`)).body;
    expect([deep.nodes.map((one: any) => one.event.id), deep.truncated]).toEqual([chain.slice(0, 11), true]);
    expect((await get(`/events/${chain[12]}/trace`)).body.causes.map((one: any) => one.id)).toEqual(chain.slice(2, 12));
    const wide = await emit(user);
    await p.host('clinical').transaction(async ctx => {
      ctx.causationId = wide;
      for (let count = 0; count < 230; count++) ctx.emit(biomarkerAdded, DATA, { userId: user });
    });
    const { nodes, truncated } = (await get(`/events/${wide}/trace`)).body;
    expect([nodes.length, truncated]).toEqual([200, true]);
  });
});

describe('what became of an event', () => {
  const now = new Date('2026-11-21T12:00:00.000Z');
  const minutesAgo = (minutes: number): Date => new Date(now.getTime() - minutes * 60_000);
  const event = { made: minutesAgo(10), publishedAt: minutesAgo(10) };
  const open = { letter: undefined, handledAt: null, since: minutesAgo(100) };

  test.each<[DeadLetterStatus, string, string]>([
    ['retrying', 'retrying', 'retrying'],
    ['dead', 'dead', 'dead'],
    ['parked', 'parked', 'parked'],
    ['resolved', 'handled', 'handled'],
    ['discarded', 'dead', 'handled'],
  ])('with a letter that is %s is %s, and where it was handled as well %s', (status, alone, handled) => {
    const letter = { status, at: minutesAgo(5) };
    expect(handlingOf(event, { ...open, letter }, now)).toEqual({ status: alone, at: letter.at });
    expect(handlingOf(event, { ...open, letter, handledAt: minutesAgo(1) }, now).status).toBe(handled);
  });

  test.each([
    ['is handled where the inbox has it', event, { ...open, handledAt: minutesAgo(1) }, 'handled'],
    ['waits', event, open, 'pending'],
    ['waits to be relayed', { ...event, publishedAt: null }, { ...open, since: now }, 'pending'],
    ['was relayed before the consumer began', event, { ...open, since: minutesAgo(5) }, 'not_subscribed'],
    ['is of a type that the consumer has left', event, { ...open, since: null }, 'not_subscribed'],
    ['is older than the inbox', { ...event, made: minutesAgo(36 * 24 * 60) }, open, 'unknown'],
  ])('%s', (_, made, known, status) => {
    expect(handlingOf(made, known, now).status).toBe(status);
  });
});

describe('the payload rule', () => {
  test('holds for effects, users and keys as for the event itself', async () => {
    const root = await emit(DEMO);
    const effect = await emit(DEMO, root);
    const plain = await p.serviceToken('admin:events');
    const query = `query ($id: ID!, $user: ID!) { platformEvent(id: $id) { data effects(first: 1) { nodes { id data causedBy { data } } } } }`;
    expect((await p.graphql(query.replace(', $user: ID!', ''), { id: root }, { token: plain })).data.platformEvent).toEqual({
      data: null,
      effects: { nodes: [{ id: effect, data: null, causedBy: { data: null } }] },
    });
    const whole = (await p.graphql(query.replace(', $user: ID!', ''), { id: root }, { token: operator })).data.platformEvent;
    expect(whole.effects.nodes[0].data).toMatchObject({ code: 'ldl_c' });
  });
});

describe("a user's events", () => {
  const query = 'query ($id: ID!) { user(id: $id) { events(first: 100) { nodes { id type occurredAt } } } }';
  const entities = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
    ... on User { events(first: 100) { nodes { id type occurredAt } } } ... on PlatformEvent { id type } } }`;
  const ask = async (representation: object, token: string) =>
    (await p.rest('POST', '/events/graphql', { token, body: { query: entities, variables: { representations: [representation] } } })).body
      .data._entities[0];

  test('are shown to operators and to the user itself, and are null for others', async () => {
    const [mine, foreign] = [await emit(DEMO2), await emit(DEMO)];
    const token = await p.userToken(DEMO2, ['read:account']);
    const idsOf = (found: any): string[] => found.events.nodes.map((one: any) => one.id);
    expect(idsOf(await ask({ __typename: 'User', id: DEMO2 }, token))).toContain(mine);
    expect(idsOf(await ask({ __typename: 'User', id: DEMO2 }, token))).not.toContain(foreign);
    expect(await ask({ __typename: 'User', id: DEMO }, token)).toEqual({ events: null });
    expect(idsOf((await p.graphql(query, { id: DEMO }, { token: operator })).data.user)).toContain(foreign);
    expect(await ask({ __typename: 'PlatformEvent', id: mine }, token)).toEqual({ id: mine, type: biomarkerAdded.name });
    expect(await ask({ __typename: 'PlatformEvent', id: foreign }, token)).toBeNull();
  });

  test('have no data, sequence or source for the user itself', async () => {
    const mine = await emit(DEMO2);
    const token = await p.userToken(DEMO2, ['read:account']);
    for (const field of ['data', 'sequence', 'source', 'actor', 'handling { status }', 'effects { nodes { id } }', 'trace { truncated }']) {
      const body = {
        query: `query ($r: [_Any!]!) { _entities(representations: $r) { ... on PlatformEvent { ${field} } } }`,
        variables: { r: [{ __typename: 'PlatformEvent', id: mine }] },
      };
      const answer = await p.rest('POST', '/events/graphql', { token, body });
      expect(answer.body.errors?.[0]?.extensions.code, field).toBe('FORBIDDEN');
    }
  });
});

describe('event types', () => {
  test('tell operators when they were last emitted and how often today, and others nothing', async () => {
    await emit(DEMO);
    const { body } = await get(`/event-types/${biomarkerAdded.name}`);
    expect(body.count24h).toBeGreaterThan(0);
    expect(Date.parse(body.last_emitted_at)).toBeLessThanOrEqual(Date.now() + 1_000);
    const member = await p.userToken(DEMO, ['read:account']);
    expect((await get(`/event-types/${biomarkerAdded.name}`, member)).body).toMatchObject({ last_emitted_at: null });
    expect((await get('/event-types/cash.spent.v1')).body).toMatchObject({ last_emitted_at: null });
  });

  test('are documented by AsyncAPI: deliveries for any token, the bus for operators', async () => {
    const member = await p.userToken(DEMO, ['read:account']);
    const deliveries = await get('/asyncapi.json', member);
    expect([deliveries.status, deliveries.body.asyncapi, Object.keys(deliveries.body.channels)]).toEqual([200, '3.0.0', ['webhook']]);
    expect(Object.keys(deliveries.body.components.messages)).toHaveLength(65);
    expect((await get('/asyncapi.json?view=webhooks', member)).headers.etag).toBe(deliveries.headers.etag);
    expect((await get('/asyncapi.json?view=bus', member)).status).toBe(403);
    expect((await get('/asyncapi.json?view=all', member)).status).toBe(400);
    expect(Object.keys((await get('/asyncapi.json?view=bus')).body.channels)).toHaveLength(154);
    const staff = await p.userToken(ADMIN, [], { permissions: ['admin:events:read'] } as never);
    expect((await get('/asyncapi.json?view=bus', staff)).status).toBe(200);
  });
});
