import { createHash } from 'node:crypto';
import { z } from 'zod';

/**
 * The payload vocabulary of the events catalogue, section 1. Each type may have a value that stands in the examples of the
 * events that use it; the same one stands in all examples, so an order of one example is the order of the next.
 */
const SAMPLES = new WeakMap<z.core.$ZodType, unknown>();

/** Sets what stands in examples for this schema. */
export function sample<S extends z.ZodType>(schema: S, value: z.infer<S>): S {
  SAMPLES.set(schema, value);
  return schema;
}

/** A UUID. */
export const id = () => z.uuid();
/** An outside system's identifier, never a secret. */
export const ref = (value: string) => sample(z.string().max(128), value);
export const code = (value: string) => sample(z.string().regex(/^[a-z0-9][a-z0-9_.:-]{0,63}$/), value);
/** Text without contact data. */
export const str = (value: string) => sample(z.string().max(200), value);
export const int = (value = 1) => sample(z.int(), value);
/** Money in minor units of the payload's one currency. */
export const minor = (value: number) => sample(z.int(), value);
export const num = (value: number) => sample(z.number(), value);
export const bool = (value = false) => sample(z.boolean(), value);
/** RFC 3339, UTC, ms. */
export const ts = (value = '2026-11-20T09:30:00.000Z') => sample(z.iso.datetime({ precision: 3 }), value);
export const date = (value = '2026-11-20') => sample(z.iso.date(), value);
/** ISO 4217. */
export const cur = () => sample(z.string().regex(/^[A-Z]{3}$/), 'USD');
export const oneOf = <const V extends readonly [string, ...string[]]>(...values: V) => z.enum(values);
/** Comment of an enum that may grow; JSON Schema has no keyword for it. */
export const OPEN = 'open: values may be added; have a default branch';
/** An enum that may grow within a revision: consumers have a default branch. */
export const openEnum = <const V extends readonly [string, ...string[]]>(...values: V) => z.enum(values).meta({ $comment: OPEN });
export const list = <S extends z.ZodType>(item: S) => z.array(item).max(100);
export const data = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape);
/** A nullable key that is null in the example. */
export const absent = <S extends z.ZodType>(schema: S) => sample(schema.nullable(), null as never);

/** A key that a later revision added, null in the example: who consumes it may meet an event that lacks it. Source: events catalogue 20. */
export const added = <S extends z.ZodType>(schema: S) => sample(schema.nullable().optional(), null as never);

/** The schema at a path of a payload; undefined where there is none. */
const schemaAt = (schema: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce((at: unknown, key) => {
    const outer = withoutNull(at);
    if (outer instanceof z.ZodObject) return outer.shape[key as string];
    return outer instanceof z.ZodArray ? outer.element : undefined;
  }, schema);

const withoutNull = (schema: unknown): unknown =>
  schema instanceof z.ZodNullable || schema instanceof z.ZodOptional ? withoutNull(schema.unwrap()) : schema;

/** Whether a newer emitter may have put another value there. */
export const isOpenAt = (schema: z.core.$ZodType, path: readonly PropertyKey[]): boolean => {
  const at = withoutNull(schemaAt(schema, path));
  return at instanceof z.ZodEnum && at.meta()?.$comment === OPEN;
};

/** One valid payload for each variant of a schema. @throws Error for a shape that needs a `sample`. */
export const samplesOf = (schema: z.core.$ZodType): unknown[] =>
  schema instanceof z.ZodDiscriminatedUnion ? schema.options.map(option => sampleOf(option)) : [sampleOf(schema)];

function sampleOf(schema: z.core.$ZodType, key = ''): unknown {
  if (SAMPLES.has(schema)) return SAMPLES.get(schema);
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return sampleOf(schema.unwrap(), key);
  if (schema instanceof z.ZodArray) return [sampleOf(schema.element, key.replace(/s$/, ''))];
  if (schema instanceof z.ZodObject)
    return Object.fromEntries(Object.entries(schema.shape).map(([name, inner]) => [name, sampleOf(inner, name)]));
  if (schema instanceof z.ZodEnum) return schema.options[0];
  if (schema instanceof z.ZodLiteral) return schema.value;
  if (schema instanceof z.ZodUUID) return exampleId(key);
  throw new Error(`${key} has no example: say one with sample()`);
}

/** The same UUID for the same key. */
const exampleId = (key: string): string => `0190b3a0-1111-7000-8000-${createHash('sha256').update(key).digest('hex').slice(0, 12)}`;
