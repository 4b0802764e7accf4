import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginCacheControlDisabled, ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { problemHeaders, toProblem } from '../../runtime/http/server.js';
import type { Logger } from '../../runtime/observe/log.js';
import { fail, type Problem } from '../../runtime/request/errors.js';
import type { Authenticate } from '../../runtime/service.js';
import { CheckedDocuments } from '../limits/checked-documents.js';
import { GRAPHQL_BODY_LIMIT, limitVariables } from '../limits/limits.js';
import type { Gateways, ServingGateway } from '../plans/gateways.js';
import type { FederatedContext } from '../plans/subgraph-source.js';
import { apolloGateway } from './apollo-gateway.js';
import { answerOf, errorAnswer, formatError } from './graphql-errors.js';
import { HotOperations, plainBody, sendResult } from './hot-operations.js';
import { checkOperation } from './operation-checks.js';

interface GraphqlOptions {
  gateways: Gateways;
  authenticate: Authenticate;
  introspection: boolean;
  log: Logger;
}

/** Sets the status and headers of @apollo/server's answers. */
const statusPlugin: ApolloServerPlugin<FederatedContext> = {
  async requestDidStart() {
    return {
      async willSendResponse({ response, contextValue }) {
        if (response.body.kind !== 'single') return;
        const { data, errors } = response.body.singleResult;
        const { status, headers } = answerOf(data, errors);
        if (status !== 200) response.http.status = status;
        for (const [name, value] of Object.entries(headers)) response.http.headers.set(name, value);
        response.http.headers.set('x-request-id', contextValue.request.id);
      },
    };
  },
};

const JSON_TYPE = 'application/json; charset=utf-8';
const GRAPHQL_TYPE = 'application/graphql-response+json';

/** Answers a request that failed before its operation ran. */
const sendGraphqlProblem = (reply: FastifyReply, problem: Problem, type: string): FastifyReply =>
  reply.status(problem.status).headers(problemHeaders(problem)).type(type).send(errorAnswer(problem));

/** A gateway and the documents that were validated on it. */
interface HotGateway {
  gateway: ServingGateway;
  operations: HotOperations;
}

/** Answers a document that came before without @apollo/server's pipeline, with the same checks and errors. Null: @apollo/server has to answer. */
async function answerHot(
  { gateway, operations }: HotGateway,
  log: Logger,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | null> {
  const body = plainBody(request);
  const hot = body && operations.find(body);
  if (!hot) return null;
  try {
    const variables = body.variables ?? {};
    checkOperation(gateway, hot.prepared.document, hot.operation, variables, request.info.caller);
    return sendResult(reply, await gateway.clientExecutor.execute({ ...hot.prepared, variables }, request.info));
  } catch (error) {
    return sendGraphqlProblem(reply, toProblem(error, log), JSON_TYPE);
  }
}

/** The variables of a GET, which are text. Invalid JSON is left to @apollo/server. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Fails for batches and for documents and variables beyond the limits, before @apollo/server parses them. @throws Problem invalid_request */
function limitRequest(documents: CheckedDocuments, request: FastifyRequest): void {
  const sent = request.method === 'GET' ? request.query : request.body;
  if (Array.isArray(sent)) fail('invalid_request', 'Batches are not accepted; send one operation per request');
  const { query, variables } = (sent ?? {}) as { query?: unknown; variables?: unknown };
  limitVariables(typeof variables === 'string' ? parsed(variables) : variables);
  if (typeof query === 'string') documents.get(query);
}

const apolloServer = ({ gateways, introspection, log }: GraphqlOptions): ApolloServer<FederatedContext> =>
  new ApolloServer<FederatedContext>({
    gateway: apolloGateway(gateways),
    introspection,
    allowBatchedHttpRequests: false,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    formatError: formatted => formatError(formatted),
    logger: { debug: () => undefined, info: () => undefined, warn: m => log.warn(m), error: m => log.error(m) },
    plugins: [statusPlugin, ApolloServerPluginLandingPageDisabled(), ApolloServerPluginCacheControlDisabled()],
    hideSchemaDetailsFromClientErrors: !introspection,
  });

/** `/graphql` on @apollo/server: GET for queries, POST, persisted queries, CSRF prevention, limits, masked errors. */
export async function graphqlEndpoint(app: FastifyInstance, options: GraphqlOptions): Promise<ApolloServer<FederatedContext>> {
  const { gateways, authenticate, log } = options;
  const server = apolloServer(options);
  await server.start();
  const documents = new CheckedDocuments();
  const hotGateway = (gateway: ServingGateway): HotGateway => ({
    gateway,
    operations: new HotOperations(gateway, source => documents.get(source)),
  });
  let hot = hotGateway(gateways.current);
  gateways.add({ follow: next => (hot = hotGateway(next)) });
  const handler = fastifyApolloHandler(server, { context: async request => ({ request: request.info }) });
  app.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    bodyLimit: GRAPHQL_BODY_LIMIT,
    handler: handler as never,
    preHandler: async (request, reply) => {
      try {
        await authenticate(request);
        limitRequest(documents, request);
        return (await answerHot(hot, log, request, reply)) ?? undefined;
      } catch (error) {
        return sendGraphqlProblem(reply, toProblem(error, log), GRAPHQL_TYPE);
      }
    },
  });
  return server;
}
