import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ADMIN, DEMO, platform, type TestPlatform } from '../support/platform.js';
import { BIOMARKER, call, PROMPTED, PROTOCOL, subscribe } from './fixture.js';

/** Strict: no development setting is on, as in production. */
let p: TestPlatform;
let token: string;

beforeAll(async () => {
  p = await platform({
    services: ['webhooks', 'clinical'],
    transport: 'run',
    env: { WEBHOOKS_ALLOW_HTTP: '', WEBHOOKS_EGRESS_ALLOW_CIDRS: '' },
  });
  token = await p.serviceToken();
});

let count = 0;
const freshUrl = (): string => `https://hooks.example.com/${++count}`;
const input = (more: object = {}) => ({ client_id: 'demo-app', name: 'Billing sync', url: freshUrl(), event_types: [PROTOCOL], ...more });
const create = (more: object = {}, headers?: Record<string, string>) => call(p, 'POST', '/v1/webhook-subscriptions', input(more), headers);

describe('creating', () => {
  test('answers 201 with the resource and, this once, the secret; lists and reads show its hint only', async () => {
    const created = await create({
      event_types: [PROMPTED, PROTOCOL, PROMPTED],
      timeout_ms: 5000,
      headers: [{ name: 'X-Env', value: 'prod' }],
    });
    expect(created.status).toBe(201);
    const { signing_secret, ...rest } = created.body;
    expect(signing_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(created.headers.location).toBe(`/webhooks/v1/webhook-subscriptions/${rest.id}`);
    expect(rest).toMatchObject({
      client_id: 'demo-app',
      name: 'Billing sync',
      status: 'active',
      disabled_reason: null,
      event_types: [PROTOCOL, PROMPTED].sort(),
      timeout_ms: 5000,
      max_concurrency: 16,
      rate_limit_per_second: null,
      spread: 1,
      headers: [{ name: 'X-Env' }],
      standard_headers: false,
      circuit: { state: 'closed' },
      failing_since: null,
      version: 1,
      secrets: [{ hint: signing_secret.slice(-4), status: 'current', activates_at: null, expires_at: null }],
    });
    for (const path of [`/v1/webhook-subscriptions/${rest.id}`, '/v1/webhook-subscriptions?limit=100']) {
      const text = JSON.stringify((await call(p, 'GET', path)).body);
      expect(text).not.toContain(signing_secret);
      expect(text).not.toContain('signing_secret');
      expect(text).toContain(signing_secret.slice(-4));
    }
  });

  test('keeps secret and header values sealed, and out of audit', async () => {
    const { id, signing_secret } = await subscribe(p, freshUrl(), [PROTOCOL], { headers: [{ name: 'X-Key', value: 'hunter2-hunter2' }] });
    const rows = await p.sql(
      `select to_json(s)::text || to_json(k)::text as text from webhooks.webhook_subscription s join webhooks.webhook_secret k on k.subscription_id = s.id where s.id = $1`,
      [id],
    );
    const audit = await p.sql(`select string_agg(a::text, '') as text from webhooks.audit_log a`);
    for (const { text } of [...rows, ...audit]) {
      for (const secret of [signing_secret, Buffer.from(signing_secret).toString('hex'), 'hunter2', Buffer.from('hunter2').toString('hex')])
        expect(text).not.toContain(secret);
    }
    expect(audit[0].text).toContain('webhook_subscription.created');
  });

  test('with an Idempotency-Key answers the same secret again, and 422 for another body', async () => {
    const body = input();
    const headers = { 'idempotency-key': 'create-1' };
    const [first, second] = [
      await call(p, 'POST', '/v1/webhook-subscriptions', body, headers),
      await call(p, 'POST', '/v1/webhook-subscriptions', body, headers),
    ];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect((await call(p, 'POST', '/v1/webhook-subscriptions', input(), headers)).status).toBe(422);
  });

  test.each([
    ['http', 'http://hooks.example.com/'],
    ['a loopback address', 'https://127.0.0.1/'],
    ['a private address', 'https://10.0.0.5/'],
    ['user info', 'https://user:p@h.example/'],
    ['a mapped metadata address', 'https://[::ffff:169.254.169.254]/'],
    ['localhost', 'https://localhost:8443/'],
    ['a port below 1024', 'https://hooks.example.com:22/'],
    ['something that is no URL', 'hooks'],
  ])('with %s as URL is a 400 that points at /url', async (_what, url) => {
    const answer = await create({ url });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ pointer: '/url' }] } });
  });

  test.each([
    ['no client', undefined, 'is required'],
    ['an unknown client', 'nobody', 'is not a known client'],
  ])('with %s names that and every other violation', async (_what, client_id, message) => {
    const answer = await create({ client_id, url: 'http://10.0.0.5/', event_types: [PROTOCOL, 'clinical.*'] });
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toEqual([
      { pointer: '/client_id', message },
      { pointer: '/event_types/1', message: 'unknown event type' },
      { pointer: '/url', message: expect.any(String) },
    ]);
  });

  test('names every refused event type, each at its place', async () => {
    await p.sql(`update identity.oauth_client set scopes = '{read:biomarkers}' where id = 'demo-partner-app'`);
    const answer = await create({
      client_id: 'demo-partner-app',
      event_types: [PROTOCOL, BIOMARKER, 'clinical.*', 'user.erasure_requested.v1'],
    });
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toEqual([
      { pointer: '/event_types/0', message: 'needs scope read:protocols, which the client does not hold' },
      { pointer: '/event_types/1', message: 'needs a health-data agreement in force' },
      { pointer: '/event_types/2', message: 'unknown event type' },
      { pointer: '/event_types/3', message: 'not deliverable' },
    ]);
  });

  test('lists every violation at once', async () => {
    const answer = await create({
      url: 'http://x',
      event_types: ['nope'],
      headers: [
        { name: 'Host', value: 'a' },
        { name: 'X-A', value: 'a' },
        { name: 'x-a', value: 'b' },
      ],
    });
    expect(answer.body.errors.map((one: any) => one.pointer)).toEqual(['/event_types/0', '/url', '/headers/0/name', '/headers/2/name']);
  });

  test.each([
    ['no client', { client_id: undefined }, '/client_id'],
    ['an unknown client', { client_id: 'nobody' }, '/client_id'],
    ['a machine client', { client_id: 'demo-m2m' }, '/client_id'],
    ['no event type', { event_types: [] }, '/event_types'],
    ['a deadline over 30 s', { timeout_ms: 30_001 }, '/timeout_ms'],
    ['no slot', { max_concurrency: 0 }, '/max_concurrency'],
    ['a key that does not exist', { colour: 'red' }, '/colour'],
  ])('with %s is a 400', async (_what, more, pointer) => {
    const answer = await create(more);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
  });

  test('for a client that is disabled is a 400', async () => {
    await p.sql(`update identity.oauth_client set status = 'disabled' where id = 'demo-partner-app'`);
    expect(await create({ client_id: 'demo-partner-app' })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/client_id', message: 'is not an active client' }] },
    });
    await p.sql(`update identity.oauth_client set status = 'active' where id = 'demo-partner-app'`);
  });

  test('the same URL twice, in whatever spelling, is a 409; a deleted one is free again', async () => {
    const url = freshUrl();
    const { id } = await subscribe(p, url);
    const again = await create({ url: url.replace('https://hooks', 'HTTPS://HOOKS') });
    expect(again).toMatchObject({ status: 409, body: { code: 'conflict', reason: 'url_taken' } });
    expect((await call(p, 'DELETE', `/v1/webhook-subscriptions/${id}`)).status).toBe(204);
    expect((await create({ url })).status).toBe(201);
  });

  test('a client has at most 20', async () => {
    await p.sql(`update identity.oauth_client set first_party = true, scopes = '{read:protocols}' where id = 'demo-partner-app'`);
    for (let made = 0; made < 20; made++) await subscribe(p, freshUrl(), [PROTOCOL], { client_id: 'demo-partner-app' });
    expect(await create({ client_id: 'demo-partner-app' })).toMatchObject({ status: 409, body: { reason: 'limit_reached' } });
  });
});

