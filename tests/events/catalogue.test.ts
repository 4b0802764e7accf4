import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CATALOGUE } from '../../events/catalogue.js';
import { exampleOf, jsonSchemaOf } from '../../events/registry.js';

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

  test('has an example that its JSON Schema accepts, and refuses one with an unknown key', () => {
    const schema = z.fromJSONSchema(jsonSchemaOf(event) as never);
    expect(schema.safeParse(exampleOf(event)).error?.issues ?? []).toEqual([]);
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
