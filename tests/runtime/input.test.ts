/** Rules of input that hold in every service: periods, objects, keys, encodings. */
import { buildASTSchema, parse } from 'graphql';
import { beforeAll, describe, expect, test } from 'vitest';
import { compileArguments } from '../../runtime/schema/violations.js';
import { BRAND, DEMO, platform, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
let token: string;
beforeAll(async () => {
  p = await platform();
  token = await p.serviceToken();
});

const violationsOf = (args: string, values: object) => {
  const schema = buildASTSchema(
    parse(`directive @constraint(minItems: Int, object: Boolean) on INPUT_FIELD_DEFINITION | ARGUMENT_DEFINITION
      scalar DateTime scalar Date scalar JSON input In { since: DateTime until: DateTime data: JSON @constraint(object: true) }
      type Query { a(${args}): Int }`),
    { assumeValid: true },
  );
  return compileArguments(schema.getQueryType()!.getFields().a!.args)?.(values as Record<string, unknown>) ?? null;
};
const [EARLY, LATE] = [new Date('2026-08-01'), new Date('2026-08-02')];

describe('a period', () => {
  test.each([
    ['from: DateTime, to: DateTime', { from: LATE, to: EARLY }, '/to'],
    ['occurredFrom: DateTime, occurredTo: DateTime', { occurredFrom: LATE, occurredTo: EARLY }, '/occurredTo'],
    ['from: Date, to: Date', { from: '2026-08-02', to: '2026-08-01' }, '/to'],
    ['createdAfter: DateTime, createdBefore: DateTime', { createdAfter: LATE, createdBefore: EARLY }, '/createdBefore'],
    ['input: In', { input: { since: LATE, until: EARLY } }, '/input/until'],
  ])('of %s does not end before it begins', (args, values, pointer) => {
    expect(violationsOf(args, values)).toEqual([{ pointer, message: 'must not be before the beginning' }]);
  });

  test.each([
    ['from: DateTime, to: DateTime', { from: EARLY, to: LATE }],
    ['from: DateTime, to: DateTime', { from: EARLY, to: EARLY }],
    ['from: DateTime, to: DateTime', { from: LATE, to: null }],
    ['from: DateTime, to: DateTime', { to: EARLY }],
    ['from: String, to: String', { from: 'b', to: 'a' }],
  ])('of %s with %j passes', (args, values) => {
    expect(violationsOf(args, values) ?? []).toEqual([]);
  });

  test('is checked in both APIs', async () => {
    const turned = 'occurred_from=2026-08-02T00:00:00.000Z&occurred_to=2026-08-01T00:00:00.000Z';
    expect(await p.rest('GET', `/events/v1/events?${turned}`, { token })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/occurred_to', message: 'must not be before the beginning' }] },
    });
    const query = '{ jobs(from: "2026-08-02T00:00:00.000Z", to: "2026-08-01T00:00:00.000Z") { nodes { id } } }';
    expect(await p.graphql(query, {}, { token })).toMatchObject({
      status: 400,
      errors: [{ extensions: { errors: [{ pointer: '/to' }] } }],
    });
  });
});

describe('a free-form value that must be an object', () => {
  test.each([1, 'text', true, ['a'], [[]]])('is not %j', value => {
    expect(violationsOf('input: In', { input: { data: value } })).toEqual([{ pointer: '/input/data', message: 'must be an object' }]);
  });

  test('in a list each item is one', () => {
    const rows = 'rows: [JSON!]! @constraint(minItems: 1, object: true)';
    expect(violationsOf(rows, { rows: [{}, 1, []] })).toEqual([
      { pointer: '/rows/1', message: 'must be an object' },
      { pointer: '/rows/2', message: 'must be an object' },
    ]);
  });

  test.each([1, 'text', true, ['a']])('intake answers are not %j, in both APIs', async intake_answers => {
    const member = await p.userToken(DEMO, ['write:clinical']);
    const answer = await p.rest('POST', '/clinical/v1/consults', { token: member, body: { type: 'intake', intake_answers } });
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: expect.arrayContaining([{ pointer: '/intake_answers', message: 'must be an object' }]) },
    });
  });
});

describe('a blank Idempotency-Key', () => {
  test.each(['', '   ', '\t'])('%j is a 400', async key => {
    const answer = await p.rest('POST', `/platform/v1/admin/brands/${BRAND}/suspend`, {
      token,
      headers: { 'idempotency-key': key },
      body: {},
    });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '', message: 'Idempotency-Key: must not be blank' }] } });
  });
});

describe('JSON in another encoding than UTF-8', () => {
  const NATIVE = '/platform/ofrep/v1/evaluate/flags';

  test.each(['utf-16', 'UTF-16LE', 'iso-8859-1', '"utf-32"'])('%s is a 415 at native paths as at rows', async charset => {
    const headers = { 'content-type': `application/json; charset=${charset}` };
    for (const path of [NATIVE, '/platform/v1/admin/brands', '/graphql'])
      expect((await p.rest('POST', path, { token, body: '{"context":{}}', headers })).status).toBe(415);
  });

  test.each(['utf-8', 'UTF-8', '"utf-8"', 'us-ascii'])('%s is read', async charset => {
    const headers = { 'content-type': `application/json; charset=${charset}` };
    expect((await p.rest('POST', NATIVE, { token, body: '{"context":{}}', headers })).status).toBe(200);
  });
});

describe('what OFREP cannot read is told in its form', () => {
  const path = '/platform/ofrep/v1/evaluate/flags';
  const send = (body: string, type = 'application/json', key = '') =>
    p.rest('POST', path + key, { token, body, headers: { 'content-type': type } });

  test.each([
    ['broken JSON', () => send('{'), 400],
    ['another media type', () => send('<a/>', 'application/xml'), 415],
    ['another encoding', () => send('{}', 'application/json; charset=utf-16'), 415],
    ['too much', () => send(JSON.stringify({ context: { x: 'x'.repeat(1_100_000) } })), 413],
    ['no object', () => send('[]'), 400],
  ])('%s', async (_what, answer, status) => {
    expect(await answer()).toMatchObject({ status, body: { errorCode: 'PARSE_ERROR', errorDetails: expect.any(String) } });
  });

  test('with the key, where one is asked for', async () => {
    expect((await send('{', 'application/json', '/some.flag.key')).body).toMatchObject({ key: 'some.flag.key', errorCode: 'PARSE_ERROR' });
  });

  test('access is told by a problem, as everywhere', async () => {
    expect((await p.rest('POST', path, { body: {} })).body).toMatchObject({ code: 'unauthenticated' });
  });
});

test('a change of a brand to what it is already tells nobody and keeps its version', async () => {
  const brand = (await p.rest('GET', '/platform/v1/brands/main', { token })).body;
  const told = async () => (await p.sql<{ n: number }>('select cache_version::int as n from platform.brand where id = $1', [BRAND]))[0];
  const before = await told();
  const same = { expected_version: brand.version, name: brand.name, locales: brand.locales, theme: {} };
  const answer = await p.rest('PATCH', `/platform/v1/admin/brands/${BRAND}`, { token, body: same });
  expect(answer).toMatchObject({ status: 200, body: { version: brand.version } });
  const changed = await p.rest('PATCH', `/platform/v1/admin/brands/${BRAND}`, { token, body: { ...same, name: `${brand.name}!` } });
  expect(changed).toMatchObject({ status: 200, body: { version: brand.version + 1 } });
  expect((await told())!.n - before!.n).toBe(1);
});