describe('changing', () => {
  test('is a merge patch: what is left out stays, null clears what may be empty', async () => {
    const { id } = await subscribe(p, freshUrl(), [PROTOCOL], {
      description: 'ours',
      rate_limit_per_second: 5,
      headers: [{ name: 'X-Env', value: 'prod' }],
    });
    const changed = await call(p, 'PATCH', `/v1/webhook-subscriptions/${id}`, {
      description: null,
      rate_limit_per_second: null,
      max_concurrency: 4,
    });
    expect(changed).toMatchObject({
      status: 200,
      body: { name: 'Test', description: null, rate_limit_per_second: null, max_concurrency: 4, headers: [{ name: 'X-Env' }], version: 2 },
    });
    expect(await call(p, 'PATCH', `/v1/webhook-subscriptions/${id}`, { name: null, url: null })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/name' }, { pointer: '/url' }] },
    });
  });

  test('checks what it changes, and never the client', async () => {
    const { id } = await subscribe(p, freshUrl());
    const patch = (body: object) => call(p, 'PATCH', `/v1/webhook-subscriptions/${id}`, body);
    expect(await patch({ url: 'https://10.0.0.5/' })).toMatchObject({ status: 400, body: { errors: [{ pointer: '/url' }] } });
    expect(await patch({ event_types: ['nope'] })).toMatchObject({ status: 400, body: { errors: [{ pointer: '/event_types/0' }] } });
    expect(await patch({ client_id: 'demo-partner-app' })).toMatchObject({ status: 400, body: { errors: [{ pointer: '/client_id' }] } });
  });

  test('on an old version is a 409', async () => {
    const { id } = await subscribe(p, freshUrl());
    expect((await call(p, 'PATCH', `/v1/webhook-subscriptions/${id}`, { name: 'A', version: 1 })).body.version).toBe(2);
    expect(await call(p, 'PATCH', `/v1/webhook-subscriptions/${id}`, { name: 'B', version: 1 })).toMatchObject({
      status: 409,
      body: { reason: 'version_conflict' },
    });
  });

  test('goes through its states and no others', async () => {
    const { id } = await subscribe(p, freshUrl());
    const act = (word: string, body?: object) => call(p, 'POST', `/v1/webhook-subscriptions/${id}/${word}`, body);
    const disable = () => act('disable', { reason: 'test' });
    for (const [word, status] of [
      ['resume', 409],
      ['enable', 409],
      ['pause', 200],
      ['pause', 409],
      ['enable', 409],
      ['resume', 200],
    ] as const)
      expect([word, (await act(word)).status]).toEqual([word, status]);
    expect((await act('disable')).status).toBe(400);
    expect(await disable()).toMatchObject({ status: 200, body: { status: 'disabled', disabled_reason: 'admin' } });
    expect((await disable()).status).toBe(409);
    expect((await act('pause')).status).toBe(409);
    expect(await act('enable')).toMatchObject({ status: 200, body: { status: 'active', disabled_reason: null } });
    expect((await call(p, 'DELETE', `/v1/webhook-subscriptions/${id}`)).status).toBe(204);
    for (const word of ['pause', 'resume', 'enable']) expect((await act(word)).status).toBe(404);
    expect((await disable()).status).toBe(404);
    expect((await call(p, 'GET', `/v1/webhook-subscriptions/${id}`)).status).toBe(404);
    const actions = await p.sql('select action from webhooks.audit_log where target = $1 order by at, id', [id]);
    expect(actions.map(row => row.action.split('.')[1])).toEqual(['created', 'paused', 'resumed', 'disabled', 'enabled', 'deleted']);
  });

  test('cannot enable what its client may not use any more', async () => {
    const { id } = await subscribe(p, freshUrl(), [PROMPTED]);
    await call(p, 'POST', `/v1/webhook-subscriptions/${id}/disable`, { reason: 'test' });
    const [{ scopes }] = await p.sql(`select scopes from identity.oauth_client where id = 'demo-app'`);
    await p.sql(`update identity.oauth_client set scopes = array_remove(scopes, 'read:my_outcomes') where id = 'demo-app'`);
    const refused = await call(p, 'POST', `/v1/webhook-subscriptions/${id}/enable`);
    expect(refused).toMatchObject({ status: 409, body: { reason: 'not_allowed' } });
    await p.sql(`update identity.oauth_client set scopes = $1 where id = 'demo-app'`, [scopes]);
    expect((await call(p, 'POST', `/v1/webhook-subscriptions/${id}/enable`)).status).toBe(200);
  });
});

