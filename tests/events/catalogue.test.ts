import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { SLUGS } from '../../events/slugs.js';
import { CATALOGUE } from '../../events/catalogue.js';
import { dataSchemaOf, exampleOf, jsonSchemaOf } from '../../events/json-schema.js';

import { CONTRACT } from './support/contract.js';

/** Key names that would carry what may never leave a service. Source: events catalogue 1, rule 1. */
const FORBIDDEN = [
  'value',
  'result',
  'unit',
  'email',
  'phone',
  'address',
  'ip',
  'dob',
  'token',
  'secret',
  'otp',
  'password',
  'url',
  'body',
  'text',
  'note',
  'notes',
];
/** Exceptions with their reason: `<type> <key>`. */
const EXCEPTIONS: Readonly<Record<string, string>> = {};

type Schema = { properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[]; oneOf?: Schema[] };

/** Every key at any depth. */
function keysOf({ properties = {}, items, anyOf = [], oneOf = [] }: Schema): string[] {
  const inner = [...Object.values(properties), ...(items ? [items] : []), ...anyOf, ...oneOf];
  return [...Object.keys(properties), ...inner.flatMap(keysOf)];
}

const dataOf = (name: string): Schema => (jsonSchemaOf(CATALOGUE.get(name)!) as { properties: { data: Schema } }).properties.data;

describe.each([...CATALOGUE.values()])('$name', event => {
  test('has no key in its data that could carry a health value, free text, contact data or a secret', () => {
    const bad = keysOf(dataOf(event.name)).filter(key => FORBIDDEN.includes(key) && !EXCEPTIONS[`${event.name} ${key}`]);
    expect(bad).toEqual([]);
    expect(keysOf(dataOf(event.name))).not.toContain('user_id');
  });

  test('has examples that its schema and its JSON Schema accept, and refuses one with an unknown key', () => {
    for (const example of event.examples) expect(event.schema.safeParse(example).error?.issues ?? []).toEqual([]);
    const schema = z.fromJSONSchema(jsonSchemaOf(event) as never);
    for (const example of event.examples) expect(schema.safeParse(exampleOf(event, example)).error?.issues ?? []).toEqual([]);
    expect(schema.safeParse({ ...exampleOf(event), data: { ...event.examples[0], foo: 1 } }).success).toBe(false);
  });
});

test('every list in every payload has at most 100 entries', () => {
  const unlimited = (schema: Schema & { type?: string; maxItems?: number }): boolean =>
    (schema.type === 'array' && !(Number(schema.maxItems) <= 100)) ||
    [
      ...Object.values(schema.properties ?? {}),
      ...(schema.items ? [schema.items] : []),
      ...(schema.anyOf ?? []),
      ...(schema.oneOf ?? []),
    ].some(unlimited);
  expect([...CATALOGUE.keys()].filter(name => unlimited(dataOf(name)))).toEqual([]);
});

