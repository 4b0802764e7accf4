/**
 * What may change within a version of an event type. Emitters validate strictly and consumers ignore keys that they do not know, so a
 * revision may only add optional keys, and values to enums that say they are open. Source: events catalogue 20.
 */
import { createHash } from 'node:crypto';
import type { EventDefinition, UserRule } from './define.js';
import { dataSchemaOf, type JsonSchema } from './json-schema.js';
import { OPEN } from './payload.js';

/** What one revision of a type promises to those who consume it. */
export interface Revision {
  revision: number;
  owner: string;
  user: UserRule;
  scope: string | null;
  /** JSON Schema of `data`. */
  data: JsonSchema;
}

export const revisionOf = (event: EventDefinition): Revision => {
  const { revision, owner, user, scope } = event;
  return { revision, owner, user, scope, data: dataSchemaOf(event) };
};

/**
 * Keywords that explain and do not constrain; a format constrains as its pattern does. How many keys a map may have binds emitters alone: a
 * consumer that takes any number takes fewer.
 */
const isRemark = (keyword: string, schema: JsonSchema): boolean =>
  ['$schema', 'title', 'description', 'examples', 'maxProperties'].includes(keyword) || (keyword === 'pattern' && 'format' in schema);

/** The same for schemas that accept the same: without remarks, in one order. */
function canonical(schema: JsonSchema): JsonSchema {
  const keywords = Object.keys(schema)
    .filter(keyword => !isRemark(keyword, schema))
    .sort();
  return Object.fromEntries(keywords.map(keyword => [keyword, canonicalValue(keyword, schema[keyword])]));
}

function canonicalValue(keyword: string, value: unknown): unknown {
  if (keyword === 'properties')
    return Object.fromEntries(
      Object.entries(value as object)
        .sort(byKey)
        .map(([key, inner]) => [key, canonical(inner)]),
    );
  if (keyword === 'required' || keyword === 'enum') return [...(value as string[])].sort();
  if (Array.isArray(value)) return value.map(inner => canonical(inner));
  return typeof value === 'object' && value !== null ? canonical(value as JsonSchema) : value;
}

const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

/** SHA-256, hex, of what a revision promises: descriptions, examples and the order of keys are free. */
export function fingerprintOf({ owner, user, scope, data }: Omit<Revision, 'revision'>): string {
  return createHash('sha256')
    .update(JSON.stringify([owner, user, scope, canonical(data)]))
    .digest('hex');
}

/** Why `after` is no revision of the version that `before` is of; empty where it is one. Each names the pointer: `/data/items/0/sku: removed`. */
export function breaksOf(before: Revision, after: Revision): string[] {
  const facts = (['owner', 'user', 'scope'] as const)
    .filter(fact => before[fact] !== after[fact])
    .map(fact => `${fact}: ${before[fact]} became ${after[fact]}`);
  return [...facts, ...changes(canonical(before.data), canonical(after.data), '/data')];
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Keywords whose inside is compared on its own. */
const PARTS = ['properties', 'required', 'enum', 'items', 'anyOf', 'oneOf'];
const frameOf = (schema: JsonSchema): JsonSchema =>
  Object.fromEntries(Object.entries(schema).filter(([keyword]) => !PARTS.includes(keyword)));
const keywordsOf = (schema: JsonSchema): string[] => PARTS.filter(keyword => keyword !== 'required' && keyword in schema);

function changes(before: JsonSchema, after: JsonSchema, at: string): string[] {
  if (same(before, after)) return [];
  if (!same(frameOf(before), frameOf(after)) || !same(keywordsOf(before), keywordsOf(after))) return [`${at}: changed`];
  return keywordsOf(before).flatMap(keyword => {
    if (keyword === 'enum') return enumChanges(before, after, at);
    if (keyword === 'properties') return keyChanges(before as ObjectSchema, after as ObjectSchema, at);
    return listOf(before[keyword]).length === listOf(after[keyword]).length
      ? listOf(before[keyword]).flatMap((inner, index) =>
          changes(inner, listOf(after[keyword])[index]!, keyword === 'items' ? `${at}/0` : at),
        )
      : [`${at}: has other variants`];
  });
}

const listOf = (inner: unknown): JsonSchema[] => (Array.isArray(inner) ? inner : [inner]) as JsonSchema[];

function enumChanges(before: JsonSchema, after: JsonSchema, at: string): string[] {
  const [old, now] = [before.enum, after.enum] as [string[], string[]];
  if (same(old, now)) return [];
  const lost = old.filter(value => !now.includes(value));
  if (lost.length > 0) return [`${at}: ${lost.join(', ')} removed`];
  return before.$comment === OPEN ? [] : [`${at}: values added to an enum that is not open`];
}

type ObjectSchema = JsonSchema & { properties: Record<string, JsonSchema>; required?: string[] };

function keyChanges(before: ObjectSchema, after: ObjectSchema, at: string): string[] {
  const needs = ({ required = [] }: ObjectSchema, key: string): boolean => required.includes(key);
  const old = Object.keys(before.properties).flatMap(key => {
    const inner = after.properties[key];
    if (!inner) return [`${at}/${key}: removed`];
    if (needs(before, key) !== needs(after, key)) return [`${at}/${key}: ${needs(after, key) ? 'became required' : 'became optional'}`];
    return changes(before.properties[key]!, inner, `${at}/${key}`);
  });
  const added = Object.keys(after.properties).filter(key => !(key in before.properties) && needs(after, key));
  return [...old, ...added.map(key => `${at}/${key}: a new key must be optional`)];
}

/** What is wrong with a declaration after the newest known revision of its type; null when it may follow. */
export function conflictOf(known: Revision, mine: Revision): string | null {
  if (known.revision > mine.revision) return `revision ${known.revision} is newer`;
  if (known.revision === mine.revision) return fingerprintOf(known) === fingerprintOf(mine) ? null : `revision ${mine.revision} is another`;
  const broken = breaksOf(known, mine);
  return broken.length > 0 ? `needs a new version: ${broken.join('; ')}` : null;
}
