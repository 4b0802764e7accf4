import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DocumentNode, GraphQLError } from 'graphql';
import { COMPLETE_ANSWER_HEADER, completeAnswerProof, isSubgraphCall } from '../../runtime/access/subgraph-secret.js';
import { fail, type Problem } from '../../runtime/request/errors.js';
import { problemHeaders, toProblem } from '../../runtime/http/server.js';
import { NO_TRACE_HEADER } from '../../runtime/request/request.js';
import type { RunningService } from '../../runtime/running-service.js';
import type { Authenticate } from '../../runtime/service.js';
import { answerOf, errorAnswer, formatError, SHOWN_TO_GATEWAYS } from './graphql-errors.js';
import { CheckedDocuments } from '../limits/checked-documents.js';
import { limitSubgraphCall } from '../limits/subgraph-limits.js';
import { checkDocument, Refusal } from '../limits/validation.js';

/** Parsed and validated documents kept for one subgraph; they come from plans, so they repeat. */
const MAX_DOCUMENTS = 5_000;

/**
 * What a call's body has beside the body that a REST path took, bytes: that one grows at most 4.4-fold from 1 MiB when its numbers are written
 * again (`[9e20,…`), a batch of entities has 1 MiB, a document 64 KiB.
 */
const MORE_BYTES = 6 * 1024 * 1024;

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

/** What is kept for the calls of one subgraph. */
interface Kept {
  readonly documents: CheckedDocuments<DocumentNode>;
  /** Proves to a gateway that an answer is complete; null where there is no secret, so that nobody calls. */
  readonly proof: string | null;
}

async function answer(
  host: RunningService,
  { documents, proof }: Kept,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { query, variables, operationName } = (request.body ?? {}) as Body;
  if (typeof query !== 'string') return fail('invalid_request', 'The body has no query');
  const document = documents.get(query);
  limitSubgraphCall(document, variables ?? {});
  const result = await host.execute({ document, variables, operationName }, request.info);
  const errors = result.errors?.map(error => formatError((error as GraphQLError).toJSON(), SHOWN_TO_GATEWAYS));
  const { status, headers } = answerOf(result.data, errors);
  if (request.info.status !== null) reply.header('x-result-status', request.info.status);
  sayIfNoTrace(request, reply);
  if (proof !== null && result.data && !errors) reply.header(COMPLETE_ANSWER_HEADER, proof);
  return reply
    .status(status)
    .headers(headers)
    .type('application/json')
    .send(JSON.stringify({ data: result.data ?? null, ...(errors && { errors }) }));
}

const sayIfNoTrace = ({ info }: FastifyRequest, reply: FastifyReply): unknown => info.leavesTrace || reply.header(NO_TRACE_HEADER, 'true');

const sendError = (request: FastifyRequest, reply: FastifyReply, error: unknown, { log }: RunningService): FastifyReply => {
  const problem: Problem = toProblem(error, log);
  sayIfNoTrace(request, reply);
  return reply.status(problem.status).headers(problemHeaders(problem)).type('application/json').send(errorAnswer(problem));
};

/**
 * `/<slug>/graphql`: a subgraph for this deployment's gateways. To anybody else it is an unknown path, whose body is not read. Behind the
 * secret it verifies the token itself and trusts no identity header; without a token only public operations answer.
 * @param largestBody that a REST path of the service takes, bytes.
 */
export function subgraphRoute(app: FastifyInstance, host: RunningService, authenticate: Authenticate, largestBody: number): void {
  const { subgraphSecret } = host.config;
  const documents = new CheckedDocuments(document => checkAgainst(host, document), MAX_DOCUMENTS);
  const kept: Kept = { documents, proof: subgraphSecret === null ? null : completeAnswerProof(subgraphSecret) };
  const admit = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    if (!isSubgraphCall(request.headers, subgraphSecret)) return reply.callNotFound();
    return authenticate(request).then(
      () => undefined,
      error => sendError(request, reply, error, host),
    );
  };
  app.post(`/${host.slug}/graphql`, { bodyLimit: largestBody + MORE_BYTES, onRequest: admit }, (request, reply) =>
    answer(host, kept, request, reply).catch(error => sendError(request, reply, error, host)),
  );
}
