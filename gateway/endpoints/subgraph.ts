import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DocumentNode, GraphQLError } from 'graphql';
import { fail, Problem } from '../../runtime/request/errors.js';
import { problemHeaders, toProblem } from '../../runtime/http/server.js';
import type { RunningService } from '../../runtime/running-service.js';
import type { Authenticate } from '../../runtime/service.js';
import { answerOf, errorAnswer, formatError, SHOWN_TO_GATEWAYS } from './graphql-errors.js';
import { CheckedDocuments } from '../limits/checked-documents.js';
import { checkDocument, Refusal } from '../limits/validation.js';

/** Parsed and validated documents kept for one subgraph; they come from plans, so they repeat. */
const MAX_DOCUMENTS = 5_000;

/** Largest body, bytes: a laboratory report of 20 MiB as base64, and 1.3 MiB for the rest. Source: clinical 4. */
const BODY_LIMIT = 28 * 1024 * 1024;

interface Body {
  query?: unknown;
  variables?: Record<string, unknown> | null;
  operationName?: string | null;
}

/** @throws Problem invalid_request with the errors of the document, values included, against the subgraph's schema. */
function checkAgainst(host: RunningService, document: DocumentNode): DocumentNode {
  const { invalidValues } = checkDocument(host.schema, document, host.config.introspection);
  if (invalidValues.length) throw new Refusal(invalidValues);
  return document;
}

async function answer(
  host: RunningService,
  documents: CheckedDocuments<DocumentNode>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { query, variables, operationName } = (request.body ?? {}) as Body;
  if (typeof query !== 'string') fail('invalid_request', 'The body has no query');
  const result = await host.execute({ document: documents.get(query as string), variables, operationName }, request.info);
  const errors = result.errors?.map(error => formatError((error as GraphQLError).toJSON(), SHOWN_TO_GATEWAYS));
  const { status, headers } = answerOf(result.data, errors);
  if (request.info.status !== null) reply.header('x-result-status', request.info.status);
  return reply
    .status(status)
    .headers(headers)
    .type('application/json')
    .send(JSON.stringify({ data: result.data ?? null, ...(errors && { errors }) }));
}

/** The client's address as the gateway forwards it, so that clients do not share a rate limit. It is used for nothing else, so it is not verified. */
function callerAddress(request: FastifyRequest): string {
  const forwarded = request.headers['x-forwarded-for'];
  return typeof forwarded === 'string' && isIP(forwarded) ? forwarded : request.ip;
}

/**
 * `/<slug>/graphql`: a subgraph for gateways in other processes. It verifies the token itself and trusts no identity header; without a token
 * only public operations answer.
 */
export function subgraphRoute(app: FastifyInstance, host: RunningService, authenticate: Authenticate): void {
  const documents = new CheckedDocuments(document => checkAgainst(host, document), MAX_DOCUMENTS);
  app.post(`/${host.slug}/graphql`, { bodyLimit: BODY_LIMIT }, async (request, reply) => {
    try {
      await authenticate(request);
      request.info = { ...request.info, ip: callerAddress(request) };
      return await answer(host, documents, request, reply);
    } catch (error) {
      const problem: Problem = toProblem(error, host.log);
      return reply.status(problem.status).headers(problemHeaders(problem)).type('application/json').send(errorAnswer(problem));
    }
  });
}
