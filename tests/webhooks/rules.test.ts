import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { fairShare } from '../../events/leases.js';
import { reconciled, covers, lostScopes, project, supersedes, type GrantState } from '../../subgraphs/webhooks/rules/grants.js';
import { clientViolation, typeViolation, type ClientFacts } from '../../subgraphs/webhooks/rules/filter.js';
import { opens } from '../../subgraphs/webhooks/rules/holding-back.js';
import { redactBody, redactRequestHeaders, redactResponseHeaders } from '../../subgraphs/webhooks/rules/redaction.js';
import { afterAttempt, maxAttempts, parseSchedule, RETRY_SECONDS } from '../../subgraphs/webhooks/rules/schedule.js';
import { shardOf, shardsOf, SHARDS } from '../../subgraphs/webhooks/rules/shards.js';
import {
  afterTrigger,
  decideReplay,
  isReplayable,
  DELIVERY_STATES,
  SUBSCRIPTION_STATES,
  waitingFor,
  type Replayed,
} from '../../subgraphs/webhooks/rules/states.js';
import { bodyOf, headersOf, headerViolation, hintOf, newSecret, secretsAt, signatureOf } from '../../subgraphs/webhooks/rules/wire.js';
import { WebhookDeliveryStatus } from '../../subgraphs/webhooks/entities/enums.js';
import { normalisedUrl, urlViolation, withoutQuery } from '../../subgraphs/webhooks/rules/url.js';

const AT = Date.parse('2026-11-20T09:30:00.260Z');

describe('the retry schedule', () => {
  test('is that of the specification: 1 min, 5 min, 30 min, 2 h, 12 h from the end of the failed attempt, then the dead letters', () => {
    const ends = [1, 2, 3, 4, 5, 6].map(number => afterAttempt(number, { error: 'http_status', endedAt: AT }));
    expect(ends.map(({ nextAttemptAt }) => nextAttemptAt && nextAttemptAt - AT)).toEqual([
      60_000,
      300_000,
      1_800_000,
      7_200_000,
      43_200_000,
      null,
    ]);
    expect(ends.map(({ status }) => status)).toEqual([...Array<string>(5).fill('retrying'), 'dead_lettered']);
    expect(ends[5]).toEqual({ status: 'dead_lettered', nextAttemptAt: null, deadLetterReason: 'retries_exhausted' });
  });

  test('with instantaneous attempts runs at 0, 1 m, 6 m, 36 m, 2 h 36 m and 14 h 36 m', () => {
    const times = [0];
    for (let number = 1; number <= 5; number++)
      times.push(afterAttempt(number, { error: 'timeout', endedAt: times.at(-1)! }).nextAttemptAt!);
    expect(times.map(ms => ms / 60_000)).toEqual([0, 1, 6, 36, 156, 876]);
  });

  test.each([1, 2, 3, 4, 5, 6])('ends at attempt %i when it succeeds', number => {
    expect(afterAttempt(number, { error: null, endedAt: AT })).toEqual({
      status: 'delivered',
      nextAttemptAt: null,
      deadLetterReason: null,
    });
  });

  test('has six attempts', () => expect(maxAttempts()).toBe(6));

  test('can be set, in whole seconds', () => {
    expect(parseSchedule('60,300,1800,7200,43200')).toEqual([...RETRY_SECONDS]);
    for (const wrong of ['', '60,', '0', '1.5', 'x', '-1']) expect(() => parseSchedule(wrong)).toThrow('WEBHOOKS_RETRY_SCHEDULE_SECONDS');
  });
});

const EVENT = {
  id: '019a9f0e-0000-7000-8000-000000000001',
  type: 'clinical.retest.prompted.v1',
  userId: '0190b3a0-0000-7000-8000-0000000000a1',
  occurredAt: '2026-11-20T09:30:00.000Z',
  data: '{"code":"ldl_c","ü":1}',
};
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const secrets = { current: SECRET, previous: null, next: null };
const sending = {
  event: EVENT,
  body: bodyOf(EVENT, 'demo-app'),
  deliveryId: 'd',
  attempt: 3,
  replay: false,
  secrets,
  custom: [],
  standardHeaders: false,
  at: AT,
};

