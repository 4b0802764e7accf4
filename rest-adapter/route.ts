import type { Slug } from '../events/slugs.js';

/** Where a variable comes from. `name` is the wire name; the GraphQL variable's name is the key in `variables`. */
export type Source =
  | { from: 'body' }
  | { from: 'body'; name: string }
  | { from: 'path'; name: string }
  | { from: 'query'; name: string }
  | { from: 'header'; name: string }
  | { from: 'constant'; value: unknown }
  | { from: 'input'; body?: boolean; path?: readonly string[]; query?: readonly string[] };

/** One documented path as data. The operation's root field is aliased `result`. Source: architecture 3. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the service, for example `/v1/retest-cycles/{id}`. */
  path: string;
  /** Documented success statuses, the default one first. */
  status: readonly [number, ...number[]];
  /** GraphQL document with exactly one operation whose root field is aliased `result`. */
  document: string;
  variables?: Readonly<Record<string, Source>>;
  summary: string;
  /** `Location` of a created resource, with `{id}` taken from the answer's `id`. */
  location?: string;
  /** The list arguments `first` and `after` come from `?limit=&cursor=`; true for every connection. */
  list?: boolean;
}

export interface RouteTable {
  service: Slug;
  routes: readonly Route[];
}

/** The whole JSON body is the variable (usually `input`). */
export const body = (): Source => ({ from: 'body' });
/** One key of the JSON body. */
export const bodyKey = (name: string): Source => ({ from: 'body', name });
export const path = (name: string): Source => ({ from: 'path', name });
export const query = (name: string): Source => ({ from: 'query', name });
export const header = (name: string): Source => ({ from: 'header', name });
export const constant = (value: unknown): Source => ({ from: 'constant', value });
/** An input object made of the body (unless `body: false`) plus the named path and query parameters. */
export const input = (parts: { body?: boolean; path?: readonly string[]; query?: readonly string[] } = {}): Source => ({ from: 'input', ...parts });
