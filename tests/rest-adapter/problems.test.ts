import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { problemOfErrors } from '../../rest-adapter/problem.js';
import { ME, restFixture, type Fixture } from './fixture.js';

let rest: Fixture;
beforeAll(async () => {
  rest = await restFixture();
});
beforeEach(() => void rest.partial.splice(0));
afterAll(() => rest.app.close());

const failing = (kind: string) => rest.call('GET', `/clinical/v1/failing/${kind}`, { token: null });

describe('an error of the operation', () => {
  test.each([
    ['conflict', 409, { code: 'conflict', reason: 'wrong_state', detail: 'A retested cycle cannot be prompted', title: 'Conflict' }, {}],
    ['not_found', 404, { code: 'not_found' }, {}],
    ['unavailable', 503, { code: 'unavailable', detail: 'The processor is down' }, { 'retry-after': '5' }],
    ['rate_limited', 429, { code: 'rate_limited' }, { 'retry-after': '12', ratelimit: '"default";r=0;t=12' }],
    [
      'insufficient_scope',
      403,
      { code: 'insufficient_scope' },
      { 'www-authenticate': 'Bearer error="insufficient_scope", scope="read:biomarkers"' },
    ],
    [
      'step_up_required',
      401,
      { code: 'step_up_required' },
      { 'www-authenticate': 'Bearer error="insufficient_user_authentication", max_age="600"' },
    ],
    ['payment_declined', 402, { code: 'payment_declined', decline_code: 'insufficient_funds', retryable: true }, {}],
    ['idempotency_mismatch', 422, { code: 'idempotency_mismatch' }, {}],
    ['thrown', 400, { code: 'invalid_request', errors: [{ pointer: '/kind', message: 'is not of this list' }] }, {}],
  ])('%s is a %i', async (kind, status, body, headers) => {
    const answer = await failing(kind);
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toMatchObject({
      type: `/problems/${answer.json().code}`,
      status,
      request_id: answer.headers['x-request-id'],
      ...body,
    });
    expect(answer.headers).toMatchObject({
      'content-type': expect.stringContaining('application/problem+json'),
      'cache-control': 'no-store',
      ...headers,
    });
  });

  test('that nobody foresaw is a 500 without internals', async () => {
    const answer = await failing('unknown');
    expect(answer.json()).toMatchObject({ status: 500, code: 'internal' });
    expect(answer.body).not.toMatch(/hunter2|line 3|stack|\.ts/);
  });

  test("that is the GraphQL engine's own does not repeat its text", async () => {
    const answer = await failing('apollo');
    expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_request', detail: 'Invalid request' });
    expect(answer.body).not.toContain('mara');
  });

  test('an executor that throws is a 500 without internals', async () => {
    const broken = await restFixture({ execute: () => Promise.reject(new Error('password=hunter2')) });
    const answer = await broken.call('GET', '/clinical/v1/cycles/c1');
    expect([answer.statusCode, answer.json().code]).toEqual([500, 'internal']);
    expect(answer.body).not.toContain('hunter2');
    await broken.app.close();
  });
});

describe('pointers of a subgraph', () => {
  const NEW = { patient_id: ME, code: 'refused', baseline: { value: 1, unit: 'g' } };
  const pointers = async (method: string, url: string, json: unknown): Promise<string[]> =>
    (await rest.call(method, url, { json })).json().errors.map((error: { pointer: string }) => error.pointer);

  test('point into the body, and keys inside JSON keep their names', async () => {
    expect(await pointers('POST', '/clinical/v1/fail-write', NEW)).toEqual(['/baseline/unit', '/metadata/someKey', '/doses/0/value']);
  });

  test('name the path parameter that gave the field', async () => {
    expect(await pointers('PATCH', '/clinical/v1/settings/c1', { code: 'refused' })).toEqual(['/cycleId', '/baseline/unit']);
  });

  test('name the key of the body that gave the argument', async () => {
    expect(await pointers('POST', '/clinical/v1/cycles/c1/rename', { name: 'refused' })).toEqual(['/name']);
  });
});

describe('a nested field that fails', () => {
  test('makes a read that error: an answer is whole or an error', async () => {
    const answer = await rest.call('GET', '/clinical/v1/nested?brittle=true', { token: null });
    expect([answer.statusCode, answer.json().code, answer.headers['retry-after']]).toEqual([503, 'unavailable', '7']);
    expect((await rest.call('GET', '/clinical/v1/nested?brittle=false', { token: null })).json()).toEqual({ id: 'c1', brittle: 'whole' });
  });

  test('is null in the answer of a write, which is committed, and is told to the log', async () => {
    const answer = await rest.call('POST', '/clinical/v1/write', { token: null });
    expect([answer.statusCode, answer.json()]).toEqual([201, { id: 'c1', brittle: null }]);
    expect(rest.partial).toEqual(['POST /clinical/v1/write']);
  });
});

describe('of several errors', () => {
  const error = (code: string, errors?: { pointer: string; message: string }[]) => ({
    message: code,
    extensions: { code: code.toUpperCase(), errors },
  });
  const chosen = (...codes: string[]) =>
    problemOfErrors(
      codes.map(code => error(code)),
      pointer => pointer,
    ).code;

  test.each([
    [['internal', 'conflict'], 'conflict'],
    [['unavailable', 'not_found'], 'not_found'],
    [['internal', 'unavailable'], 'unavailable'],
    [['not_found', 'conflict'], 'not_found'],
    [['nonsense', 'nonsense'], 'internal'],
  ])('%j the most telling stands first: %s', (codes, code) => expect(chosen(...codes)).toBe(code));

  test('the violations of all invalid inputs are put together', () => {
    const [one, two] = [
      { pointer: '/input/aB', message: 'x' },
      { pointer: '/input/b', message: 'y' },
    ];
    const { options } = problemOfErrors([error('invalid_request', [one]), error('internal'), error('invalid_request', [two])], pointer =>
      pointer.replace('/input', ''),
    );
    expect(options.errors).toEqual([
      { pointer: '/aB', message: 'x' },
      { pointer: '/b', message: 'y' },
    ]);
  });
});
