import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ADMIN, restFixture, type Fixture } from './fixture.js';

let rest: Fixture;
beforeAll(async () => {
  rest = await restFixture({
    services: [{ slug: 'clinical', nativePaths: [{ method: 'POST', path: '/v1/hooks/{vendor}', summary: 'Take a hook', status: 202 }] }],
  });
});
beforeEach(() => void rest.executed.splice(0));
afterAll(() => rest.app.close());

const WRONG_BODY = { payload: 'not json', headers: { 'content-type': 'text/plain' } };
const problem = (answer: { statusCode: number; json: () => { code: string }; headers: Record<string, unknown> }) => [
  answer.statusCode,
  answer.json().code,
];

describe('1: path and method', () => {
  test.each([
    '/clinical/v1/nope',
    '/clinical/v1',
    '/clinical/v1/',
    '/clinical/v1/cycles/',
    '/clinical/v1/cycles//stop',
    '/clinical/v2/cycles',
    '/nosuch/v1/cycles',
    '/v1/cycles',
    '/clinical/v1/__proto__',
  ])('%s is a 404 whoever asks and whatever is sent', async path => {
    for (const token of [null, 'broken', ADMIN]) expect(problem(await rest.call('GET', path, { token }))).toEqual([404, 'not_found']);
    expect(problem(await rest.call('POST', path, { token: null, ...WRONG_BODY }))).toEqual([404, 'not_found']);
  });

  test.each([
    ['PUT', '/clinical/v1/cycles', 'GET, HEAD, OPTIONS, POST'],
    ['DELETE', '/clinical/v1/cycles?x=1', 'GET, HEAD, OPTIONS, POST'],
    ['POST', '/clinical/v1/cycles/c1', 'DELETE, GET, HEAD, OPTIONS'],
    ['PATCH', '/clinical/v1/cycles/search', 'DELETE, GET, HEAD, OPTIONS'],
    ['GET', '/clinical/v1/hooks/acme', 'OPTIONS, POST'],
  ])('%s %s is a 405 that names the methods, without a token and without a body being read', async (method, path, allow) => {
    const answer = await rest.call(method, path, { token: null, ...(method === 'GET' ? {} : WRONG_BODY) });
    expect(problem(answer)).toEqual([405, 'method_not_allowed']);
    expect(answer.headers.allow).toBe(allow);
    expect(answer.headers['content-type']).toContain('application/problem+json');
  });

  test('OPTIONS names the methods', async () => {
    const answer = await rest.call('OPTIONS', '/clinical/v1/cycles/c1', { token: null });
    expect([answer.statusCode, answer.headers.allow, answer.body]).toEqual([204, 'DELETE, GET, HEAD, OPTIONS', '']);
    expect((await rest.call('OPTIONS', '/clinical/v1/nope', { token: null })).statusCode).toBe(404);
  });
});

describe('2: token', () => {
  test('none is a 401 that names no error', async () => {
    const answer = await rest.call('POST', '/clinical/v1/cycles', { token: null, ...WRONG_BODY });
    expect(problem(answer)).toEqual([401, 'unauthenticated']);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
  });

  test('a bad one is a 401 invalid_token', async () => {
    const answer = await rest.call('POST', '/clinical/v1/cycles', { token: 'expired', ...WRONG_BODY });
    expect(problem(answer)).toEqual([401, 'unauthenticated']);
    expect(answer.headers['www-authenticate']).toBe('Bearer error="invalid_token"');
  });

  test('a public path needs none, but a bad one is refused there too', async () => {
    expect((await rest.call('GET', '/content/v1/words', { token: null })).statusCode).toBe(200);
    expect((await rest.call('GET', '/content/v1/words', { token: 'expired' })).statusCode).toBe(401);
    expect((await rest.call('GET', '/content/v1/words', { token: ADMIN })).statusCode).toBe(200);
  });
});

