/**
 * A documented REST path as a row of data. A row gives what cannot be derived: method, path, the field that answers, the fields of the
 * answer, a summary. The rest comes from the supergraph (`derive.ts`); what the default does not fit is named as an exception. No row
 * has code of its own. Source: architecture 3, conventions 5; what is derived for each row is listed in `rows.txt`.
 *
 * ```ts
 * const table: RouteTable = {
 *   service: 'clinical',
 *   routes: [
 *     // query RetestCycles($patientId: ID, …, $first: Int, $after: String): ?patient_id=&…&limit=&cursor=
 *     get('/v1/retest-cycles', 'retestCycles', CYCLE, 'List re-test cycles'),
 *     // query RetestCycle($id: ID!)
 *     get('/v1/retest-cycles/{id}', 'retestCycle', CYCLE, 'Read a re-test cycle'),
 *     // mutation StartRetestCycle($input: StartRetestCycleInput!): the body; Location is the row above
 *     post('/v1/retest-cycles', 'startRetestCycle', CYCLE, 'Start a re-test cycle', { status: [201, 200] }),
 *     // mutation StopIntervention($input: ChangeInterventionInput!): the body less `id` and `action`
 *     post('/v1/protocols/{id}/stop', 'changeIntervention', INTERVENTION, 'Stop an intervention', {
 *       as: 'stopIntervention',
 *       constant: { action: 'STOP' },
 *     }),
 *     // query Observation($id: ID!)
 *     get('/v1/biomarkers/{observation_id}', 'observation', OBSERVATION, 'Read a result', { path: { observation_id: 'id' } }),
 *     // query MySettings { me { result: settings { … } } }
 *     get('/v1/users/me/settings', 'me.settings', SETTINGS, 'Read the own settings'),
 *   ],
 * };
 *
 * export default table;
 * ```
 */
import type { Slug } from '../events/slugs.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Name on the wire -> argument or input field: `{ observation_id: 'id' }`. */
export type Names = Readonly<Record<string, string>>;

/** A success status, or several, the default one first; `ctx.status` chooses among them. 204 has no body. */
export type Status = number | readonly [number, ...number[]];

/** A file in a form: the form's field, which is the body's key as well, and the most bytes it may have. */
export interface Upload {
  field: string;
  maxBytes: number;
}

/** How a path answers, where the default does not fit, and what OpenAPI shows of it. */
interface Answering {
  /** Default: 302 of a redirect, 204 of a DELETE, else 200. */
  status?: Status;
  /**
   * `Location` of a 201 or 202 relative to the service; `{id}` is taken from the answer, else from the path.
   * Default: the table's GET row that reads one `{item}` below the path, where the answer has what it needs.
   */
  location?: string;
  /** Key of the answer that holds an absolute address: the success is a 302 to it, without a body. */
  redirect?: string;
  /** Keys of the answer that are left out where null, because not every caller may know of them (`email` of a user). */
  omitNull?: readonly string[];
  /** The answer bears an `ETag` of its bytes, and `If-None-Match` is answered with 304. */
  etag?: boolean;
  /** Headers of the request by which an answer with an ETag differs. Default: `Authorization`. */
  vary?: string;
  /** Key of the answer with its language, and the query parameter with that of a list: `Content-Language`. */
  language?: string;
  /** Path, relative to the service, to which a chosen 301 leads: `{key}` is taken from the answer. Its query is the request's, its body empty. */
  moved?: string;
  /** Seconds for which anybody may keep the answer; of a public path with an ETag, whose answer does not depend on the caller. */
  maxAge?: number;
  /** Key of the answer with a list of plain rows, which is the answer to `Accept: text/csv`. */
  csv?: string;
  /** Largest body, bytes; default 1 MiB. */
  bodyLimit?: number;
  /** A file may come as `multipart/form-data`, too; its bytes become the base64 text of a body key. */
  upload?: Upload;
  /** Bodies as on the wire. */
  example?: { request?: unknown; response?: unknown };
  /** What this path's own errors mean, by status: `{ 402: 'The processor declined' }`. */
  problems?: Readonly<Record<number, string>>;
}

/** How an operation and its variables differ from what is derived. */
interface Asking {
  /** The operationId. Default: of a GET the fields with `me` as `my` (`user.badges` -> `userBadges`), else the root field. */
  as?: string;
  /** Fixed GraphQL values of arguments or input fields; enum values in their GraphQL form. */
  constant?: Readonly<Record<string, unknown>>;
  /** Arguments and input fields that callers cannot give. */
  omit?: readonly string[];
  /**
   * Whether a body is read. Default: of POST, PUT and PATCH, where something is left for it. False leaves out what it would give;
   * true takes one without keys, and lets a DELETE have one.
   */
  body?: boolean;
  /** Field of `input` whose own fields are keys of the body, beside those of `input`. */
  spread?: string;
}

/** What an author adds to a row. */
export interface Exceptions extends Answering, Asking {
  /** See {@link Route.pathNames}. */
  path?: Names;
  /** See {@link Route.queryNames}. */
  query?: Names;
}

/** One documented path. A row that does not fit the schema stops the start, with the reason. */
export interface Route extends Answering, Asking {
  method: Method;
  /** Relative to the service, for example `/v1/retest-cycles/{id}`. */
  path: `/v1/${string}`;
  /** The field whose value is the answer; below a root field with dots: `me.settings`. */
  field: string;
  /** Fields of the answer, or of its nodes where it is a connection; null where it has none. They are the shape of the response. */
  selection: string | null;
  /** One line, for OpenAPI. */
  summary: string;
  /** Parameters of the path whose argument or input field has another name. */
  pathNames: Names;
  /** The same of the query string; such a field is no key of the body. */
  queryNames: Names;
}

export interface RouteTable {
  service: Slug;
  routes: readonly Route[];
}

type RowBuilder = (path: Route['path'], field: string, selection: string | null, summary: string, exceptions?: Exceptions) => Route;

const row =
  (method: Method): RowBuilder =>
  (path, field, selection, summary, { path: pathNames = {}, query: queryNames = {}, ...exceptions } = {}) => ({
    method,
    path,
    field,
    selection,
    summary,
    pathNames,
    queryNames,
    ...exceptions,
  });

export const get = row('GET');
export const post = row('POST');
export const put = row('PUT');
export const patch = row('PATCH');
export const del = row('DELETE');

/** Whether the path is for a user's own data. Source: identity A6. */
export const isMe = ({ path }: Route): boolean => path.split('/').includes('me');

/** Whether arguments come from a body; else they come from the query string. */
export const hasBody = ({ method, body }: Route): boolean => body === true || (method !== 'GET' && method !== 'DELETE');

/** Names of the `{parameters}` of a path. */
export const parametersIn = (path: string): string[] => [...path.matchAll(/\{([^}]+)\}/g)].map(match => match[1]!);

/** A row that does not fit the schema. @throws Error, to which the plan adds the row's name. */
export function misfit(reason: string): never {
  throw new Error(reason);
}
