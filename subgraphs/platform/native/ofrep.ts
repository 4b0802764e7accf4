import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { checkAccess, ruleOf } from '../../../runtime/access/access.js';
import { problemHeaders, sendProblem, toProblem } from '../../../runtime/http/server.js';
import type { Problem } from '../../../runtime/request/errors.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { evaluateFlag, type FlagEvaluation, type FlagSnapshot, type FlagTarget } from '../../../runtime/flags/evaluation.js';
import type { Authenticate, NativePath } from '../../../runtime/service.js';
import { plugin } from '../../../runtime/http/plugin.js';
import { ownAttributes, targetFor } from '../queries/evaluation.js';
import { currentFlags, readerOf, readSnapshot } from '../queries/snapshot.js';
import { readOfrepContext, type OfrepContext } from '../rules/ofrep.js';

/** OpenFeature Remote Evaluation Protocol 0.3. Its errors have its own form; those of access are problems. Source: platform 4. */
const RULE = ruleOf({ service: '*', user: '*' });

const success = ({ key, value, reason, variant, revision }: FlagEvaluation): object => ({
  key,
  value,
  reason,
  variant,
  metadata: { revision },
});

const DETAILS: Record<string, string> = {
  FLAG_NOT_FOUND: 'There is no such flag',
  TARGETING_KEY_MISSING: 'The flag has a rollout, and targetingKey or brandId is missing',
  GENERAL: 'The flag cannot be evaluated',
};

const failure = ({ key, errorCode }: Pick<FlagEvaluation, 'key' | 'errorCode'>): object => ({
  key,
  errorCode,
  errorDetails: DETAILS[errorCode!] ?? errorCode,
});

const statusOf = ({ errorCode }: FlagEvaluation): number => (errorCode === null ? 200 : errorCode === 'FLAG_NOT_FOUND' ? 404 : 400);

const answerOf = (evaluation: FlagEvaluation): object => (evaluation.errorCode === null ? success(evaluation) : failure(evaluation));

/** The target of a context for some flags; a user asks for itself, and its token and entitlements complete the attributes. */
async function targetOf({ ctx, context }: Asked, flags: FlagSnapshot, keys: readonly string[]): Promise<FlagTarget> {
  const { userId, brandId, attributes } = context;
  if (ctx.caller.kind === 'service') return targetFor(brandId, userId, attributes);
  const own = await ownAttributes(ctx, flags, keys);
  return targetFor(brandId ?? ctx.caller.brandId, ctx.caller.userId, { ...attributes, ...own });
}

interface Asked {
  ctx: Context;
  context: OfrepContext;
}

/** Access, then the context. Null: the answer has been sent. */
async function admit(host: ServiceHost, authenticate: Authenticate, request: FastifyRequest, reply: FastifyReply): Promise<Asked | null> {
  const info = await authenticate(request);
  checkAccess(RULE, info.caller);
  host.revocations.requireFresh(RULE, info.caller);
  const ctx = await host.context(info);
  const { key } = request.params as { key?: string };
  const read = readOfrepContext(request.body, info.caller.kind === 'user' ? info.caller.userId : null);
  if ('errorCode' in read) {
    void reply.status(400).send({ ...(key !== undefined && { key }), ...read });
    return null;
  }
  return { ctx, context: read };
}

/** Flags of which a service is owner or reader, all of them with the scope of the platform, and all for users. */
async function flagsFor(ctx: Context): Promise<FlagSnapshot> {
  const reader = ctx.caller.kind === 'user' ? null : readerOf(ctx);
  if (reader === null) return currentFlags(ctx);
  const { revision, flags } = await readSnapshot(ctx, reader);
  return { revision, flags: new Map(flags.map(flag => [flag.key, flag])) };
}

/** All flags in use that concern a caller, for one target. */
async function evaluateAll(asked: Asked): Promise<object> {
  const mine = await flagsFor(asked.ctx);
  const all = await currentFlags(asked.ctx); // prerequisites may be flags that the caller does not read
  const keys = [...mine.flags.values()].filter(({ archived }) => !archived).map(({ key }) => key);
  const who = await targetOf(asked, all, keys);
  return { flags: keys.map(key => answerOf(evaluateFlag(all, key, who))), metadata: { revision: all.revision } };
}

