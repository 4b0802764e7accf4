/**
 * The REST API: match -> token -> rule -> body -> variables -> execute -> status. No domain word, no code per route.
 * Order of decisions: identity A5. Errors are thrown as problems and rendered by `runtime/http`.
 */
import { setImmediate } from 'node:timers/promises';
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { AccessRule } from '../runtime/access/rules.js';
import { fail, Problem, type Violation } from '../runtime/request/errors.js';
import { isUtf8, sendProblem } from '../runtime/http/server.js';
import type { RequestInfo } from '../runtime/request/request.js';
import type { ServiceDeclaration } from '../runtime/service.js';
import { plugin } from '../runtime/http/plugin.js';
import { parseJson } from './json.js';
import type { WireRequest } from './parameters.js';
import { planTables, type Plan } from './plan.js';
import { invalid, problemOfErrors, type ShownError } from './problem.js';
import { respond, type Extras } from './respond.js';
import type { RouteTable } from './route.js';
import { isMultipart, readUpload } from './upload.js';
import { methodsOf, type KnownPath } from './unmatched.js';

export interface ExecuteResult extends Extras {
  data: Record<string, unknown> | null;
  errors: readonly { message: string; path?: readonly (string | number)[]; extensions?: Record<string, unknown> }[];
}

export interface Operation {
  document: DocumentNode;
  source: string;
  /** The same for every request of a route, so that plans can be kept by it. */
  key: string;
  operationName: string | null;
  variables: Record<string, unknown>;
}

/** Told of each route's operation, so that it can be planned before it is asked for. */
export type Prepare = (operation: Omit<Operation, 'variables'>) => void;

/** Plans all routes on another schema; what it returns puts the new plans in force at once. @throws Error naming a route that does not fit. */
export type Replan = (schema: GraphQLSchema) => Promise<() => void>;

export type Execute = (operation: Operation, request: RequestInfo) => Promise<ExecuteResult>;

export interface RestOptions {
  /** API schema from the supergraph SDL, with `@access` on fields and `@constraint` on inputs. */
  schema: GraphQLSchema;
  tables: readonly RouteTable[];
  /** The operations of the rows are known to be valid in this schema; those of a later one are checked. */
  isChecked?: boolean;
  execute: Execute;
  prepare?: Prepare;
  /** Told how the routes go over to another schema. */
  onReplan?: (replan: Replan) => void;
  /** @throws Problem unauthenticated. Not asked on a public path without a token. */
  authenticate: (request: FastifyRequest) => Promise<RequestInfo>;
  /** Called before the body is read. @throws Problem forbidden, insufficient_scope, step_up_required or unauthenticated. */
  authorize: (rule: AccessRule | null, request: RequestInfo) => Promise<void>;
  /** Their native paths below `/v1/` are known here too, so that a wrong method on one is a 405. */
  services?: readonly Pick<ServiceDeclaration, 'slug' | 'nativePaths'>[];
  /** Adds to an answer to `OPTIONS` of a row what a browser's preflight asks for. */
  preflight?: (request: FastifyRequest, reply: FastifyReply, methods: readonly string[]) => void;
  /** Told of errors that an answer leaves out, because the change is committed. */
  onPartial?: (key: string, errors: readonly ShownError[]) => void;
}

/** A route in the router. Its plan changes when the schema does. */
export interface Row {
  plan: Plan;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    row?: Row;
  }
}

const MERGE_PATCH = 'application/merge-patch+json';

/** `{id}` -> `:id`; a literal colon is doubled for the router. */
const toRouterPath = (pattern: string): string => pattern.replaceAll(':', '::').replace(/\{([^}]+)\}/g, ':$1');

const pathOf = (url: string): string => url.split('?', 1)[0]!;

/** `PATCH` takes merge patch too; no content codings, because a limit on coded bytes is none on the decoded ones. */
function checkMediaType({ route }: Plan, request: FastifyRequest): void {
  const type = request.headers['content-type'] ?? '';
  if (isMultipart(type)) return route.upload ? undefined : fail('unsupported_media_type', 'This path takes no files');
  const isPatchOnly = type.toLowerCase().startsWith(MERGE_PATCH) && request.method !== 'PATCH';
  const coding = request.headers['content-encoding'] ?? 'identity';
  if (isPatchOnly || !isUtf8(type) || coding !== 'identity') fail('unsupported_media_type', 'The body must be uncompressed JSON in UTF-8');
}

/** Steps 2-7: token, kind of token on a `me` path, rules, media type; all before a byte of the body is read. */
async function admit(plan: Plan, options: RestOptions, request: FastifyRequest): Promise<void> {
  const anonymous = plan.isPublic && request.headers.authorization === undefined;
  const info = anonymous ? request.info : await options.authenticate(request);
  request.info = info;
  if (plan.isMe && info.caller.kind === 'service') fail('forbidden', 'A service token has no user to act for on a "me" path');
  for (const rule of plan.rules) await options.authorize(rule, info);
  if (request.method !== 'GET' && request.method !== 'HEAD') checkMediaType(plan, request);
}

/** Step 8. @throws Problem invalid_request with every violation. */
function readVariables(plan: Plan, request: FastifyRequest): Record<string, unknown> {
  const found: Violation[] = [];
  const variables = plan.input.read(request as unknown as WireRequest, found);
  if (found.length > 0) throw invalid(found);
  return variables;
}

function valueAt(data: Record<string, unknown> | null, path: readonly string[]): unknown {
  let value: unknown = data;
  for (const key of path) value = (value as Record<string, unknown> | null | undefined)?.[key];
  return value ?? null;
}

