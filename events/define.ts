import { z } from 'zod';
import { samplesOf } from './payload.js';
import { isPhiScope } from './scopes.js';
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
  /** Whom `user_id` names where it is not simply the member concerned: `the author`. */
  about?: string;
  /** User scope that a client's active grant must hold for webhook delivery; null: the type never leaves the platform. */
  scope: string | null;
  /** Which events of a type with a scope never leave the platform all the same; default: none. */
  withheld?: (data: Data) => boolean;
  /** Services with a handler of their own. Implied: analytics takes every type but its own, webhooks every type with a scope. */
  consumers?: readonly Slug[];
  /** Schema revision, growing by one with every compatible change; `evolution.ts` decides which are. */
  revision?: number;
  deprecated?: { at: string; sunset: string; replacedBy: string };
  /** Each must satisfy the schema; default: one for each variant, of the samples in the schema. */
  examples?: readonly [Data, ...Data[]];
}

export interface EventDefinition<Name extends string = string, Data = any> extends EventOptions<Data> {
  name: Name;
  schema: z.ZodType<Data>;
  revision: number;
  emitters: readonly Slug[];
  consumers: readonly Slug[];
  examples: readonly [Data, ...Data[]];
  /** The scope is of class PHI: a client that is not first-party needs a health-data agreement. */
  sensitive: boolean;
}

/** The payload type of an event definition. */
export type DataOf<E extends EventDefinition> = E extends EventDefinition<string, infer Data> ? Data : never;

const NAME = /^[a-z][a-z0-9_]*(\.[a-z0-9_]+){1,4}\.v[1-9]\d*$/;

/**
 * Declares an event type once: TypeScript type, JSON Schema, registry row and AsyncAPI channel follow from it.
 * Whether the examples satisfy the schema is tested: checking 200 of them took a sixth of a process's start.
 * @throws Error when the name or the user rule breaks the rules of the events catalogue, section 2.
 */
export function defineEvent<const Name extends string, Schema extends z.ZodType>(
  name: Name,
  schema: Schema,
  options: EventOptions<z.infer<Schema>>,
): EventDefinition<Name, z.infer<Schema>> {
  if (!NAME.test(name)) throw new Error(`${name} is not an event name`);
  if (options.scope !== null && options.user !== 'required') throw new Error(`${name} has a scope, so it needs a user`);
  const examples = options.examples ?? (samplesOf(schema) as [z.infer<Schema>]);
  return {
    ...options,
    name,
    schema: schema as unknown as z.ZodType<z.infer<Schema>>,
    examples,
    revision: options.revision ?? 1,
    emitters: options.emitters ?? [],
    consumers: options.consumers ?? [],
    sensitive: options.scope !== null && isPhiScope(options.scope),
  };
}
