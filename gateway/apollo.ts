import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled';
import type { GatewayExecutor, GatewayInterface } from '@apollo/server-gateway-interface';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Kind, OperationTypeNode, type GraphQLSchema, type OperationDefinitionNode } from 'graphql';
import { checkAccess, isMeField, ruleOnNode } from '../runtime/access.js';
import type { Caller } from '../runtime/caller.js';
import { fail, Problem } from '../runtime/errors.js';
import { problemHeaders, toProblem } from '../runtime/http.js';
import type { Logger } from '../runtime/log.js';
import type { FederatedContext } from './data-source.js';
import { keyOf } from './executor.js';
import type { Gateway } from './gateway.js';
import { answerOf, errorAnswer, formatError } from './graphql-errors.js';
import { CheckedDocuments } from './limits.js';

export interface GraphqlFaceOptions {
  gateway: Gateway;
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
        for (const [name, value] of Object.entries(answer.headers)) response.http.headers.set(name, value);
        response.http.headers.set('x-request-id', contextValue.request.id);
      },
    };
  },
};

type SchemaListener = Parameters<GatewayInterface['onSchemaLoadOrUpdate']>[0];

/** The gateway as @apollo/server knows it, with our executor in the stock one's place. It is loaded already, so listeners hear of the schema at `load`. */
function behindSeam({ apiSchema, supergraph, supergraphSdl, executor }: Gateway): GatewayInterface {
  const listeners = new Set<SchemaListener>();
  const run: GatewayExecutor = async ({ document, request, source, operationName, operation, context }) => {
    const { request: info } = context as unknown as FederatedContext;
    if (operation) checkRoots(supergraph, operation, info.caller);
    const result = await executor.execute({ document, source, key: keyOf(source), operationName, variables: request.variables ?? {} }, info);
    return { data: result.data, ...(result.errors.length && { errors: result.errors as never }), ...(result.extensions && { extensions: result.extensions as never }) };
  };
  return {
    load: async () => {
      listeners.forEach(listener => listener({ apiSchema, coreSupergraphSdl: supergraphSdl }));
      return { schema: apiSchema, executor: run };
    },
    onSchemaLoadOrUpdate: listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: async () => undefined,
  };
}

/** Answers what fails before ApolloServer sees the request in GraphQL's form. */
function refuse(reply: FastifyReply, problem: Problem): FastifyReply {
  return reply.status(problem.status).headers(problemHeaders(problem)).type('application/graphql-response+json').send(errorAnswer(problem));
}

/** Batches and over-complex documents stop here; ApolloServer then parses only what passed. */
function preCheck(documents: CheckedDocuments, request: FastifyRequest): void {
  const sent = request.method === 'GET' ? request.query : request.body;
  if (Array.isArray(sent)) fail('invalid_request', 'Batches are not accepted; send one operation per request');
  const { query } = (sent ?? {}) as { query?: unknown };
  if (typeof query === 'string') documents.get(query);
}

/** The public `/graphql` face on @apollo/server: GET for queries, POST, persisted queries, CSRF prevention, limits, masking. */
export async function graphqlFace(app: FastifyInstance, { gateway, authenticate, introspection, log }: GraphqlFaceOptions): Promise<ApolloServer<FederatedContext>> {
  const server = new ApolloServer<FederatedContext>({
    gateway: behindSeam(gateway), introspection, allowBatchedHttpRequests: false, includeStacktraceInErrorResponses: false, stopOnTerminationSignals: false,
    formatError: formatted => formatError(formatted), logger: { debug: () => undefined, info: () => undefined, warn: m => log.warn(m), error: m => log.error(m) },
    plugins: [statusPlugin, ApolloServerPluginLandingPageDisabled()], hideSchemaDetailsFromClientErrors: !introspection,
  });
  await server.start();
  const documents = new CheckedDocuments();
  const handler = fastifyApolloHandler(server, { context: async request => ({ request: request.info }) });
  app.route({
    method: ['GET', 'POST'], url: '/graphql', handler: handler as never,
    preHandler: async (request, reply) => {
      try {
        await authenticate(request);
        preCheck(documents, request);
      } catch (error) {
        await refuse(reply, toProblem(error, log));
      }
    },
  });
  return server;
}