describe('the wire', () => {
  test('the body has exactly the six keys in order, without whitespace, data copied byte for byte', () => {
    expect(bodyOf(EVENT, 'demo-app').toString('utf8')).toBe(
      `{"id":"${EVENT.id}","type":"${EVENT.type}","user_id":"${EVENT.userId}","client_id":"demo-app","occurred_at":"2026-11-20T09:30:00.000Z","data":{"code":"ldl_c","ü":1}}`,
    );
  });

  test('the signature is the hex HMAC-SHA256 of the raw body under the whole secret string, as node and openssl compute it', () => {
    const signature = signatureOf(sending.body, SECRET);
    expect(signature).toMatch(/^[0-9a-f]{64}$/);
    expect(signature).toBe(createHmac('sha256', SECRET).update(sending.body).digest('hex'));
    expect(
      execFileSync('openssl', ['dgst', '-sha256', '-hmac', SECRET, '-r'], { input: sending.body, encoding: 'utf8' }).split(' ')[0],
    ).toBe(signature);
  });

  test('a secret is whsec_ and 32 random bytes, 50 characters; its hint are the last four', () => {
    const [one, two] = [newSecret(), newSecret()];
    expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(one).toHaveLength(50);
    expect(one).not.toBe(two);
    expect(hintOf(one)).toBe(one.slice(46));
  });

  test('an attempt bears the four headers of the specification and the id of its delivery', () => {
    expect(headersOf(sending)).toEqual({
      'Content-Type': 'application/json',
      'User-Agent': 'Platform-Webhooks/1',
      'X-Platform-Event-Id': EVENT.id,
      'X-Platform-Event-Type': EVENT.type,
      'X-Platform-Delivery-Id': 'd',
      'X-Platform-Delivery-Attempt': '3',
      'X-Platform-Signature': signatureOf(sending.body, SECRET),
    });
  });

  test('a replay says so, and custom headers cannot take the place of ours', () => {
    const ours = headersOf({ ...sending, replay: true });
    const taken = Object.keys(ours).map(name => ({ name, value: 'theirs' }));
    const headers = headersOf({ ...sending, replay: true, custom: [{ name: 'X-Env', value: 'prod' }, ...taken] });
    expect(headers).toEqual({ ...ours, 'X-Env': 'prod' });
    expect(ours).toMatchObject({ 'X-Platform-Replay': 'true' });
  });

  test('the Standard Webhooks headers verify with what the base64 part of each valid secret decodes to', () => {
    const previous = newSecret();
    const headers = headersOf({ ...sending, standardHeaders: true, secrets: { ...secrets, previous } });
    const timestamp = String(Math.floor(AT / 1000));
    expect(headers).toMatchObject({ 'webhook-id': EVENT.id, 'webhook-timestamp': timestamp });
    const expected = [SECRET, previous].map(
      secret =>
        `v1,${createHmac('sha256', Buffer.from(secret.slice(6), 'base64'))
          .update(`${EVENT.id}.${timestamp}.${sending.body.toString()}`)
          .digest('base64')}`,
    );
    expect(headers['webhook-signature']!.split(' ')).toEqual(expected);
    expect(headers['X-Platform-Signature-Previous']).toBe(signatureOf(sending.body, previous));
  });

  test('a next secret signs a second header until it takes over, a previous one until it ends', () => {
    const stored = (status: 'current' | 'next' | 'previous', activatesAt: number | null, expiresAt: number | null) => ({
      status,
      value: status,
      activatesAt,
      expiresAt,
    });
    const next = [stored('current', null, null), stored('next', AT + 1, null)];
    expect(secretsAt(next, AT)).toEqual({ current: 'current', previous: null, next: 'next' });
    expect(secretsAt(next, AT + 1)).toEqual({ current: 'next', previous: null, next: null });
    const previous = [stored('current', null, null), stored('previous', null, AT + 1)];
    expect(secretsAt(previous, AT)).toEqual({ current: 'current', previous: 'previous', next: null });
    expect(secretsAt(previous, AT + 1)).toEqual({ current: 'current', previous: null, next: null });
  });

  test.each([
    'Host',
    'content-type',
    'Content-Anything',
    'Transfer-Encoding',
    'Connection',
    'X-Platform-Event-Id',
    'webhook-id',
    'User-Agent',
    'Expect',
    'not a token',
    'a:b',
    '',
  ])('%j is not a custom header', name => {
    expect(headerViolation({ name, value: 'x' })?.field).toBe('name');
  });

  test('a header value with a line break is refused', () => {
    expect(headerViolation({ name: 'X-Env', value: 'a\r\nX-Platform-Event-Id: b' })?.field).toBe('value');
    expect(headerViolation({ name: 'X-Env', value: 'prod' })).toBeNull();
  });
});

