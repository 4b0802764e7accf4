import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginCacheControlDisabled, ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import type { GatewayExecutor, GatewayInterface } from '@apollo/server-gateway-interface';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Kind, OperationTypeNode, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { checkAccess, isMeField, ruleOnNode } from '../../runtime/access/access.js';
import type { Caller } from '../../runtime/request/caller.js';
import { fail, Problem } from '../../runtime/request/errors.js';
import { problemHeaders, toProblem } from '../../runtime/http/server.js';
import type { Logger } from '../../runtime/observe/log.js';
import { limitObjects } from '../limits/cost.js';
import type { FederatedContext } from '../sources/data-source.js';
import { keyOf } from '../plans/executor.js';
import type { FrontGateway, Gateways } from '../plans/gateways.js';
import { answerOf, errorAnswer, formatError } from './graphql-errors.js';
import { HotOperations, plainBody, sendResult } from './hot-operations.js';
import { CheckedDocuments, GRAPHQL_BODY_LIMIT, limitVariables } from '../limits/limits.js';

export interface GraphqlFaceOptions {
  gateways: Gateways;
  authenticate: (request: FastifyRequest) => Promise<void>;
  introspection: boolean;
  log: Logger;
}

/** Access to the root fields, before variables are coerced: nobody learns from a 400 what a 403 would hide. Flags are the subgraph's to ask. */
function checkRoots(supergraph: GraphQLSchema, operation: OperationDefinitionNode, caller: Caller): void {
  const type = operation.operation === OperationTypeNode.MUTATION ? supergraph.getMutationType() : supergraph.getQueryType();
  for (const selection of operation.selectionSet.selections) {
    if (selection.kind !== Kind.FIELD || selection.name.value.startsWith('__')) continue;
    checkAccess(ruleOnNode(type?.getFields()[selection.name.value]?.astNode), caller);
    if (caller.kind === 'service' && isMeField(selection.name.value)) fail('forbidden', 'A service token has no user to act for');
  }
}

const statusPlugin: ApolloServerPlugin<FederatedContext> = {
  async requestDidStart() {
    return {
      async willSendResponse({ response, contextValue }) {
        if (response.body.kind !== 'single') return;
        const { data, errors } = response.body.singleResult;
        const answer = answerOf(data, errors);
        if (answer.status !== 200) response.http.status = answer.status;
        for (const [name, value] of Object.entries(answer.headers))
          response.http.headers.set(name, value);
        response.http.headers.set('x-request-id', contextValue.request.id);
      },
    };
  },
};

type SchemaListener = Parameters<GatewayInterface['onSchemaLoadOrUpdate']>[0];

/**
 * The gateway as @apollo/server knows it, with our executor in the stock one's place. It is loaded already, so listeners hear of the
 * schema at `load`, and again at each change. An operation runs on the gateway against which it was validated.
 */
function behindSeam(gateways: Gateways): GatewayInterface {
  const listeners = new Set<SchemaListener>();
  const tell = ({ apiSchema, supergraphSdl }: FrontGateway): void =>
    listeners.forEach(listener => listener({ apiSchema, coreSupergraphSdl: supergraphSdl }));
  gateways.add({ follow: tell });
  const run: GatewayExecutor = async ({ document, request, source, operation, context, schema }) => {
    const { apiSchema, supergraph, shared } = gateways.of(schema);
    const federated = context as unknown as FederatedContext;
    const { request: info } = federated;
    if (operation) {
      checkRoots(supergraph, operation, info.caller);
      limitObjects(apiSchema, document, operation, request.variables ?? {});
    }
    const operationName = request.operationName ?? null; // as it was sent, so that plans and answers are the hot route's too
    const result = await shared.execute({ document, source, key: keyOf(source), operationName, variables: request.variables ?? {} }, info);
    return {
      data: result.data,
      ...(result.errors.length && { errors: result.errors as never }),
      ...(result.extensions && { extensions: result.extensions as never }),
    };
  };
  return {
    load: async () => {
      tell(gateways.current);
      return { schema: gateways.current.apiSchema, executor: run };
    },
    onSchemaLoadOrUpdate: listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: async () => undefined,
  };
}

/** Answers what fails before an operation runs in GraphQL's form. */
function refuse(reply: FastifyReply, problem: Problem, type = 'application/graphql-response+json'): FastifyReply {
  return reply.status(problem.status).headers(problemHeaders(problem)).type(type).send(errorAnswer(problem));
}

/** A gateway with the documents that were seen on it. */
interface HotFace {
  gateway: FrontGateway;
  operations: HotOperations;
}

/** Answers a document that was seen before without ApolloServer's pipeline; null for everything else. Access, limits and errors are the same code. */
async function answerHot(
  { gateway, operations }: HotFace,
  log: Logger,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | null> {
  const body = plainBody(request);
  const found = body && operations.find(body);
  if (!found) return null;
  try {
    const variables = body.variables ?? {};
    checkRoots(gateway.supergraph, found.operation, request.info.caller);
    limitObjects(gateway.apiSchema, found.federated.document, found.operation, variables);
    return sendResult(reply, await gateway.shared.execute({ ...found.federated, variables }, request.info));
  } catch (error) {
    return refuse(reply, toProblem(error, log), 'application/json; charset=utf-8');
  }
}

/** Variables of a GET, which are text; what is no JSON is ApolloServer's to refuse. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Batches and over-complex documents stop here; ApolloServer then parses only what passed. */
function preCheck(documents: CheckedDocuments, request: FastifyRequest): void {
  const sent = request.method === 'GET' ? request.query : request.body;
  if (Array.isArray(sent)) fail('invalid_request', 'Batches are not accepted; send one operation per request');
  const { query, variables } = (sent ?? {}) as { query?: unknown; variables?: unknown };
  limitVariables(typeof variables === 'string' ? parsed(variables) : variables);
  if (typeof query === 'string') documents.get(query);
}

/** The public `/graphql` face on @apollo/server: GET for queries, POST, persisted queries, CSRF prevention, limits, masking. */
export async function graphqlFace(
  app: FastifyInstance,
  { gateways, authenticate, introspection, log }: GraphqlFaceOptions,
): Promise<ApolloServer<FederatedContext>> {
  const server = new ApolloServer<FederatedContext>({
    gateway: behindSeam(gateways),
    introspection,
    allowBatchedHttpRequests: false,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    formatError: formatted => formatError(formatted),
    logger: { debug: () => undefined, info: () => undefined, warn: m => log.warn(m), error: m => log.error(m) },
    plugins: [statusPlugin, ApolloServerPluginLandingPageDisabled(), ApolloServerPluginCacheControlDisabled()],
    hideSchemaDetailsFromClientErrors: !introspection,
  });
  await server.start();
  const documents = new CheckedDocuments();
  const hotFace = (gateway: FrontGateway): HotFace => ({
    gateway,
    operations: new HotOperations(gateway, source => documents.get(source)),
  });
  let hot = hotFace(gateways.current);
  gateways.add({ follow: next => (hot = hotFace(next)) });
  const handler = fastifyApolloHandler(server, { context: async request => ({ request: request.info }) });
  app.route({
    method: ['GET', 'POST'],
    url: '/graphql',
    bodyLimit: GRAPHQL_BODY_LIMIT,
    handler: handler as never,
    preHandler: async (request, reply) => {
      try {
        await authenticate(request);
        preCheck(documents, request);
        return (await answerHot(hot, log, request, reply)) ?? undefined;
      } catch (error) {
        return refuse(reply, toProblem(error, log));
      }
    },
  });
  return server;
}
