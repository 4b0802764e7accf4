import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { createHttp } from '../../runtime/http/server.js';
import { createLogger } from '../../runtime/observe/log.js';
import { Problem } from '../../runtime/request/errors.js';
import { DEMO, platform, sharedPlatform, type SharedPlatform } from '../support/platform.js';

let inProcess: SharedPlatform;
beforeAll(async () => {
  inProcess = await sharedPlatform();
});

/** An operation that is not repeatable: it makes a row each time that it runs. */
describe('Idempotency-Key', () => {
  let p: SharedPlatform;
  let token: string;
  beforeAll(async () => {
    p = inProcess;
    token = await p.serviceToken();
  });

  const observation = (draw: string) => ({
    user_id: DEMO,
    observations: [
      {
        code: 'ldl_c',
        value: 120,
        unit: 'mg/dL',
        collected_at: '2026-08-01T08:00:00.000Z',
        draw_id: draw,
        source: 'lab',
        performer: 'lab_a',
        source_ref: `r:${draw}`,
        status: 'final',
      },
    ],
  });
  const subscribe = (key: string, name: string, path: string) =>
    p.rest('POST', '/webhooks/v1/webhook-subscriptions', {
      token,
      headers: { 'idempotency-key': key },
      body: { client_id: 'demo-app', name, url: `http://127.0.0.1:9/${path}`, event_types: ['clinical.retest.prompted.v1'] },
    });

  test('the same key and body replays the stored answer, secret included, and makes nothing', async () => {
    const key = randomUUID();
    const first = await subscribe(key, 'One', 'one');
    const second = await subscribe(key, 'One', 'one');
    expect(first.status).toBe(201);
    expect(second.status).toBe(201);
    expect(second.body).toEqual(first.body);
    expect(await p.sql("select count(*)::int as rows from webhooks.webhook_subscription where url like '%/one'")).toEqual([{ rows: 1 }]);
  });

  test('the same key with another body is a 422 idempotency_mismatch', async () => {
    const key = randomUUID();
    await subscribe(key, 'Two', 'two');
    expect(await subscribe(key, 'Two, renamed', 'two')).toMatchObject({ status: 422, body: { code: 'idempotency_mismatch' } });
  });

  test('ten at once: one effect; the others replay it or are told that it is running', async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 10 }, () => subscribe(key, 'Three', 'three')));
    expect(answers.filter(answer => ![201, 409].includes(answer.status))).toEqual([]);
    expect(new Set(answers.filter(answer => answer.status === 201).map(answer => answer.body.id)).size).toBe(1);
    expect(await p.sql("select count(*)::int as rows from webhooks.webhook_subscription where url like '%/three'")).toEqual([{ rows: 1 }]);
  });

  test('a key belongs to its caller: another client with the same key is not answered from it', async () => {
    const key = randomUUID();
    const body = observation(randomUUID());
    const ours = await p.rest('POST', '/clinical/v1/biomarkers', { token, body, headers: { 'idempotency-key': key } });
    const theirs = await p.rest('POST', '/clinical/v1/biomarkers', {
      token: await p.internalToken('labs'),
      body: observation(randomUUID()),
      headers: { 'idempotency-key': key },
    });
    expect([ours.status, theirs.status]).toEqual([201, 201]);
    expect(theirs.body).not.toEqual(ours.body);
  });

  test('a refused request stores nothing: the key is free for the corrected one', async () => {
    const key = randomUUID();
    const wrong = observation(randomUUID());
    wrong.observations[0]!.unit = 'parsec';
    expect((await p.rest('POST', '/clinical/v1/biomarkers', { token, body: wrong, headers: { 'idempotency-key': key } })).status).toBe(400);
    expect(
      (await p.rest('POST', '/clinical/v1/biomarkers', { token, body: observation(randomUUID()), headers: { 'idempotency-key': key } }))
        .status,
    ).toBe(201);
  });
});

const REPLAYED = 'idempotent-replayed';

describe.each(['process', 'http'])('Idempotent-Replayed with SUBGRAPH_CALLS=%s', calls => {
  let p: SharedPlatform;
  let token: string;
  beforeAll(async () => {
    p = calls === 'process' ? inProcess : await platform({ services: ['webhooks', 'events'], env: { SUBGRAPH_CALLS: calls } });
    token = await p.serviceToken();
  });

  const SUBSCRIBE = `mutation($url: String!) { createWebhookSubscription(input: {
    clientId: "demo-app", name: "Of a key", url: $url, eventTypes: ["clinical.retest.prompted.v1"] }) { id signingSecret } }`;
  const PUBLISH = {
    type: 'clinical.retest.prompted.v1',
    user_id: DEMO,
    data: { code: 'ldl_c', prompt_count: 1, prompted_at: '2026-08-01T08:00:00.000Z' },
  };

  test('a replay bears it through REST, the first answer does not', async () => {
    const request = {
      token,
      headers: { 'idempotency-key': randomUUID() },
      body: { client_id: 'demo-app', name: 'Rest', url: 'http://127.0.0.1:9/rest', event_types: ['clinical.retest.prompted.v1'] },
    };
    const answers = [1, 2].map(() => () => p.rest('POST', '/webhooks/v1/webhook-subscriptions', request));
    const [first, second] = [await answers[0]!(), await answers[1]!()];
    expect([first.status, first.headers[REPLAYED]]).toEqual([201, undefined]);
    expect([second.status, second.headers[REPLAYED]]).toEqual([201, 'true']);
    expect(second.body).toEqual(first.body);
  });

  test('a replay bears it through GraphQL, in the pipeline of @apollo/server and past it', async () => {
    const options = { token, headers: { 'idempotency-key': randomUUID() } };
    const seen = [];
    for (let n = 0; n < 4; n++) seen.push(await p.graphql(SUBSCRIBE, { url: 'http://127.0.0.1:9/graphql' }, options));
    expect(seen.map(({ headers }) => headers[REPLAYED])).toEqual([undefined, 'true', 'true', 'true']);
    expect(new Set(seen.map(({ data }) => JSON.stringify(data))).size).toBe(1);
  });

  test('a replay of a transaction that the operation opens itself bears it', async () => {
    const request = { token, headers: { 'idempotency-key': randomUUID() }, body: PUBLISH };
    const first = await p.rest('POST', '/events/v1/events', request);
    const second = await p.rest('POST', '/events/v1/events', request);
    expect([first.status, second.status, first.headers[REPLAYED], second.headers[REPLAYED]]).toEqual([
      first.status,
      first.status,
      undefined,
      'true',
    ]);
    expect(first.status).toBeLessThan(300);
  });

  test('another body is a 422 without it', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    await p.graphql(SUBSCRIBE, { url: 'http://127.0.0.1:9/a' }, { token, headers });
    const other = await p.graphql(SUBSCRIBE, { url: 'http://127.0.0.1:9/b' }, { token, headers });
    expect(other.errors[0]!.extensions.code).toBe('IDEMPOTENCY_MISMATCH');
    expect(other.headers[REPLAYED]).toBeUndefined();
  });
});

test('a problem that is replayed bears Idempotent-Replayed too', async () => {
  const app = createHttp({ log: createLogger('silent') });
  app.get('/replayed', request => {
    request.info.isReplayed = true;
    throw new Problem('payment_declined', 'The card was declined');
  });
  const answer = await app.inject('/replayed');
  expect([answer.statusCode, answer.headers[REPLAYED]]).toEqual([402, 'true']);
  await app.close();
});