/** What each word of the contract's tables means, as JSON Schema. Source: events catalogue 1. */
const UUID = { type: 'string', format: 'uuid', pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' };
const INT = { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const WORDS: Readonly<Record<string, object>> = {
  id: UUID,
  ref: { type: 'string', maxLength: 128 },
  code: { type: 'string', pattern: '^[a-z0-9][a-z0-9_.:-]{0,63}$' },
  str: { type: 'string', maxLength: 200 },
  int: INT,
  minor: INT,
  num: { type: 'number' },
  bool: { type: 'boolean' },
  ts: { type: 'string', format: 'date-time', pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' },
  date: { type: 'string', format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
  cur: { type: 'string', pattern: '^[A-Z]{3}$' },
};
/** Keys whose values have capitals, which `code` has not: `SPRING20`, `US`, `en-GB`. */
const REFS = ['promo_code', 'affiliate_code', 'locale', 'country_code'];
const OPEN = ' (open)';

/** The JSON Schema of a type in the contract's notation: `id?`, `code[]`, `a|b`, `{amount int, currency cur}[]`. */
function schemaOf(key: string, notation: string): object {
  if (notation.endsWith(OPEN))
    return { ...schemaOf(key, notation.slice(0, -OPEN.length)), $comment: 'open: values may be added; have a default branch' };
  if (notation.endsWith('?')) return { anyOf: [schemaOf(key, notation.slice(0, -1)), { type: 'null' }] };
  if (notation.endsWith('[]')) return { type: 'array', maxItems: 100, items: schemaOf(key, notation.slice(0, -2)) };
  if (notation.startsWith('{')) return objectOf(notation.slice(1, -1));
  if (notation.includes('|')) return { type: 'string', enum: notation.split('|') };
  return WORDS[notation === 'code' && REFS.includes(key) ? 'ref' : notation] ?? { type: 'string', const: notation };
}

/** Commas inside of braces belong to an entry. */
const entriesOf = (notation: string): [string, string][] =>
  notation
    .split(/, (?![^{]*})/)
    .filter(Boolean)
    .map(entry => [entry.slice(0, entry.indexOf(' ')), entry.slice(entry.indexOf(' ') + 1)]);

/** What a later revision added may be absent. Source: events catalogue 20. */
const ADDED = '+';
const isAdded = (type: string): boolean => type.endsWith(ADDED);

function objectOf(notation: string): object {
  const entries = entriesOf(notation);
  const properties = Object.fromEntries(entries.map(([key, type]) => [key, schemaOf(key, type.replace(ADDED, ''))]));
  const required = entries.filter(([, type]) => !isAdded(type)).map(([key]) => key);
  return { type: 'object', properties, required, additionalProperties: false };
}

/** `kind a|b, x id; a: y ts`: what stands before the first `;` is common to the variants. */
function payloadOf(notation: string): object {
  const [common, ...rest] = notation.split('; ');
  const kinds = /^kind ([a-z|]+), /.exec(common!)?.[1]?.split('|') ?? [];
  if (rest.length === 0) return objectOf(common!);
  const added = (kind: string): string => rest.find(one => one.startsWith(`${kind}: `))?.replace(`${kind}: `, ', ') ?? '';
  return { oneOf: kinds.map(kind => objectOf(common!.replace(/^kind [a-z|]+/, `kind ${kind}`) + added(kind))) };
}

const USER = { R: 'required', O: 'optional', N: 'none' } as const;
/** Its `params` is a map, which the notation cannot say. */
const MAP = 'params object of code → str|int|bool|ts';

describe('the catalogue is the contract', () => {
  test('154 types, 65 of them with a scope, each once', () => {
    expect(CONTRACT).toHaveLength(154);
    expect([...CATALOGUE.keys()].sort()).toEqual(CONTRACT.map(([name]) => name).sort());
    expect([...CATALOGUE.values()].filter(({ scope }) => scope !== null)).toHaveLength(65);
  });

  test.each(CONTRACT)('%s has its owner, user rule, scope, consumers and keys', (name, owner, user, scope, data, consumers) => {
    const event = CATALOGUE.get(name)!;
    const named = consumers === '*' ? SLUGS : consumers.split(' ').filter(Boolean);
    expect(event).toMatchObject({ owner, user: USER[user], scope: scope === '-' ? null : scope, consumers: named });
    const schema = dataSchemaOf(event);
    const { params, ...properties } = (schema.properties ?? {}) as Record<string, object>;
    if (!data.includes(MAP)) return expect(schema).toEqual(payloadOf(data));
    expect(params).toMatchObject({
      type: 'object',
      additionalProperties: { anyOf: ['ts', 'str', 'int', 'bool'].map(word => WORDS[word]) },
    });
    expect(properties).toEqual((payloadOf(data.replace(`${MAP}, `, '')) as { properties: object }).properties);
  });
});

test('a requested message has at most 30 parameters', () => {
  const event = CATALOGUE.get('comms.message.send_requested.v1')!;
  const withParams = (count: number): object => ({
    ...(event.examples[0] as object),
    params: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, index])),
  });
  expect([30, 31].map(count => event.schema.safeParse(withParams(count)).success)).toEqual([true, false]);
  expect((dataOf(event.name).properties!.params as { maxProperties?: number }).maxProperties).toBe(30);
});
