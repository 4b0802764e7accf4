import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { CATALOGUE } from '../../events/catalogue.js';
import { defineEvent } from '../../events/define.js';
import { breaksOf, conflictOf, fingerprintOf, revisionOf } from '../../events/evolution.js';
import { newId } from '../../events/envelope.js';
import { Handling } from '../../events/handling.js';
import { eventFiles } from '../../gateway/documents/event-files.js';
import { code, data, id, int, list, oneOf, openEnum, sample, str } from '../../events/payload.js';

const options = { owner: 'clinical', when: 'A test.', user: 'required', scope: 'read:clinical' } as const;
const shape = {
  id: id(),
  size: int(),
  kind: oneOf('a', 'b'),
  source: openEnum('x', 'y'),
  tag: code('t').nullable(),
  items: list(data({ sku: str('s') })),
};
const declared = (schema: z.ZodType, more: object = {}) => defineEvent('test.thing.done.v1', schema, { ...options, ...more } as never);
const before = revisionOf(declared(data(shape)));
const breaks = (schema: z.ZodType, more: object = {}): string[] => breaksOf(before, revisionOf(declared(schema, { revision: 2, ...more })));

describe('within a version a revision may', () => {
  test.each<[string, z.ZodType]>([
    ['add an optional key', data({ ...shape, added: str('new').optional() })],
    ['add an optional key to the entries of a list', data({ ...shape, items: list(data({ sku: str('s'), rank: int().optional() })) })],
    ['add a value to an open enum', data({ ...shape, source: openEnum('x', 'y', 'z') })],
    [
      'say its keys in another order',
      data({ items: shape.items, tag: shape.tag, source: shape.source, kind: shape.kind, size: shape.size, id: shape.id }),
    ],
    ['be described and shown better', data({ ...shape, size: sample(z.int().describe('Number of things'), 7) })],
  ])('%s', (_, schema) => {
    expect(breaks(schema)).toEqual([]);
  });
});

describe('a new version is needed to', () => {
  const { kind: _, ...withoutKind } = shape;
  test.each<[string, z.ZodType, object, string]>([
    ['remove a key', data(withoutKind), {}, '/data/kind: removed'],
    ['rename a key', data({ ...withoutKind, sort: shape.kind.optional() }), {}, '/data/kind: removed'],
    ['add a required key', data({ ...shape, added: int() }), {}, '/data/added: a new key must be optional'],
    ['change a type', data({ ...shape, size: str('9') }), {}, '/data/size: changed'],
    ['make a key optional', data({ ...shape, size: int().optional() }), {}, '/data/size: became optional'],
    ['let a key be null', data({ ...shape, size: int().nullable() }), {}, '/data/size: changed'],
    ['forbid null', data({ ...shape, tag: code('t') }), {}, '/data/tag: changed'],
    ['tighten a limit', data({ ...shape, items: z.array(data({ sku: str('s') })).max(10) }), {}, '/data/items: changed'],
    ['widen a limit', data({ ...shape, items: list(data({ sku: sample(z.string().max(500), 's') })) }), {}, '/data/items/0/sku: changed'],
    [
      'add a value to an enum that is not open',
      data({ ...shape, kind: oneOf('a', 'b', 'c') }),
      {},
      '/data/kind: values added to an enum that is not open',
    ],
    ['remove a value of an open enum', data({ ...shape, source: openEnum('x') }), {}, '/data/source: y removed'],
    ['change the owner', data(shape), { owner: 'labs' }, 'owner: clinical became labs'],
    ['change the scope', data(shape), { scope: 'read:inbox' }, 'scope: read:clinical became read:inbox'],
    ['change the user rule', data(shape), { scope: null, user: 'optional' }, 'user: required became optional'],
  ])('%s', (_title, schema, more, found) => {
    expect(breaks(schema, more)).toContain(found);
  });

  test('add or change a variant', () => {
    const one = data({ kind: z.literal('one'), n: int() });
    const two = data({ kind: z.literal('two'), m: int() });
    const of = (...variants: z.ZodObject[]) => revisionOf(declared(z.discriminatedUnion('kind', variants as never)));
    expect(breaksOf(of(one), of(one, two))).toEqual(['/data: has other variants']);
    expect(breaksOf(of(one, two), of(one, data({ kind: z.literal('two'), m: int().optional() })))).toEqual(['/data/m: became optional']);
  });
});

