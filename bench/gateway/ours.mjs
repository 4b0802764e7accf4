/**
 * Our gateway on the canned services: the front, executor, data sources, doors and metrics of `gateway/`, on another supergraph.
 *
 * Environment: PORT; SUPERGRAPH, its file; CALLS=process: the services run in this process, as hosted ones do, else they are called at
 * SUBGRAPHS; CALLERS=many: each request is another caller's, so that none waits for another's answer.
 */
import { readFile } from 'node:fs/promises';
import { LocalDataSource } from '../../dist/gateway/sources/local-data-source.js';
import { HttpDataSource } from '../../dist/gateway/sources/http-data-source.js';
import { graphqlFace } from '../../dist/gateway/endpoints/graphql.js';
import { openFront } from '../../dist/gateway/composition/reloadable-gateway.js';
import { OperationMetrics } from '../../dist/gateway/metrics/operation-metrics.js';
import { ServiceHost } from '../../dist/runtime/host.js';
import { createHttp } from '../../dist/runtime/http/server.js';
import { Revocations } from '../../dist/runtime/access/revocations.js';
import { createLogger } from '../../dist/runtime/observe/log.js';
import { createMetrics } from '../../dist/runtime/observe/metrics.js';
import { NAMES, schemaOf } from './canned/services.ts';

const { PORT, SUPERGRAPH, SUBGRAPHS, CALLS, CALLERS } = process.env;
const [log, metrics] = [createLogger('error'), createMetrics()];

/** A host of ours around a canned schema: nothing that it answers needs the parts which are missing. */
const parts = {
  config: { subgraphExecutor: process.env.SUBGRAPH_EXECUTOR ?? 'compiled' },
  orm: { em: { fork: () => null } },
  revocations: new Revocations(async () => [], log),
  metrics,
  log,
};
const hostOf = slug => new ServiceHost({ slug }, { ...parts, schema: schemaOf(slug) });

/** Services of the checked-in supergraph are not asked. */
const isLocal = name => CALLS === 'process' && NAMES.includes(name);
const source = name => (isLocal(name) ? new LocalDataSource(hostOf(name), metrics) : new HttpDataSource(name, () => SUBGRAPHS, metrics));

const app = createHttp({ log });
const front = await openFront({
  executor: 'compiled',
  source,
  federation: () => null,
  metrics: new OperationMetrics(metrics.registry),
  log,
});
await front.reload(await readFile(SUPERGRAPH, 'utf8'));
let callers = 0;
const authenticate = async request => {
  if (CALLERS === 'many') request.info = { ...request.info, ip: `10.${(++callers >> 16) & 255}.${(callers >> 8) & 255}.${callers & 255}` };
};
await graphqlFace(app, { gateways: front.gateways, authenticate, introspection: false, log });
await app.listen({ port: Number(PORT), host: '127.0.0.1' });
process.on('SIGTERM', () => process.exit(0));
