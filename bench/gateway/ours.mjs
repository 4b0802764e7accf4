/**
 * Our gateway on the canned services: executor, data sources, GraphQL endpoint and metrics of `gateway/`, on another supergraph.
 *
 * Environment: PORT; SUPERGRAPH: its file; CALLS=process: the services run in this process, as hosted ones do, else they are called at
 * SUBGRAPHS; CALLERS=many: each request has another caller, so that none shares another's answer.
 */
import { readFile } from 'node:fs/promises';
import { LocalDataSource } from '../../dist/gateway/sources/local-data-source.js';
import { HttpDataSource } from '../../dist/gateway/sources/http-data-source.js';
import { graphqlEndpoint } from '../../dist/gateway/endpoints/graphql.js';
import { openReloadableGateway } from '../../dist/gateway/composition/reloadable-gateway.js';
import { OperationMetrics } from '../../dist/gateway/metrics/operation-metrics.js';
import { RunningService } from '../../dist/runtime/running-service.js';
import { createHttp } from '../../dist/runtime/http/server.js';
import { Revocations } from '../../dist/runtime/access/revocations.js';
import { createLogger } from '../../dist/runtime/observe/log.js';
import { createMetrics } from '../../dist/runtime/observe/metrics.js';
import { NAMES, schemaOf } from './canned/services.ts';

const { PORT, SUPERGRAPH, SUBGRAPHS, CALLS, CALLERS } = process.env;
const [log, metrics] = [createLogger('error'), createMetrics()];

/** A host of a canned schema, without the parts that its answers do not need. */
const parts = {
  config: { subgraphExecutor: process.env.SUBGRAPH_EXECUTOR ?? 'compiled' },
  orm: { em: { fork: () => null } },
  revocations: new Revocations(async () => [], log),
  metrics,
  log,
};
const hostOf = slug => new RunningService({ slug }, { ...parts, schema: schemaOf(slug) });

/** Services of the checked-in supergraph are not called. */
const isLocal = name => CALLS === 'process' && NAMES.includes(name);
const source = name =>
  isLocal(name) ? new LocalDataSource(hostOf(name), metrics) : new HttpDataSource(name, () => SUBGRAPHS, 'bench', metrics);

const app = createHttp({ log });
const gateway = await openReloadableGateway({
  executor: 'compiled',
  source,
  federation: () => null,
  metrics: new OperationMetrics(metrics.registry),
  sharesAnswers: true,
  log,
});
await gateway.reload(await readFile(SUPERGRAPH, 'utf8'));
let callers = 0;
const authenticate = async request => {
  if (CALLERS === 'many') request.info = { ...request.info, ip: `10.${(++callers >> 16) & 255}.${(callers >> 8) & 255}.${callers & 255}` };
};
await graphqlEndpoint(app, { gateways: gateway.gateways, authenticate, introspection: false, log });
await app.listen({ port: Number(PORT), host: '127.0.0.1' });
process.on('SIGTERM', () => process.exit(0));