const state = (more: Partial<GrantState>): GrantState => ({
  grantId: 'g1',
  version: 1,
  active: true,
  scopes: ['read:a'],
  since: { at: 100, seq: 10 },
  ...more,
});

describe('the grant projection', () => {
  const first = project(undefined, state({}));

  test.each([
    ['a higher version of the same grant', state({ version: 2 }), true],
    ['the same version again', state({}), false],
    ['a newer grant whose versions begin anew', state({ grantId: 'g2', version: 1 }), true],
    ['an older grant', state({ grantId: 'g0', version: 9 }), false],
  ])('%s: news %s', (_what, next, news) => expect(supersedes(first, next)).toBe(news));

  test('a scope that stays keeps its beginning, a new one begins now', () => {
    const next = project(first, state({ version: 2, scopes: ['read:a', 'read:b'], since: { at: 200, seq: 20 } }));
    expect(next.scopes).toEqual({ 'read:a': { at: 100, seq: 10 }, 'read:b': { at: 200, seq: 20 } });
    expect(lostScopes(next, project(next, state({ version: 3, active: false })))).toEqual(['read:a', 'read:b']);
  });

  test('a grant that is given again begins anew, so it covers nothing that happened before', () => {
    const again = project(project(first, state({ version: 2, active: false })), state({ grantId: 'g2', since: { at: 300, seq: 30 } }));
    expect(covers(again, 'read:a', { sequence: 20, occurredAt: 250 })).toBe(false);
    expect(covers(again, 'read:a', { sequence: 31, occurredAt: 301 })).toBe(true);
  });

  test('what came as an event covers what follows it in the log, and not what stands before it', () => {
    const grant = project(undefined, { grantId: 'g', version: 1, active: true, scopes: ['read:protocols'], since: { at: 5, seq: 10 } });
    expect([8, 9, 10, 11, 12].map(sequence => covers(grant, 'read:protocols', { sequence, occurredAt: 100 }))).toEqual([
      false,
      false,
      false,
      true,
      true,
    ]);
  });

  test('what was learnt by asking is judged by time, what came as an event by its place in the log', () => {
    const asked = project(undefined, state({ since: { at: 100, seq: null } }));
    expect(covers(asked, 'read:a', { sequence: 1, occurredAt: 100 })).toBe(true);
    expect(covers(asked, 'read:a', { sequence: 99, occurredAt: 99 })).toBe(false);
    expect(covers(first, 'read:a', { sequence: 11, occurredAt: 1 })).toBe(true);
    expect(covers(first, 'read:b', { sequence: 11, occurredAt: 1000 })).toBe(false);
    expect(covers(undefined, 'read:a', { sequence: 11, occurredAt: 1000 })).toBe(false);
  });
});

describe('who may subscribe to what', () => {
  const client: ClientFacts = {
    kind: 'CONFIDENTIAL',
    status: 'ACTIVE',
    firstParty: false,
    scopes: ['read:follows', 'read:biomarkers'],
    agreedScopes: [],
  };

  test.each([
    ['no client', null, 'is not a known client'],
    ['a deleted one', { ...client, status: 'DELETED' as const }, 'is not a known client'],
    ['a disabled one', { ...client, status: 'DISABLED' as const }, 'is not an active client'],
    ['a machine client', { ...client, kind: 'MACHINE' as const }, 'has no user flow, so nobody can grant it access'],
    ['an active Connect client', client, null],
  ])('%s: %s', (_what, facts, message) => expect(clientViolation(facts)).toBe(message));

  test.each([
    ['an unknown type', undefined, client, 'unknown event type'],
    ['a type without scope', { scope: null, sensitive: false }, client, 'not deliverable'],
    [
      'a scope that it lacks',
      { scope: 'read:payments', sensitive: false },
      client,
      'needs scope read:payments, which the client does not hold',
    ],
    ['health data without agreement', { scope: 'read:biomarkers', sensitive: true }, client, 'needs a health-data agreement in force'],
    ['health data with agreement', { scope: 'read:biomarkers', sensitive: true }, { ...client, agreedScopes: ['read:biomarkers'] }, null],
    ['health data of a first-party app', { scope: 'read:biomarkers', sensitive: true }, { ...client, firstParty: true }, null],
    ['an unknown type and no client', undefined, null, 'unknown event type'],
    ['a type without scope and no client', { scope: null, sensitive: false }, null, 'not deliverable'],
    ['another type and no client', { scope: 'read:payments', sensitive: true }, null, null],
    ['a scope that it holds', { scope: 'read:follows', sensitive: false }, client, null],
  ])('%s', (_what, type, facts, message) => expect(typeViolation(type, facts)).toBe(message));
});