/**
 * A read is whole or an error: any error of the execution is the answer's. A write whose `result` is there is committed, and an error
 * would invite a repetition; so nested fields that failed stay null and the error is only told to `onPartial`.
 * @throws Problem
 */
function resultOf(plan: Plan, { data, errors }: ExecuteResult, options: RestOptions): unknown {
  const result = valueAt(data, plan.resultPath);
  const isStanding = plan.isMutation && result !== null && errors.every(error => (error.path?.length ?? 0) > plan.resultPath.length);
  if (errors.length > 0 && !isStanding) throw problemOfErrors(errors, plan.wirePointer);
  if (errors.length > 0) options.onPartial?.(plan.key, errors);
  if (result === null) fail('not_found', 'Not found');
  return result;
}

function handlerOf(row: Row, options: RestOptions) {
  const { upload } = row.plan.route;
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (upload && isMultipart(request.headers['content-type'])) request.body = await readUpload(request, upload);
    const { plan } = row; // read here, because it changes with the schema
    const { document, source, key, operationName } = plan;
    const operation = { document, source, key, operationName, variables: readVariables(plan, request) };
    const executed = await options.execute(operation, request.info);
    return respond(plan, request, reply, resultOf(plan, executed, options), executed);
  };
}

/** Step 1 for what no route answers, before any body is read. */
function answerUnmatched({ all, ofRows }: Paths, request: FastifyRequest, reply: FastifyReply, options: RestOptions): FastifyReply {
  const path = pathOf(request.url);
  const methods = all(path);
  if (methods.length === 0) return sendProblem(reply, new Problem('not_found', 'There is nothing at this address'));
  reply.header('allow', methods.join(', '));
  if (request.method !== 'OPTIONS')
    return sendProblem(reply, new Problem('method_not_allowed', `${request.method} is not among the methods of this path`));
  if (ofRows(path).length > 0) options.preflight?.(request, reply, methods);
  return reply.code(204).send();
}

/** The router lets `/cycles//stop` match `/cycles/{id}/stop`. */
function hasEmptyName(params: unknown): boolean {
  for (const name in params as Record<string, string>) if ((params as Record<string, string>)[name] === '') return true;
  return false;
}

function addBodyParser(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(['application/json', MERGE_PATCH], { parseAs: 'buffer' }, (_request, bytes, done) => {
    try {
      done(null, parseJson(bytes as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** The methods of a path, without query; none for an unknown one. */
interface Paths {
  all(path: string): string[];
  ofRows(path: string): string[];
}

function pathsOf(plans: readonly Plan[], { services = [] }: RestOptions): Paths {
  const natives = services.flatMap(({ slug, nativePaths = [] }) =>
    nativePaths.map(({ method, path }): KnownPath => ({ method, pattern: `/${slug}${path}` })),
  );
  const rows = plans.map(({ slug, route }): KnownPath => ({ method: route.method, pattern: `/${slug}${route.path}` }));
  return { all: methodsOf([...rows, ...natives]), ofRows: methodsOf(rows) };
}

/** Everything below `/<slug>/v1`: its routes, its body parser, and its own answer to unknown paths and methods. */
function serviceScope(slug: string, rows: readonly Row[], paths: Paths, options: RestOptions): FastifyPluginAsync {
  return plugin(`rest of ${slug}`, async scope => {
    addBodyParser(scope);
    if (rows.some(({ plan }) => plan.route.upload)) await scope.register(multipart);
    scope.addHook('onRequest', async (request, reply) => {
      if (request.is404 || hasEmptyName(request.params)) return answerUnmatched(paths, request, reply, options);
      await admit(request.routeOptions.config.row!.plan, options, request);
      return undefined;
    });
    scope.setNotFoundHandler((request, reply) => answerUnmatched(paths, request, reply, options));
    for (const row of rows) {
      const { method, path, bodyLimit } = row.plan.route;
      const url = toRouterPath(path.replace(/^\/v1/, ''));
      scope.route({ method, url, handler: handlerOf(row, options), config: { row }, ...(bodyLimit !== undefined && { bodyLimit }) });
    }
  });
}

/** Plans of all tables in their order, with requests answered between two tables. */
async function planInTurns(schema: GraphQLSchema, tables: readonly RouteTable[]): Promise<Plan[]> {
  const plans: Plan[] = [];
  for (const table of tables) {
    plans.push(...planTables(schema, [table]));
    await setImmediate();
  }
  return plans;
}

/**
 * The routes of all tables as a plugin for the root of an app made by `createHttp`: `/<slug>/v1/...`.
 * Documents are parsed, checked and compiled here, once. @throws Error naming a route that does not fit the schema.
 */
export function restRoutes(options: RestOptions): FastifyPluginAsync {
  const plans = planTables(options.schema, options.tables, options.isChecked);
  const rows = plans.map(plan => ({ plan }));
  const paths = pathsOf(plans, options);
  options.onReplan?.(async schema => {
    const next = await planInTurns(schema, options.tables);
    return () => rows.forEach((row, at) => (row.plan = next[at]!));
  });
  for (const { document, source, key, operationName } of plans) options.prepare?.({ document, source, key, operationName });
  return plugin('rest', async app => {
    for (const slug of new Set(plans.map(plan => plan.slug)))
      await app.register(
        serviceScope(
          slug,
          rows.filter(({ plan }) => plan.slug === slug),
          paths,
          options,
        ),
        { prefix: `/${slug}/v1` },
      );
  });
}
