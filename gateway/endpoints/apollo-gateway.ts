import type { GatewayExecutor, GatewayInterface } from '@apollo/server-gateway-interface';
import { keyOf } from '../plans/executor.js';
import type { Gateways, ServingGateway } from '../plans/gateways.js';
import type { FederatedContext } from '../plans/subgraph-source.js';
import { checkOperation } from './operation-checks.js';

type SchemaListener = Parameters<GatewayInterface['onSchemaLoadOrUpdate']>[0];

/** Runs an operation on the gateway against whose schema @apollo/server validated it. */
const executeOn =
  (gateways: Gateways): GatewayExecutor =>
  async ({ document, request, source, operation, context, schema }) => {
    const gateway = gateways.of(schema);
    const { request: info } = context as unknown as FederatedContext;
    const variables = request.variables ?? {};
    if (operation) checkOperation(gateway, document, operation, variables, info.caller);
    const operationName = request.operationName ?? null; // as sent, so that it shares its plan with requests that skip @apollo/server
    const result = await gateway.clientExecutor.execute({ document, source, key: keyOf(source), operationName, variables }, info);
    return {
      data: result.data,
      ...(result.errors.length && { errors: result.errors as never }),
      ...(result.extensions && { extensions: result.extensions as never }),
    };
  };

/** Our gateway behind the interface that @apollo/server expects. Its schema is loaded, so listeners are called at `load`, and at each reload. */
export function apolloGateway(gateways: Gateways): GatewayInterface {
  const listeners = new Set<SchemaListener>();
  const announce = ({ apiSchema, supergraphSdl }: ServingGateway): void =>
    listeners.forEach(listener => listener({ apiSchema, coreSupergraphSdl: supergraphSdl }));
  gateways.add({ follow: announce });
  return {
    load: async () => {
      announce(gateways.current);
      return { schema: gateways.current.apiSchema, executor: executeOn(gateways) };
    },
    onSchemaLoadOrUpdate: listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop: async () => undefined,
  };
}