const STATUSES = Object.values(WebhookDeliveryStatus);

describe('states', () => {
  test('every pair of state and trigger of a subscription is allowed or not as section 3 says', () => {
    expect(SUBSCRIPTION_STATES).toEqual({
      active: { pause: 'paused', disable: 'disabled' },
      paused: { resume: 'active', disable: 'disabled' },
      disabled: { enable: 'active' },
    });
  });

  test.each(STATUSES)('a delivery that is %s is in the table', status => expect(DELIVERY_STATES[status]).toBeDefined());

  test('an attempt in the air: its success stands, its failure brings nothing back', () => {
    expect(afterTrigger('cancelled', 'succeed')).toBe('delivered');
    expect(afterTrigger('cancelled', 'fail')).toBe('cancelled');
    expect(afterTrigger('dead_lettered', 'fail_last')).toBe('dead_lettered');
    expect(afterTrigger('delivered', 'fail')).toBe('delivered');
  });

  test.each(STATUSES.filter(status => status !== 'pending'))('a delivery that is %s waits for nothing', status => {
    expect(waitingFor({ status, isHead: false, paused: true, circuitOpen: true, rateLimited: true })).toBeNull();
  });

  test('a pending delivery waits for its head, its subscription, its circuit, its rate, in that order', () => {
    const all = { status: 'pending' as const, isHead: false, paused: true, circuitOpen: true, rateLimited: true };
    expect(waitingFor(all)).toBe('head_of_line');
    expect(waitingFor({ ...all, isHead: true })).toBe('paused');
    expect(waitingFor({ ...all, isHead: true, paused: false })).toBe('circuit_open');
    expect(waitingFor({ ...all, isHead: true, paused: false, circuitOpen: false })).toBe('rate_limit');
    expect(waitingFor({ ...all, isHead: true, paused: false, circuitOpen: false, rateLimited: false })).toBe('ready');
  });

  const replayed: Replayed = { status: 'delivered', isHead: false, subscriptionStatus: 'active', inFilter: true, granted: true };
  test.each([
    ['delivered', {}, { action: 'created', reason: null }],
    ['dead-lettered', { status: 'dead_lettered' }, { action: 'created', reason: null }],
    ['the blocked head', { status: 'retrying', isHead: true }, { action: 'retried_now', reason: null }],
    [
      'the blocked head of a paused subscription',
      { status: 'retrying', isHead: true, subscriptionStatus: 'paused' },
      { action: 'already_queued', reason: null },
    ],
    ['waiting behind its head', { status: 'pending' }, { action: 'already_queued', reason: null }],
    ['about to be sent', { status: 'pending', isHead: true }, { action: 'already_queued', reason: null }],
    ['of a disabled subscription', { subscriptionStatus: 'disabled' }, { action: 'refused', reason: 'subscription_disabled' }],
    ['of a type that left the filter', { inFilter: false }, { action: 'refused', reason: 'type_not_in_filter' }],
    ['of a user who revoked the grant', { granted: false, status: 'cancelled' }, { action: 'refused', reason: 'grant_inactive' }],
  ] as const)('replaying an event whose delivery is %s', (_what, more, decision) =>
    expect(decideReplay({ ...replayed, ...more })).toEqual(decision),
  );
});

test.each(STATUSES)('a delivery that is %s may be replayed or not', status => {
  expect(isReplayable(status)).toBe(status === 'delivered' || status === 'dead_lettered');
});

describe('the circuit', () => {
  const failures = (count: number, users: number, stepMs = 1000) =>
    Array.from({ length: count }, (_, index) => ({ at: AT + index * stepMs, user: `u${index % users}` }));

  test.each([
    ['ten failures of three users within a minute', failures(10, 3), true],
    ['nine', failures(9, 3), false],
    ['ten of two users, because a user alone may be what is wrong', failures(10, 2), false],
    ['ten of one user', failures(10, 1), false],
    ['ten in just a minute', failures(10, 3, 60_000 / 9), true],
    ['ten in more than a minute', failures(10, 3, 60_001 / 9), false],
  ])('%s', (_what, found, expected) => expect(opens(found)).toBe(expected));
});