const etagOf = (text: string): string => `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;

function sendBulk(request: FastifyRequest, reply: FastifyReply, body: object): FastifyReply {
  const text = JSON.stringify(body);
  const etag = etagOf(text);
  reply.headers({ etag, 'cache-control': 'private, no-cache', vary: 'Authorization' });
  if (request.headers['if-none-match'] === etag) return reply.status(304).send();
  return reply.type('application/json; charset=utf-8').send(text);
}

/** Body of an answer to a request that cannot be read, or of one that failed; null for what a problem says: access, and what is not here. */
function errorOf(problem: Problem, request: FastifyRequest): object | null {
  const { key } = (request.params ?? {}) as { key?: string };
  if (problem.status >= 500) return { errorDetails: problem.message };
  if (![400, 413, 415].includes(problem.status)) return null;
  return { ...(key !== undefined && { key }), errorCode: 'PARSE_ERROR', errorDetails: problem.message };
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply, host: ServiceHost): FastifyReply {
  const problem = toProblem(error, host.log);
  const body = errorOf(problem, request);
  return body ? reply.status(problem.status).headers(problemHeaders(problem)).send(body) : sendProblem(reply, problem);
}

/** `POST /platform/ofrep/v1/evaluate/flags/{key}` and `/flags`. */
export async function serveOfrep(app: FastifyInstance, host: ServiceHost, authenticate: Authenticate): Promise<void> {
  await app.register(
    plugin('ofrep', async scope => {
      scope.setErrorHandler((error, request, reply) => sendError(error, request, reply, host));
      routes(scope, host, authenticate);
    }),
  );
}

function routes(app: FastifyInstance, host: ServiceHost, authenticate: Authenticate): void {
  app.post('/platform/ofrep/v1/evaluate/flags/:key', async (request, reply) => {
    const asked = await admit(host, authenticate, request, reply);
    if (asked === null) return reply;
    const { key } = request.params as { key: string };
    const flags = await currentFlags(asked.ctx);
    const evaluation = evaluateFlag(flags, key, await targetOf(asked, flags, [key]));
    return reply.status(statusOf(evaluation)).send(answerOf(evaluation));
  });
  app.post('/platform/ofrep/v1/evaluate/flags', async (request, reply) => {
    const asked = await admit(host, authenticate, request, reply);
    return asked === null ? reply : sendBulk(request, reply, await evaluateAll(asked));
  });
}

const CONTEXT = {
  type: 'object',
  properties: {
    context: {
      type: 'object',
      properties: {
        targetingKey: { type: 'string', format: 'uuid', description: 'The user.' },
        brandId: { type: 'string', format: 'uuid' },
        ...Object.fromEntries(['country', 'locale', 'tier', 'client', 'appVersion'].map(name => [name, { type: 'string' }])),
        role: { type: 'array', items: { type: 'string' } },
      },
    },
  },
};
const EVALUATION = {
  type: 'object',
  properties: {
    key: { type: 'string' },
    value: { oneOf: [{ type: 'boolean' }, { type: 'string' }] },
    reason: { type: 'string' },
    variant: { type: 'string' },
    metadata: { type: 'object', properties: { revision: { type: 'integer' } } },
    errorCode: { type: 'string' },
    errorDetails: { type: 'string' },
  },
};

const json = (schema: object) => ({ contentType: 'application/json', schema });

export const ofrepPaths: readonly NativePath[] = [
  {
    method: 'POST',
    path: '/ofrep/v1/evaluate/flags/{key}',
    summary: 'Evaluate a flag by the OpenFeature Remote Evaluation Protocol',
    status: 200,
    requestBody: json(CONTEXT),
    response: json(EVALUATION),
  },
  {
    method: 'POST',
    path: '/ofrep/v1/evaluate/flags',
    summary: 'Evaluate all flags by the OpenFeature Remote Evaluation Protocol; 304 by ETag',
    status: 200,
    requestBody: json(CONTEXT),
    response: json({ type: 'object', properties: { flags: { type: 'array', items: EVALUATION }, metadata: { type: 'object' } } }),
  },
];
