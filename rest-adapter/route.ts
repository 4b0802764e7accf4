/**
 * A documented REST path as a row of data. No route has code of its own: method, path, status, GraphQL document, and where
 * each variable comes from. Source: architecture 3, conventions 5.
 *
 * The field aliased `result` is the answer, usually the root field; its selection set is the shape of the response:
 * keys become `snake_case`, enum values `lower_snake`, a `...Connection` becomes `{"data", "next_cursor"}`, any other list
 * `{"data"}`, and `result: null` is a 404. An aliased `__typename` (`kind: __typename`) tells members of a union apart.
 *
 * ```ts
 * const table: RouteTable = {
 *   service: 'clinical',
 *   routes: [
 *     {
 *       method: 'POST', path: '/v1/retest-cycles', status: [201, 200], location: '/v1/retest-cycles/{id}',
 *       summary: 'Start a re-test cycle',
 *       document: `mutation StartRetestCycle($input: StartRetestCycleInput!) { result: startRetestCycle(input: $input) { id code status } }`,
 *       variables: { input: body() },
 *     },
 *     {
 *       method: 'GET', path: '/v1/retest-cycles', status: [200], summary: 'List re-test cycles',
 *       document: `query RetestCycles($patientId: ID, $status: [RetestCycleStatus!], $first: Int, $after: String) {
 *         result: retestCycles(patientId: $patientId, status: $status, first: $first, after: $after) { nodes { id status } pageInfo { endCursor hasNextPage } }
 *       }`,
 *       variables: { patientId: query('patient_id'), status: query('status') },
 *     },
 *     {
 *       method: 'POST', path: '/v1/protocols/{id}/stop', status: [200], summary: 'Stop a protocol',
 *       document: `mutation StopProtocol($input: ChangeInterventionInput!) { result: changeIntervention(input: $input) { id status } }`,
 *       variables: { input: input({ path: ['id'], constant: { action: 'STOP' } }) },
 *     },
 *     {
 *       method: 'GET', path: '/v1/users/me/settings', status: [200], summary: 'Own settings',
 *       document: `query MySettings { me { result: settings { locale timeZone } } }`,
 *     },
 *   ],
 * };
 *
 * export default table;
 * ```
 */
import type { Slug } from '../events/slugs.js';

/** Wire names whose camelCase form is the input's field, or wire name -> field where they differ: `{ clientId: 'id' }`. */
export type Names = readonly string[] | Readonly<Record<string, string>>;

/** Where a variable comes from. `name` is the wire name; the GraphQL variable's name is the key in `variables`. */
export type Source =
  | { from: 'body' }
  | { from: 'body'; name: string }
  | { from: 'path'; name: string }
  | { from: 'query'; name: string }
  | { from: 'header'; name: string }
  | { from: 'constant'; value: unknown }
  | { from: 'input'; body?: boolean; path?: Names; query?: Names; constant?: Readonly<Record<string, unknown>> };

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A file in a form: the form's field, which is the body's key as well, and the most bytes it may have. */
export interface Upload {
  field: string;
  maxBytes: number;
}

/** One documented path. A row that does not fit the schema stops the start, with the reason. */
export interface Route {
  method: Method;
  /** Relative to the service and below `/v1/`, for example `/v1/retest-cycles/{id}`. */
  path: string;
  /** Documented success statuses, the default one first; `ctx.status` chooses among them. 204 has no body. */
  status: readonly [number, ...number[]];
  /** GraphQL document with exactly one named operation, whose answer is aliased `result`. The name, in camelCase, is the `operationId`. */
  document: string;
  /** A variable that is not named here must be `first` or `after` of a list. */
  variables?: Readonly<Record<string, Source>>;
  /** One line, for OpenAPI. */
  summary: string;
  /** `Location` of a created resource relative to the service; `{id}` is taken from the answer, else from the path. */
  location?: string;
  /** Key of the answer that holds an absolute address: the success is a 302 to it, without a body. */
  redirect?: string;
  /** `first` and `after` come from `?limit=&cursor=`. Default: true where the answer is a connection and the document has `$first`. */
  list?: boolean;
  /** Keys of the answer that are left out where null, because not every caller may know of them (`email` of a user). */
  omitNull?: readonly string[];
  /** The answer bears an `ETag` of its bytes, and `If-None-Match` is answered with 304. */
  etag?: boolean;
  /** Largest body, bytes; default 1 MiB. */
  bodyLimit?: number;
  /** A file may come as `multipart/form-data`, too; its bytes become the base64 text of a body key. */
  upload?: Upload;
  /** Bodies as on the wire, for OpenAPI. */
  example?: { request?: unknown; response?: unknown };
  /** What this path's own refusals mean, by status, for OpenAPI: `{ 402: 'The processor declined' }`. */
  problems?: Readonly<Record<number, string>>;
}

export interface RouteTable {
  service: Slug;
  routes: readonly Route[];
}

/** The whole JSON body is the variable (usually `input`). A missing body counts as `{}`. */
export const body = (): Source => ({ from: 'body' });
/** One key of the JSON body. */
export const bodyKey = (name: string): Source => ({ from: 'body', name });
/** A `{name}` of the path. */
export const path = (name: string): Source => ({ from: 'path', name });
/** A query parameter, coerced by the variable's type; a list may be repeated or comma-separated. */
export const query = (name: string): Source => ({ from: 'query', name });
/** A request header, in any case. */
export const header = (name: string): Source => ({ from: 'header', name });
/** A fixed GraphQL value; enum values in their GraphQL form. */
export const constant = (value: unknown): Source => ({ from: 'constant', value });
/** An input object made of the body (unless `body: false`), the named path and query parameters, and fixed fields. */
export const input = (parts: Omit<Extract<Source, { from: 'input' }>, 'from'> = {}): Source => ({ from: 'input', ...parts });