test('lists are filtered and paged, newest first', async () => {
  const [a, b] = [await subscribe(p, freshUrl(), [BIOMARKER]), await subscribe(p, freshUrl(), [BIOMARKER])];
  await call(p, 'POST', `/v1/webhook-subscriptions/${b.id}/pause`);
  const list = async (filter: string) => (await call(p, 'GET', `/v1/webhook-subscriptions?event_type=${BIOMARKER}&${filter}`)).body;
  expect((await list('')).data.map((one: any) => one.id)).toEqual([b.id, a.id]);
  expect((await list('status=paused')).data.map((one: any) => one.id)).toEqual([b.id]);
  expect((await list('client_id=demo-partner-app')).data).toEqual([]);
  const first = await list('limit=1');
  expect(first.data.map((one: any) => one.id)).toEqual([b.id]);
  expect((await list(`limit=1&cursor=${first.next_cursor}`)).data.map((one: any) => one.id)).toEqual([a.id]);
  expect((await call(p, 'GET', '/v1/webhook-subscriptions?cursor=nonsense')).status).toBe(400);
  expect((await call(p, 'GET', '/v1/webhook-subscriptions?limit=101')).status).toBe(400);
});

test('the event types that can be subscribed to name scope, schema and example, and what a client may take', async () => {
  const all = (await call(p, 'GET', '/v1/webhook-event-types?limit=100')).body;
  const names: string[] = all.data.map((one: any) => one.name);
  expect(names).toEqual([...names].sort());
  expect(names).toHaveLength(65);
  expect(names).toContain(PROTOCOL);
  for (const { json_schema, example } of all.data) expect(z.fromJSONSchema(json_schema).safeParse(example.data).success).toBe(true);
  expect(names).not.toContain('user.erasure_requested.v1');
  const [mine] = (await call(p, 'GET', `/v1/webhook-event-types?client_id=demo-app&q=${PROTOCOL}`)).body.data;
  expect(mine).toMatchObject({
    name: PROTOCOL,
    scope: 'read:protocols',
    sensitive: true,
    granted: true,
    subscribable: true,
    example: { type: PROTOCOL, client_id: 'demo-app' },
    deprecated_at: null,
  });
  expect(mine.json_schema.properties).toHaveProperty('protocol_id');
  expect((await call(p, 'GET', `/v1/webhook-event-types/${PROTOCOL}?client_id=demo-app`)).body).toEqual(mine);
  expect((await call(p, 'GET', '/v1/webhook-event-types/user.erasure_requested.v1')).status).toBe(404);
  const first = (await call(p, 'GET', '/v1/webhook-event-types?limit=1')).body;
  expect((await call(p, 'GET', `/v1/webhook-event-types?limit=1&cursor=${first.next_cursor}`)).body.data[0].name).toBe(names[1]);
  const foreign = await p.internalToken('cash');
  expect((await p.rest('GET', '/webhooks/v1/webhook-event-types', { token: foreign })).status).toBe(200);
  expect((await p.rest('GET', '/webhooks/v1/webhook-event-types?client_id=demo-app', { token: foreign })).status).toBe(403);
});

