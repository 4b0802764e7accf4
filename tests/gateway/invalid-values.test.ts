/** Values that do not fit their types, as literals of the document and as variables: one answer with all of them, and nothing of them in a log. */
import { execute, parse } from 'graphql';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { loggedError } from '../../runtime/observe/log.js';
import { internalRequest } from '../../runtime/request/request.js';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
let token: string;
let logged: ReturnType<typeof vi.spyOn>;
beforeAll(async () => {
  p = await platform({ services: ['clinical'] });
  token = await p.userToken(DEMO, ['write:biomarkers', 'read:biomarkers']);
  logged = vi.spyOn(p.host('clinical').log, 'error');
});
beforeEach(() => void logged.mockClear());

const FIELD = 'recordMyObservation';
const literal = (input: string): string => `mutation { ${FIELD}(input: ${input}) { id } }`;
const BY_VARIABLE = `mutation ($input: RecordMyObservationInput!) { ${FIELD}(input: $input) { id } }`;

/** Messages without the name of what holds the value, which differs. */
const reasons = (errors: { message: string }[]): string[] =>
  errors.map(({ message }) => message.replace(/^(Argument|Variable) "\$?\w+" /, ''));

const wrong: [string, string, object, string[]][] = [
  [
    'a scalar of the suite',
    '{ code: "ldl_c", value: 187.77, unit: "mg/dL", collectedAt: "yesterday" }',
    { code: 'ldl_c', value: 187.77, unit: 'mg/dL', collectedAt: 'yesterday' },
    ['is invalid at "input.collectedAt": must be an RFC 3339 instant such as 2026-08-01T08:00:00.000Z'],
  ],
  [
    'several fields at once',
    '{ code: 4711, value: "187.77", collectedAt: "yesterday", comparator: "lower" }',
    { code: 4711, value: '187.77', collectedAt: 'yesterday', comparator: 'lower' },
    [
      'is invalid at "input.code": must be of type String',
      'is invalid at "input.value": must be of type Float',
      'is invalid at "input.collectedAt": must be an RFC 3339 instant such as 2026-08-01T08:00:00.000Z',
      'is invalid at "input.comparator": must be a value of BiomarkerObservationComparator',
      'is invalid: Field "unit" of type "String!" is required',
    ],
  ],
];

describe.each(['first', 'third'])('the %s time', time => {
  const send = async (query: string, variables: object) => {
    if (time === 'third') for (const _before of [1, 2]) await p.graphql(query, variables, { token });
    return p.graphql(query, variables, { token });
  };

  test.each(wrong)(
    '%s is refused alike in a literal and in a variable, with every violation and without the values',
    async (_what, text, input, expected) => {
      const [written, given] = [await send(literal(text), {}), await send(BY_VARIABLE, { input })];
      for (const { status, errors, data } of [written, given]) {
        expect(status).toBe(400);
        expect(data ?? null).toBeNull();
        expect(errors.every(({ extensions }) => extensions.code === 'INVALID_REQUEST')).toBe(true);
        expect(
          reasons(errors)
            .map(one => one.replace(' at "input"', ''))
            .sort(),
        ).toEqual([...expected].sort());
      }
      expect(written.errors[0]!.message).toMatch(/^Argument "input"/);
      expect(JSON.stringify([written.body, given.body])).not.toMatch(/187|4711|yesterday|lower/);
      expect(logged).not.toHaveBeenCalled();
    },
  );

  test('wrong literals and wrong variables are in one answer', async () => {
    const query = `mutation ($value: Float!) { ${FIELD}(input: { code: "ldl_c", value: $value, unit: "mg/dL", collectedAt: "yesterday" }) { id } }`;
    const { status, errors } = await send(query, { value: 'much' });
    expect(status).toBe(400);
    expect(errors.map(({ message }) => message)).toEqual([
      'Argument "input" is invalid at "input.collectedAt": must be an RFC 3339 instant such as 2026-08-01T08:00:00.000Z',
      'Variable "$value" is invalid: must be of type Float',
    ]);
  });

  test('an element of a list is named by its place', async () => {
    const query =
      'mutation { recordObservations(input: { userId: "x", observations: [{ code: "ldl_c", value: 1, unit: "mg/dL", collectedAt: "now", source: DIRECT_LAB }] }) { id } }';
    const { errors } = await p.graphql(query, {}, { token: await p.serviceToken() });
    expect(errors.map(({ message }) => message).join()).toMatch(/at "input\.observations\[0\]\.collectedAt"/);
  });
});

test('access is decided before the values of a document are, so a 400 does not reveal what a 403 hides', async () => {
  const query = literal('{ code: "ldl_c", value: 1, unit: "mg/dL", collectedAt: "yesterday" }');
  const reader = await p.userToken(DEMO, ['read:biomarkers']);
  for (const _time of [1, 2, 3]) {
    expect((await p.graphql(query, {}, { token: reader })).status).toBe(403);
    expect((await p.graphql(query)).status).toBe(401);
  }
});

describe('at the subgraph', () => {
  const query = literal('{ code: "ldl_c", value: 187.77, unit: "mg/dL", collectedAt: "yesterday" }');

  test('a document that a gateway has not checked is refused with its violations when it runs', async () => {
    const host = p.host('clinical');
    const caller = { ...internalRequest({ kind: 'user', userId: DEMO, scopes: new Set(['write:biomarkers']), roles: new Set() } as never) };
    const { errors } = await host.execute({ document: parse(query) }, caller);
    expect(errors!.map(({ message, extensions }) => [message, extensions.code])).toEqual([
      ['Argument "input" is invalid', 'INVALID_REQUEST'],
    ]);
    expect(logged).not.toHaveBeenCalled();
  });

  test('over HTTP it is refused before it runs, with every violation and without the values', async () => {
    const headers = { 'x-subgraph-secret': p.env.SUBGRAPH_SECRET ?? '' };
    const wrongs = '{ code: 4711, value: 187.77, unit: "mg/dL", collectedAt: "yesterday" }';
    const { status, body } = await p.rest('POST', '/clinical/graphql', { token, headers, body: { query: literal(wrongs) } });
    expect(status).toBe(400);
    expect(body.errors.map(({ message }: { message: string }) => message)).toEqual([
      'Argument "input" is invalid at "input.code": must be of type String',
      expect.stringMatching(/^Argument "input" is invalid at "input.collectedAt"/),
    ]);
    expect(JSON.stringify(body)).not.toMatch(/187|4711|yesterday/);
    expect(logged).not.toHaveBeenCalled();
  });
});

describe('a log', () => {
  const schema = () => p.host('clinical').schema;
  /** Errors that graphql-js makes of wrong input, each with the value 187.77 in its message. */
  const made: [string, () => Promise<readonly Error[]>][] = [
    [
      'of a variable',
      async () =>
        (await execute({ schema: schema(), document: parse(BY_VARIABLE), variableValues: { input: { value: '187.77' } } })).errors!,
    ],
    ['of a syntax error', async () => [thrownBy(() => parse('{ a(b: "187.77" "187.77") }'))]],
    ['of a text that is no JSON', async () => [thrownBy(() => JSON.parse('{"ldl": x187.77}'))]],
  ];

  test.each(made)('holds nothing of the message %s', async (_what, make) => {
    const errors = await make();
    expect(errors.length).toBeGreaterThan(0);
    for (const error of errors) {
      expect(error.message).toContain('187.77');
      expect(JSON.stringify(loggedError(error))).not.toContain('187.77');
      expect(loggedError(error).stack).toMatch(/^\s+at /);
    }
  });
});

function thrownBy(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}
