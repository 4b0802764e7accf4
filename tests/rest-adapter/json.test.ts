import { describe, expect, test } from 'vitest';
import { parseJson } from '../../rest-adapter/json.js';
import { Problem, type Violation } from '../../runtime/request/errors.js';

const read = (text: string | Buffer): unknown => parseJson(Buffer.from(text));

function refusal(text: string | Buffer): { detail: string; errors: readonly Violation[] } {
  try {
    read(text);
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_request') return { detail: error.message, errors: error.options.errors ?? [] };
    throw error;
  }
  throw new Error('it was accepted');
}

test.each([
  '{"a":1}',
  ' [1, "x", {"a": [true, null, 1.5e3]}] ',
  '"text"',
  '0',
  'null',
  '{"a":{"b":1},"c":{"b":2}}',
  '[{"a":1},{"a":2}]',
  '{"a":"a\\"b: {[,","b":"\\\\"}',
  '{"\\u00e9":"\\ud83d\\ude00"}',
])('%s reads as JSON.parse reads it', text => expect(read(text)).toEqual(JSON.parse(text)));

test.each(['', '  \n\t'])('an empty body is no body', text => expect(read(text)).toBeUndefined());

test('a byte order mark is not part of the text', () => expect(read('\ufeff{"a":1}')).toEqual({ a: 1 }));

describe('a key that stands twice is refused by pointer', () => {
  test.each([
    ['{"a":1,"a":2}', '/a'],
    ['{"a":{"b":1,"c":2,"b":3}}', '/a/b'],
    ['{"a":[{"x":1},{"x":1,"x":2}]}', '/a/1/x'],
    ['[[],[1,{"k":1,"k":1}]]', '/1/1/k'],
    ['{"a/b":1,"a/b":2}', '/a~1b'],
    ['{"a":1,"\\u0061":2}', '/a'],
    ['{ "a" : 1 ,\n"a"\n: 2 }', '/a'],
  ])('%s', (text, pointer) => expect(refusal(text).errors).toEqual([{ pointer, message: 'stands twice' }]));

  test('all of them are listed', () =>
    expect(refusal('{"a":1,"a":2,"b":{"c":1,"c":1}}').errors.map(error => error.pointer)).toEqual(['/a', '/b/c']));
});

test.each([
  ['{"__proto__":{"admin":true}}', '/__proto__'],
  ['{"a":[{"\\u005f_proto__":1}]}', '/a/0/__proto__'],
])('%s never reaches an object', (text, pointer) => {
  expect(refusal(text).errors).toEqual([{ pointer, message: 'is not a known key' }]);
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});

test.each([
  ['{"a":"x\\u0000y"}', '/a'],
  ['["\\u0000"]', '/0'],
  ['{"a":{"b\\u0000":1}}', '/a/b\0'],
])('U+0000, which PostgreSQL cannot hold, is refused in %s', (text, pointer) => {
  expect(refusal(text).errors).toEqual([{ pointer, message: 'must not contain U+0000' }]);
});

test.each([
  ['{"a":"x\\ud800"}', '/a'],
  ['["\\udc00\\ud800"]', '/0'],
])('half a surrogate pair, which PostgreSQL reads in no JSON, is refused in %s', (text, pointer) => {
  expect(refusal(text).errors).toEqual([{ pointer, message: 'must not contain half a surrogate pair' }]);
});

test('an escaped backslash before u0000 is no U+0000', () => expect(read('"\\\\u0000"')).toBe('\\u0000'));

test.each(['{', '{"a":}', '{"a":1,}', "{'a':1}", '{"a":1} x', 'undefined', '{"secret":"hunter2"', '\u0000'])(
  '%s is refused without being repeated',
  text => {
    const { detail, errors } = refusal(text);
    expect(detail).toBe('The body is not valid JSON');
    expect(errors).toEqual([{ pointer: '', message: 'is not valid JSON' }]);
  },
);

test('bytes that are not UTF-8 are refused', () =>
  expect(refusal(Buffer.from([0x22, 0xff, 0xfe, 0x22])).detail).toBe('The body is not valid UTF-8'));

test('nesting has an end', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  expect(read(nested(64))).toBeTruthy();
  expect(refusal(nested(65)).detail).toContain('nested deeper');
  expect(refusal(nested(200_000)).detail).toContain('nested deeper');
});

test('a long text of quotes and backslashes is read in linear time', () => {
  const text = JSON.stringify({ a: '\\"'.repeat(200_000) });
  expect(read(text)).toEqual(JSON.parse(text));
});