describe('callers', () => {
  const operations = [
    ['GET', '/v1/webhook-subscriptions'],
    ['POST', '/v1/webhook-subscriptions'],
    ['GET', `/v1/webhook-subscriptions/${DEMO}`],
    ['DELETE', `/v1/webhook-subscriptions/${DEMO}`],
    ['GET', '/v1/webhook-deliveries'],
    ['GET', '/v1/webhook-dead-letters'],
    ['POST', `/v1/webhooks/${DEMO}/replay`],
    ['POST', `/v1/webhook-deliveries/${DEMO}/retry`],
  ] as const;

  test.each(operations)('%s %s answers 401 without a token, 403 to another scope and to users', async (method, path) => {
    const user = await p.userToken(DEMO, ['read:account', 'manage:connected_apps']);
    const foreign = await p.internalToken('cash');
    const statuses = await Promise.all(
      [null, user, foreign].map(
        async one => (await p.rest(method, `/webhooks${path}`, { token: one, body: method === 'POST' ? {} : undefined })).status,
      ),
    );
    expect(statuses).toEqual([401, 403, 403]);
  });

  test('staff read with webhooks.read and change with webhooks.manage', async () => {
    const staff = (permissions: string[]) => p.userToken(ADMIN, [], { clientId: 'demo-admin', permissions, roles: ['developer'] } as never);
    const [reader, manager] = [await staff(['admin:webhooks:read']), await staff(['admin:webhooks:manage'])];
    const ask = async (one: string, method: string, path: string, body?: object) =>
      (await p.rest(method, `/webhooks${path}`, { token: one, body })).status;
    expect(await ask(reader, 'GET', '/v1/webhook-subscriptions')).toBe(200);
    expect(await ask(manager, 'GET', '/v1/webhook-subscriptions')).toBe(200);
    expect(await ask(reader, 'POST', '/v1/webhook-subscriptions', input())).toBe(403);
    expect(await ask(manager, 'POST', '/v1/webhook-subscriptions', input())).toBe(201);
  });
});

