import { z } from 'zod';
import type { Slug } from './slugs.js';

/** Rule for `user_id` of a type: `required`, `optional` (null when no user is concerned), `none` (always null). */
export type UserRule = 'required' | 'optional' | 'none';

export interface EventOptions<Data> {
  /** The only service that may append the type, unless `emitters` names more. */
  owner: Slug;
  /** Services besides the owner that may append the type. */
  emitters?: readonly Slug[];
  /** When the event is emitted; becomes the description in the registry. */
  when: string;
  user: UserRule;
  /** User scope that a client's active grant must hold for webhook delivery; null: the type never leaves the platform. */
  scope: string | null;
  /** Schema revision, growing by one with every compatible change. */
  revision?: number;
  deprecated?: { at: string; sunset: string; replacedBy: string };
  /** At least one; each must satisfy the schema. */
  examples: readonly [Data, ...Data[]];
}

export interface EventDefinition<Name extends string = string, Data = any> extends EventOptions<Data> {
  name: Name;
  schema: z.ZodType<Data>;
  revision: number;
  emitters: readonly Slug[];
  /** The scope is of class PHI: a client that is not first-party needs a health-data agreement. */
  sensitive: boolean;
}

/** The payload type of an event definition. */
export type DataOf<E extends EventDefinition> = E extends EventDefinition<string, infer Data> ? Data : never;

/** Scopes of class PHI. Source: identity A7; the events catalogue keeps no second list. */
const PHI_RESOURCES = [
  'biomarkers', 'check_ins', 'clinical', 'lab_orders', 'lab_results', 'my_outcomes', 'physicians', 'protocols', 'recommendations', 'red_flags',
  'wearables',
];
export const isPhiScope = (scope: string): boolean => {
  const [verb, resource] = scope.split(':');
  return (verb === 'read' || verb === 'write') && PHI_RESOURCES.includes(resource ?? '');
};

const NAME = /^[a-z][a-z0-9_]*(\.[a-z0-9_]+){1,4}\.v[1-9]\d*$/;

/**
 * Declares an event type once: TypeScript type, JSON Schema, registry row and AsyncAPI channel follow from it.
 * @throws Error when the name, the user rule or an example breaks the rules of the events catalogue, section 2.
 */
export function defineEvent<const Name extends string, Schema extends z.ZodType>(
  name: Name,
  schema: Schema,
  options: EventOptions<z.infer<Schema>>,
): EventDefinition<Name, z.infer<Schema>> {
  if (!NAME.test(name)) throw new Error(`${name} is not an event name`);
  if (options.scope !== null && options.user !== 'required') throw new Error(`${name} has a scope, so it needs a user`);
  options.examples.forEach(example => schema.parse(example));
  return {
    ...options, name, schema: schema as unknown as z.ZodType<z.infer<Schema>>,
    revision: options.revision ?? 1, emitters: options.emitters ?? [], sensitive: options.scope !== null && isPhiScope(options.scope),
  };
}

/** The payload vocabulary of the catalogue, section 1. */
export const id = () => z.uuid();
export const ref = () => z.string().max(128);
export const code = () => z.string().regex(/^[a-z0-9][a-z0-9_.:-]{0,63}$/);
export const str = () => z.string().max(200);
export const int = () => z.int();
export const num = () => z.number();
export const bool = () => z.boolean();
export const ts = () => z.iso.datetime({ precision: 3 });
export const date = () => z.iso.date();
export const cur = () => z.string().regex(/^[A-Z]{3}$/);
export const oneOf = <const V extends readonly [string, ...string[]]>(...values: V) => z.enum(values);
export const list = <S extends z.ZodType>(item: S) => z.array(item).max(100);
export const data = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape);