describe('a declaration after a known revision', () => {
  const at = (revision: number, schema: z.ZodType = data(shape)) => revisionOf(declared(schema, { revision }));
  const more = data({ ...shape, added: int().optional() });

  test.each([
    ['the same again', at(1), at(1), null],
    ['a compatible one with the next number', at(1), at(2, more), null],
    ['an older one', at(2, more), at(1), 'revision 2 is newer'],
    ['another one with the same number', at(1), at(1, more), 'revision 1 is another'],
    ['an incompatible one with the next number', at(2, more), at(3), 'needs a new version: /data/added: removed'],
  ])('%s', (_, known, mine, conflict) => {
    expect(conflictOf(known, mine)).toBe(conflict);
  });
});

test('a fingerprint is the same for the same promise, whoever wrote it down', () => {
  for (const event of CATALOGUE.values()) {
    const revision = revisionOf(event);
    expect(fingerprintOf(JSON.parse(JSON.stringify(revision)))).toBe(fingerprintOf(revision));
  }
  expect(fingerprintOf({ ...before, scope: null })).not.toBe(fingerprintOf(before));
});

test.each([
  ['a key that it does not know', { more: 1 }, null],
  ['a new value of an open enum', { source: 'z' }, null],
  ['a new value of an enum that is not open', { kind: 'z' }, '/data/kind (invalid_value)'],
  ['a missing key', { size: undefined }, '/data/size (invalid_type)'],
])('a consumer of the older revision is given %s', (_, change, problem) => {
  const event = declared(data(shape));
  const handling = new Handling({
    handlers: new Map([[event.name, { definition: event, run: async () => undefined }]]),
    host: {},
  } as never);
  const given = { id: newId(), type: event.name, user_id: newId(), data: { ...(event.examples[0] as object), ...change } };
  expect(handling.refusalOf({ event: given as never, malformed: null })?.failure?.errorMessage ?? null).toBe(problem);
});

describe('npm run generate', () => {
  const folder = mkdtempSync(join(tmpdir(), 'evolution-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const checkout = (path: string): URL => pathToFileURL(join(folder, path));

  /** Checks in what is declared, but for one type as `change` made it. */
  async function checkIn(
    change: (registry: Record<string, object>, schema: { properties: { data: { properties: object } } }) => void,
  ): Promise<void> {
    const files = new Map(await eventFiles(path => pathToFileURL(join(folder, 'nowhere', path))));
    const registry = JSON.parse(files.get('events/schemas/registry.json')!);
    const schema = JSON.parse(files.get(`events/schemas/${NAME}.json`)!);
    change(registry, schema);
    files.set('events/schemas/registry.json', JSON.stringify(registry)).set(`events/schemas/${NAME}.json`, JSON.stringify(schema));
    mkdirSync(join(folder, 'events/schemas'), { recursive: true });
    for (const [path, text] of files) if (path.startsWith('events/schemas/')) writeFileSync(checkout(path), text);
  }
  const NAME = 'payment.charged.v1';

  test('accepts what is checked in, and keeps the fingerprints of former revisions', async () => {
    await checkIn(registry => Object.assign(registry[NAME]!, { fingerprints: { 0: 'former' } }));
    const [, text] = (await eventFiles(checkout)).find(([path]) => path.endsWith('registry.json'))!;
    expect(JSON.parse(text)[NAME].fingerprints).toEqual({ 0: 'former', 1: fingerprintOf(revisionOf(CATALOGUE.get(NAME)!)) });
  });

  test('refuses a declaration that lost a key, with or without a new revision', async () => {
    const gone = { lost: { type: 'string' } };
    await checkIn((_, schema) => Object.assign(schema.properties.data.properties, gone));
    await expect(eventFiles(checkout)).rejects.toThrow(`${NAME}: revision 1 is another`);
    await checkIn((registry, schema) => {
      Object.assign(registry[NAME]!, { revision: 0 });
      Object.assign(schema.properties.data.properties, gone);
    });
    await expect(eventFiles(checkout)).rejects.toThrow(`${NAME}: needs a new version: /data/lost: removed`);
  });

  test('refuses to lose a type, and a type with another scope', async () => {
    await checkIn(registry => {
      registry['payment.lost.v1'] = registry[NAME]!;
      Object.assign(registry[NAME]!, { scope: null });
    });
    await expect(eventFiles(checkout)).rejects.toThrow('payment.lost.v1: is no longer declared');
    await expect(eventFiles(checkout)).rejects.toThrow(`${NAME}: revision 1 is another`);
  });
});
