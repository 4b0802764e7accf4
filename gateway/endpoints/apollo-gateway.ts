import type { GatewayExecutor, GatewayInterface } from '@apollo/server-gateway-interface';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { Logger } from '../../runtime/observe/log.js';
import { fail } from '../../runtime/request/errors.js';
import type { CheckedDocuments } from '../limits/checked-documents.js';
import type { CheckedDocument } from '../limits/validation.js';
import { keyOf } from '../plans/executor.js';
import type { Gateways, ServingGateway } from '../plans/gateways.js';
import type { FederatedContext } from '../plans/subgraph-source.js';
import { errorsOf } from './graphql-errors.js';
import { checkOperation, refuseValues } from './operation-checks.js';

type SchemaListener = Parameters<GatewayInterface['onSchemaLoadOrUpdate']>[0];

interface Setting {
  gateways: Gateways;
  /** The checked documents of a gateway. */
  documentsOf(gateway: ServingGateway): CheckedDocuments<CheckedDocument>;
  log: Logger;
}

const asError = (error: GraphQLFormattedError): GraphQLError =>
  error instanceof GraphQLError ? error : new GraphQLError(error.message, { path: error.path, extensions: error.extensions });

const whyNoOperation = (name: string | undefined): string =>
  name === undefined ? 'The document has several operations; name one by operationName' : 'The document has no operation of this name';

/** Runs an operation on the gateway of the schema. The document is ours, because @apollo/server's is not validated. */
const executeOn =
  ({ gateways, documentsOf, log }: Setting): GatewayExecutor =>
  async ({ request, source, operation, context, schema }) => {
    const gateway = gateways.of(schema);
    const checked = documentsOf(gateway).get(source);
    if (!operation) return fail('invalid_request', whyNoOperation(request.operationName));
    const { request: info } = context as unknown as FederatedContext;
    const { document } = checked;
    const variables = request.variables ?? {};
    checkOperation(gateway, document, operation, variables, info.caller);
    const operationName = request.operationName ?? null; // as sent, so that it shares its plan with requests that skip @apollo/server
    const result =
      refuseValues(gateway, checked, operation, variables) ??
      (await gateway.clientExecutor.execute({ document, source, key: keyOf(source), operationName, variables }, info));
    const errors = errorsOf(result, log);
    return { data: result.data, ...(errors.length && { errors: errors.map(asError) as never }) };
  };

/** Our gateway behind the interface that @apollo/server expects. Its schema is loaded, so listeners are called at `load`, and at each reload. */
export function apolloGateway(setting: Setting): GatewayInterface {
  const { gateways } = setting;
  const listeners = new Set<SchemaListener>();
  const announce = ({ apiSchema, supergraphSdl }: ServingGateway): void =>
    listeners.forEach(listener => listener({ apiSchema, coreSupergraphSdl: supergraphSdl }));
  gateways.add({ follow: announce });
  return {
    load: async () => {
      announce(gateways.current);
      return { schema: gateways.current.apiSchema, executor: executeOn(setting) };
    },
    onSchemaLoadOrUpdate: listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: async () => undefined,
  };
}
