import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import { unwrapResolverError } from '@apollo/server/errors';
import { ApolloServerPluginCacheControlDisabled, ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLFormattedError } from 'graphql';
import { problemHeaders, toProblem } from '../../runtime/http/server.js';
import { subjectOf, type Logger } from '../../runtime/observe/log.js';
import type { Problem } from '../../runtime/request/errors.js';
import type { Authenticate } from '../../runtime/service.js';
import { CheckedDocuments } from '../limits/checked-documents.js';
import { GRAPHQL_BODY_LIMIT, limitVariables } from '../limits/limits.js';
import { checkDocument, type CheckedDocument } from '../limits/validation.js';
import type { Gateways, ServingGateway } from '../plans/gateways.js';
import type { FederatedContext } from '../plans/subgraph-source.js';
import { apolloGateway } from './apollo-gateway.js';
import { answerOf, errorAnswer, formatError, logUnknown } from './graphql-errors.js';
import { checkPersistedQuery, dropEmptyName, parametersOf, PREFLIGHTED, requirePreflight } from './graphql-requests.js';
import { HotOperations, plainBody, sendResult } from './hot-operations.js';
import { checkOperation, refuseValues } from './operation-checks.js';

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

/** Media type of an answer to a request that failed before its operation ran. */
const typeFor = ({ headers }: FastifyRequest): string =>
  headers.accept?.includes('application/graphql-response+json') ? 'application/graphql-response+json' : 'application/json; charset=utf-8';

/** Answers a request that failed before its operation ran. */
const sendGraphqlProblem = (request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply =>
  reply.status(problem.status).headers(problemHeaders(problem)).type(typeFor(request)).send(errorAnswer(problem));

/** The documents that were checked on a gateway. */
interface GatewayDocuments {
  documents: CheckedDocuments<CheckedDocument>;
  operations: HotOperations;
}

/** The documents of each gateway. */
function documentsByGateway(introspection: boolean): (gateway: ServingGateway) => GatewayDocuments {
  const known = new WeakMap<ServingGateway, GatewayDocuments>();
  return gateway => {
    let found = known.get(gateway);
    if (!found) {
      const documents = new CheckedDocuments(document => checkDocument(gateway.apiSchema, document, introspection));
      known.set(gateway, (found = { documents, operations: new HotOperations(documents) }));
    }
    return found;
  };
}

/** Answers a document that came before without @apollo/server's pipeline, with the same checks and errors. Null: @apollo/server has to answer. */
async function answerHot(
  gateway: ServingGateway,
  operations: HotOperations,
  { request, reply, log }: { request: FastifyRequest; reply: FastifyReply; log: Logger },
): Promise<FastifyReply | null> {
  const body = plainBody(request);
  const hot = body && operations.find(body);
  if (!hot) return null;
  const variables = body.variables ?? {};
  checkOperation(gateway, hot.document, hot.operation, variables, request.info.caller);
  const refused = refuseValues(gateway, hot, hot.operation, variables);
  return sendResult(reply, refused ?? (await gateway.clientExecutor.execute({ ...hot.prepared, variables }, request.info)), log);
}

/** Fails for batches and for documents and variables beyond the limits, before @apollo/server parses them. @throws Problem invalid_request */
function limitRequest(documents: CheckedDocuments<CheckedDocument>, request: FastifyRequest): void {
  const { query, variables, extensions } = parametersOf(request);
  checkPersistedQuery(extensions, query);
  limitVariables(variables);
  if (typeof query === 'string') documents.get(query);
}

/** An error of @apollo/server or of the planner, which no service has logged, is logged. */
function formatAndLog(error: unknown, formatted: GraphQLFormattedError, log: Logger): GraphQLFormattedError {
  logUnknown(formatted, unwrapResolverError(error), log);
  return formatError(formatted);
}

/** @apollo/server without validation: every document was checked before it comes here, and is looked up where it runs. */
const apolloServer = ({ gateways, log }: GraphqlOptions, documentsOf: (gateway: ServingGateway) => GatewayDocuments) =>
  new ApolloServer<FederatedContext>({
    gateway: apolloGateway({ gateways, documentsOf: gateway => documentsOf(gateway).documents, log }),
    dangerouslyDisableValidation: true,
    allowBatchedHttpRequests: false,
    csrfPrevention: { requestHeaders: PREFLIGHTED },
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    formatError: (formatted, error) => formatAndLog(error, formatted, log),
    logger: { debug: () => undefined, info: () => undefined, warn: m => log.warn(subjectOf(m)), error: m => log.error(subjectOf(m)) },
    plugins: [statusPlugin, ApolloServerPluginLandingPageDisabled(), ApolloServerPluginCacheControlDisabled()],
  });

/** `/graphql` on @apollo/server: GET for queries, POST, persisted queries, CSRF prevention, limits, masked errors. */
export async function graphqlEndpoint(app: FastifyInstance, options: GraphqlOptions): Promise<ApolloServer<FederatedContext>> {
  const { gateways, authenticate, introspection, log } = options;
  const documentsOf = documentsByGateway(introspection);
  const server = apolloServer(options, documentsOf);
  await server.start();
  const handler = fastifyApolloHandler(server, { context: async request => ({ request: request.info }) });
  app.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    bodyLimit: GRAPHQL_BODY_LIMIT,
    handler: handler as never,
    preHandler: async (request, reply) => {
      try {
        await authenticate(request);
        requirePreflight(request);
        dropEmptyName(request);
        const gateway = gateways.current;
        const { documents, operations } = documentsOf(gateway);
        limitRequest(documents, request);
        return (await answerHot(gateway, operations, { request, reply, log })) ?? undefined;
      } catch (error) {
        return sendGraphqlProblem(request, reply, toProblem(error, log));
      }
    },
  });
  return server;
}