describe('3 to 5: kind, scope, fresh sign-in', () => {
  test('a kind of token that the rule does not name is a 403 forbidden', async () => {
    expect(problem(await rest.call('POST', '/clinical/v1/clock', { token: 'usr+write:clinical', ...WRONG_BODY }))).toEqual([
      403,
      'forbidden',
    ]);
  });

  test.each(['/content/v1/users/me', '/content/v1/users/me/settings'])(
    'a service token on %s is a 403 forbidden, whatever its scopes',
    async path => {
      expect(problem(await rest.call('GET', path, { token: 'svc+read:profile+read:preferences' }))).toEqual([403, 'forbidden']);
    },
  );

  test('a service token without the scope is a 403 that names it', async () => {
    const answer = await rest.call('POST', '/clinical/v1/cycles', { token: 'svc+admin:content', ...WRONG_BODY });
    expect(problem(answer)).toEqual([403, 'insufficient_scope']);
    expect(answer.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="admin:clinical"');
  });

  test('a user token without the scope is a 403 that names it', async () => {
    const answer = await rest.call('GET', '/clinical/v1/cycles/c1', { token: 'usr+read:profile' });
    expect(answer.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="read:my_outcomes"');
  });

  test('the rule of a field on the way to the answer counts too', async () => {
    const answer = await rest.call('GET', '/content/v1/users/me/settings', { token: 'usr+read:profile' });
    expect(answer.headers['www-authenticate']).toBe('Bearer error="insufficient_scope", scope="read:preferences"');
    expect(rest.executed).toEqual([]);
  });

  test.each([
    ['staff+admin:clinical', 200],
    ['staff+admin:clinical:read', 200],
    ['staff+admin:clinical:retest', 403],
    ['svc-comms', 403],
  ] as const)('%s reads a cycle: %i', async (token, status) => {
    expect((await rest.call('GET', '/clinical/v1/cycles/c1', { token })).statusCode).toBe(status);
  });

  test('an internal client passes by its slug', async () =>
    expect((await rest.call('GET', '/clinical/v1/cycles', { token: 'svc-comms' })).statusCode).toBe(200));

  test('an operation behind a flag that is off is a 403 forbidden', async () => {
    expect(problem(await rest.call('GET', '/content/v1/dark', { token: 'usr+x' }))).toEqual([403, 'forbidden']);
  });

  test('an operation without a rule is open to nobody', async () => {
    for (const token of [ADMIN, 'usr+x', 'staff+admin:content'])
      expect(problem(await rest.call('GET', '/content/v1/unruled', { token }))).toEqual([403, 'forbidden']);
    expect(problem(await rest.call('GET', '/content/v1/unruled', { token: null }))).toEqual([401, 'unauthenticated']);
  });

  test('an old sign-in is a 401 step_up_required', async () => {
    const answer = await rest.call('POST', '/clinical/v1/sweep', { token: 'old+admin:clinical:retest', ...WRONG_BODY });
    expect(problem(answer)).toEqual([401, 'step_up_required']);
    expect(answer.headers['www-authenticate']).toBe('Bearer error="insufficient_user_authentication", max_age="600"');
  });
});

describe('7: media type and size', () => {
  test.each([
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'application/merge-patch+json',
    'application/json; charset=utf-16',
    'application/jsonp',
    'not a type',
    '',
  ])('content type %j is a 415 on POST', async type => {
    expect(problem(await rest.call('POST', '/clinical/v1/cycles', { payload: '{}', headers: { 'content-type': type } }))).toEqual([
      415,
      'unsupported_media_type',
    ]);
  });

  test('a body without a content type is a 415', async () => {
    expect(problem(await rest.call('POST', '/clinical/v1/cycles', { payload: '{}' }))).toEqual([415, 'unsupported_media_type']);
  });

  test('a compressed body is a 415', async () => {
    expect(
      problem(
        await rest.call('POST', '/clinical/v1/cycles', {
          payload: '{}',
          headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
        }),
      ),
    ).toEqual([415, 'unsupported_media_type']);
  });

  test.each(['application/json; charset=utf-8', 'APPLICATION/JSON;charset="UTF-8"', 'application/json'])('%s is JSON', async type => {
    expect((await rest.call('POST', '/clinical/v1/sweep', { payload: '{}', headers: { 'content-type': type } })).statusCode).toBe(200);
  });

  test('a body over 1 MiB is a 413, one of exactly 1 MiB is read', async () => {
    const body = (bytes: number) => ({ payload: '"'.padEnd(bytes - 1, 'x') + '"', headers: { 'content-type': 'application/json' } });
    expect(problem(await rest.call('POST', '/clinical/v1/cycles', body(2 ** 20 + 1)))).toEqual([413, 'payload_too_large']);
    expect(problem(await rest.call('POST', '/clinical/v1/cycles', body(2 ** 20)))).toEqual([400, 'invalid_request']);
  });

  test('a route may have a limit of its own', async () => {
    expect(problem(await rest.call('POST', '/clinical/v1/cycles/c/rename', { json: { name: 'x'.repeat(300) } }))).toEqual([
      413,
      'payload_too_large',
    ]);
  });

  test('comes before validation and after the rules', async () => {
    expect((await rest.call('POST', '/clinical/v1/cycles?unknown=1', WRONG_BODY)).statusCode).toBe(415);
    expect((await rest.call('POST', '/clinical/v1/cycles?unknown=1', { token: 'svc+x', ...WRONG_BODY })).statusCode).toBe(403);
  });
});

test('8 comes before 9: an invalid request for something absent is a 400', async () => {
  expect((await rest.call('GET', '/clinical/v1/cycles/absent?unknown=1')).statusCode).toBe(400);
});

test('what is refused is not executed', async () => {
  await rest.call('POST', '/clinical/v1/cycles', { token: null, json: {} });
  await rest.call('POST', '/clinical/v1/cycles', { json: {} });
  await rest.call('GET', '/clinical/v1/cycles?limit=0');
  expect(rest.executed).toEqual([]);
});
