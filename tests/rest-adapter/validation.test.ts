import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ME, restFixture, type Fixture } from './fixture.js';

let rest: Fixture;
beforeAll(async () => {
  rest = await restFixture();
});
afterAll(() => rest.app.close());

const GOOD = { patient_id: ME, code: 'ldl_c', baseline: { value: 160, unit: 'mg/dL' } };

/** Pointers and messages of the 400 that a body gets. */
async function violations(json: unknown, url = '/clinical/v1/cycles', method = 'POST'): Promise<Record<string, string>> {
  const answer = await rest.call(method, url, json === undefined ? {} : { json });
  expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_request', type: '/problems/invalid_request' });
  return Object.fromEntries(answer.json().errors.map(({ pointer, message }: { pointer: string; message: string }) => [pointer, message]));
}

describe('bodies', () => {
  test('every violation is listed at once, each by its pointer', async () => {
    expect(
      await violations({
        patient_id: 7,
        code: 'LDL-C',
        baseline: { value: -1, unit: '', performer: 'x' },
        window_days: 5,
        status: 'BASELINE_SET',
        tags: ['ok', 'too long', 3],
        colour: 'red',
        doses: [{ value: 1, unit: 'g' }, { value: 'one' }],
        'a/b~c': 1,
      }),
    ).toEqual({
      '/patient_id': 'must be a non-empty string',
      '/code': 'must match ^[a-z][a-z0-9_]*$',
      '/baseline/value': 'must be at least 0',
      '/baseline/unit': 'must have at least 1 characters',
      '/baseline/performer': 'is not a known key',
      '/window_days': 'must be at least 14',
      '/status': 'must be one of baseline_set, prompted, retested',
      '/tags/2': 'must be a string',
      '/colour': 'is not a known key',
      '/doses/1/value': 'must be a number',
      '/doses/1/unit': 'is required',
      '/a~1b~0c': 'is not a known key',
    });
  });

  test('a missing body lacks every required key', async () => {
    const missing = { '/patient_id': 'is required', '/code': 'is required', '/baseline': 'is required' };
    expect(await violations(undefined)).toEqual(missing);
    expect(await violations({})).toEqual(missing);
  });

  test.each([[[]], ['text'], [7], [true]])('%j is no object', async json =>
    expect(await violations(json)).toEqual({ '': 'must be an object' }),
  );

  test('null is no object either', async () => expect(await violations(null)).toEqual({ '': 'must not be null' }));

  /** One key of an otherwise good body, and what is wrong with it. */
  const WRONG: readonly (readonly [key: string, value: unknown, pointer: string, message: string])[] = [
    ['patientId', ME, '/patientId', 'is not a known key'],
    ['line_1', 'x', '/line_1', 'is not a known key'],
    ['constructor', {}, '/constructor', 'is not a known key'],
    ['toString', 'x', '/toString', 'is not a known key'],
    ['patient_id', null, '/patient_id', 'must not be null'],
    ['patient_id', '', '/patient_id', 'must be a non-empty string'],
    ['patient_id', ['a'], '/patient_id', 'must be a non-empty string'],
    ['code', 5, '/code', 'must be a string'],
    ['code', 'x'.repeat(49), '/code', 'must have at most 48 characters'],
    ['baseline', 'x', '/baseline', 'must be an object'],
    ['baseline', [], '/baseline', 'must be an object'],
    ['baseline', { value: '160', unit: 'g' }, '/baseline/value', 'must be a number'],
    ['window_days', '90', '/window_days', 'must be an integer'],
    ['window_days', 90.5, '/window_days', 'must be an integer'],
    ['window_days', 2 ** 31, '/window_days', 'must be an integer'],
    ['window_days', 366, '/window_days', 'must be at most 365'],
    ['status', 'unknown', '/status', 'must be one of baseline_set, prompted, retested'],
    ['status', 5, '/status', 'must be one of baseline_set, prompted, retested'],
    ['tags', [], '/tags', 'must have at least 1 items'],
    ['tags', ['a', 'b', 'c', 'd'], '/tags', 'must have at most 3 items'],
    ['tags', ['123456'], '/tags/0', 'must have at most 5 characters'],
    ['tags', 'a', '/tags', 'must be a list'],
    ['tags', [null], '/tags/0', 'must not be null'],
    ['doses', [{ value: 1, unit: 'g', extra: 1 }], '/doses/0/extra', 'is not a known key'],
    ['email', 'mara', '/email', 'must be an e-mail address'],
    ['accepted', 'true', '/accepted', 'must be true or false'],
    ['accepted', 1, '/accepted', 'must be true or false'],
    ['total', 2 ** 53, '/total', 'must be an integer'],
    ['total', 1.5, '/total', 'must be an integer'],
    ['total', '1', '/total', 'must be an integer'],
    ['currency', 'usd', '/currency', 'must be an ISO 4217 currency code'],
    ['born_on', '2001-02-29', '/born_on', 'must be a date, YYYY-MM-DD'],
    ['collected_at', 'yesterday', '/collected_at', 'must be an RFC 3339 instant such as 2026-08-01T08:00:00.000Z'],
    ['collected_at', 1785571200000, '/collected_at', 'must be an RFC 3339 instant such as 2026-08-01T08:00:00.000Z'],
    [
      'parent',
      { name: 'a', children: [{ name: 'b', children: [{ nam: 'c' }] }] },
      '/parent/children/0/children/0/nam',
      'is not a known key',
    ],
  ];

  test.each(WRONG)('%s: %j is refused at %s: %s', async (key, value, pointer, message) => {
    expect(await violations({ ...GOOD, [key]: value })).toMatchObject({ [pointer]: message });
  });

  test('no message repeats a value', async () => {
    const answer = await rest.call('POST', '/clinical/v1/cycles', {
      json: { ...GOOD, email: 'mara.example', code: 'HEALTH VALUE 160', born_on: 'secret-date' },
    });
    expect(answer.body).not.toMatch(/mara|HEALTH VALUE|secret-date/);
  });

  test('a nullable field takes null, one with a default too', async () => {
    const { metadata } = (
      await rest.call('POST', '/clinical/v1/cycles', { json: { ...GOOD, email: null, window_days: null, tags: null, doses: null } })
    ).json();
    expect(metadata).toMatchObject({ email: null, windowDays: null, tags: null, doses: null });
  });

  test('lengths count characters, not UTF-16 units', async () => {
    expect((await rest.call('POST', '/clinical/v1/cycles', { json: { ...GOOD, tags: ['😀😀😀😀😀'] } })).statusCode).toBe(201);
    expect(await violations({ ...GOOD, tags: ['😀😀😀😀😀😀'] })).toEqual({ '/tags/0': 'must have at most 5 characters' });
  });

  test('a key that the path gives cannot be given by the body', async () => {
    expect(await violations({ id: 'other' }, '/clinical/v1/cycles/c1/stop')).toEqual({ '/id': 'is not a known key' });
    expect(await violations({ action: 'pause' }, '/clinical/v1/cycles/c1/stop')).toEqual({ '/action': 'is not a known key' });
  });

  test('a path without a body takes none', async () => {
    expect(await violations({ a: 1 }, '/clinical/v1/sweep')).toEqual({ '/a': 'is not a known key' });
    expect(await violations([], '/clinical/v1/sweep')).toEqual({ '': 'must be an object' });
  });

  test('single keys are required, constrained, and the only ones', async () => {
    expect(await violations({ new_name: 'x', note: 5 }, '/clinical/v1/cycles/c1/rename')).toEqual({
      '/name': 'is required',
      '/note': 'must be a string',
      '/new_name': 'is not a known key',
    });
    expect(await violations({ name: 'x' }, '/clinical/v1/cycles/c1/rename')).toEqual({ '/name': 'must have at least 2 characters' });
  });

  test.each(['{"code":1,"code":2}', '{"__proto__":{}}', '{', '"\\u0000"'])('%s is a 400', async payload => {
    const answer = await rest.call('POST', '/clinical/v1/cycles', { payload, headers: { 'content-type': 'application/json' } });
    expect([answer.statusCode, answer.json().code]).toEqual([400, 'invalid_request']);
  });

  test('an answer lists at most 100 violations, says how many there were, and cuts long keys', async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key_${index}`.padEnd(300, 'x'), 1]));
    const { errors, detail } = (await rest.call('POST', '/clinical/v1/sweep', { json: many })).json();
    expect(errors).toHaveLength(100);
    expect(detail).toBe('The request has 500 violations');
    expect(errors[0].pointer).toHaveLength(101);
  });
});

describe('query parameters', () => {
  const refused = (query: string, path = '/clinical/v1/cycles') => violations(undefined, `${path}${query}`, 'GET');
  const LIMIT = 'must be an integer from 1 to 100';

  test.each(['0', '101', '-1', '1.5', '1e1000', 'abc', '', ' 5', '0x10', '%00'])('limit=%s is a 400, never a silent clamp', async limit => {
    expect(await refused(`?limit=${limit}`)).toEqual({ '/limit': LIMIT });
  });

  test.each([
    ['?unknown=1', { '/unknown': 'is not a known query parameter' }],
    ['?__proto__=1', { '/__proto__': 'is not a known query parameter' }],
    ['?first=5', { '/first': 'is not a known query parameter' }],
    ['?limit=5&limit=6', { '/limit': 'must be given once' }],
    ['?patient_id=a&patient_id=b', { '/patient_id': 'must be given once' }],
    ['?status=PROMPTED', { '/status/0': 'must be one of baseline_set, prompted, retested' }],
    ['?status=prompted,nope', { '/status/1': 'must be one of baseline_set, prompted, retested' }],
    ['?urgent=yes', { '/urgent': 'must be true or false' }],
    ['?due_from=2026', { '/due_from': 'must be an RFC 3339 instant such as 2026-08-01T08:00:00.000Z' }],
    ['?patient_id=', { '/patient_id': 'must be a non-empty string' }],
    ['?patient_id=a%00b', { '/patient_id': 'must be a non-empty string' }],
    [
      '?limit=0&status=nope&x=1',
      { '/limit': LIMIT, '/status/0': 'must be one of baseline_set, prompted, retested', '/x': 'is not a known query parameter' },
    ],
  ])('%s', async (query, errors) => expect(await refused(query)).toEqual(errors));

  test('those of an input object are required and constrained like any field', async () => {
    expect(await refused('?q=a&min_value=x&limit=1', '/clinical/v1/cycles/search')).toEqual({
      '/q': 'must have at least 2 characters',
      '/min_value': 'must be a number',
      '/brand_id': 'is required',
      '/limit': 'is not a known query parameter',
    });
  });

  test('they are checked beside the body', async () => {
    expect(await violations({}, '/clinical/v1/sweep?dry=true')).toEqual({ '/dry': 'is not a known query parameter' });
  });
});

describe('path parameters', () => {
  test('have the types of their variables', async () => {
    expect(await violations(undefined, '/clinical/v1/failing/nope', 'GET')).toHaveProperty('/kind');
    expect(await violations(undefined, '/clinical/v1/cycles/a%00b', 'GET')).toEqual({ '/id': 'must be a non-empty string' });
  });
});