test.each([
  ['https://hooks.example/a', true],
  ['https://hooks.example:443/a', true],
  ['https://hooks.example:80/a', false],
  ['https://hooks.example:1023/a', false],
  ['https://hooks.example:1024/a', true],
])('the port of %s may be used: %s', (url, may) => expect(urlViolation(url) === null).toBe(may));

describe('what is kept of an answer', () => {
  test('no e-mail address, phone number or long run of digits', () => {
    expect(
      redactBody(Buffer.from('from jane.doe+x@example.co.uk, call +1 (555) 123-4567 or 0171/2345678, card 4242424242424242, code 12345')),
    ).toBe('from ***, call *** or 0171/***, card ***, code 12345');
  });

  test('at most 4 KiB, and no NUL, which PostgreSQL refuses', () => {
    expect(redactBody(Buffer.from('x'.repeat(5000)))).toHaveLength(4096);
    expect(redactBody(Buffer.from('a\u0000b'))).toBe('ab');
  });

  test('no cookie, no credential, at most 4 KiB of headers', () => {
    expect(
      redactResponseHeaders({ 'set-cookie': ['a=b'], authorization: 'x', server: 'r', via: ['1', '2'], big: 'y'.repeat(5000) }),
    ).toEqual({ server: 'r', via: '1, 2' });
  });

  test('no signature and no custom value of the request', () => {
    const custom = [{ name: 'X-Env', value: 'prod' }];
    const kept = redactRequestHeaders(headersOf({ ...sending, custom, standardHeaders: true }), custom);
    expect(kept).toMatchObject({
      'X-Env': '***',
      'X-Platform-Signature': '***',
      'webhook-signature': '***',
      'X-Platform-Event-Id': EVENT.id,
    });
  });
});

describe('shards', () => {
  test('all users of a subscription share one shard, or as many as it spreads over', () => {
    const users = Array.from({ length: 400 }, (_, index) => `user-${index}`);
    expect(new Set(users.map(user => shardOf('s', user, 1))).size).toBe(1);
    const spread = new Set(users.map(user => shardOf('s', user, 8)));
    expect(spread).toEqual(new Set(shardsOf('s', 8)));
    expect([...spread].every(shard => shard >= 0 && shard < SHARDS)).toBe(true);
  });

  test.each([
    [1, 64],
    [2, 32],
    [3, 22],
    [64, 1],
    [100, 1],
    [0, 64],
  ])('%i workers hold at most %i each', (workers, share) => expect(fairShare(SHARDS, workers)).toBe(share));
});

test('two spellings of one URL are one endpoint', () => {
  expect(normalisedUrl('HTTPS://Hooks.Example.com:443')).toBe(normalisedUrl('https://hooks.example.com/'));
  expect(withoutQuery('https://hooks.example.com/a?key=secret')).toBe('https://hooks.example.com/a');
});

describe('a projection that is compared with what is in force', () => {
  const known = { grantId: 'b', version: 2, scopes: { x: { at: 1, seq: 5 }, y: { at: 1, seq: 5 } } };
  const state = (more: object) => ({ grantId: 'b', version: 2, active: true, scopes: ['x', 'y'], since: { at: 7, seq: null }, ...more });

  test.each([
    ['agrees', state({}), null],
    ['nothing is in force', null, { ...known, scopes: {} }],
    ['a scope has gone', state({ scopes: ['y'] }), { ...known, scopes: { y: { at: 1, seq: 5 } } }],
    [
      'a scope has come: it counts from now',
      state({ scopes: ['x', 'y', 'z'] }),
      { ...known, scopes: { ...known.scopes, z: { at: 9, seq: null } } },
    ],
    ['a newer version', state({ version: 3, scopes: ['y'] }), { grantId: 'b', version: 3, scopes: { y: { at: 1, seq: 5 } } }],
    [
      'a newer grant',
      state({ grantId: 'c', version: 1, scopes: ['y'] }),
      { grantId: 'c', version: 1, scopes: { y: { at: 7, seq: null } } },
    ],
    ['an older grant', state({ grantId: 'a', version: 9 }), { ...known, scopes: {} }],
  ])('%s', (_what, inForce, expected) => expect(reconciled(known, inForce as never, 9)).toEqual(expected));
});