test('GraphQL shows a subscription with its client, and its deliveries', async () => {
  const { id } = await subscribe(p, freshUrl());
  const query = `query One($id: ID!) { webhookSubscription(id: $id) { id status client { id name } secrets { hint status } deliveries(first: 5) { nodes { id } } deadLetters { nodes { id } } } }`;
  const answer = await p.graphql(query, { id }, { token });
  expect(answer.errors).toEqual([]);
  expect(answer.data.webhookSubscription).toMatchObject({
    id,
    status: 'ACTIVE',
    client: { id: 'demo-app' },
    secrets: [{ status: 'CURRENT' }],
    deliveries: { nodes: [] },
    deadLetters: { nodes: [] },
  });
});

test('production refuses to start with a development setting', async () => {
  const { readSettings } = await import('../../subgraphs/webhooks/ports/settings.js');
  const config = (values: Record<string, string>, production = true) => ({ production, setting: (name: string) => values[name] }) as never;
  for (const name of ['WEBHOOKS_ALLOW_HTTP', 'WEBHOOKS_EGRESS_ALLOW_CIDRS'])
    expect(() => readSettings(config({ [name]: name.endsWith('HTTP') ? 'true' : '127.0.0.0/8' }))).toThrow('production refuses to start');
  expect(readSettings(config({}))).toMatchObject({
    egress: { http: false, networks: [] },
    retrySeconds: [60, 300, 1800, 7200, 43_200],
    retentionDays: 30,
  });
  expect(() => readSettings(config({ WEBHOOKS_RETENTION_DAYS: '6' }))).toThrow('WEBHOOKS_RETENTION_DAYS');
});
