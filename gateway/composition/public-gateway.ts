import type { Federation } from '../../runtime/federation/federation.js';
import type { Logger } from '../../runtime/observe/log.js';
import { readSupergraph } from '../compose.js';
import type { SubgraphSource } from '../sources/data-source.js';
import { startGateway } from '../plans/gateway.js';
import { Gateways, type FrontGateway } from '../plans/gateways.js';
import { InFlight } from '../plans/in-flight.js';
import type { OperationMetrics } from '../metrics/operation-metrics.js';
import { ScopeUsage } from '../metrics/scope-usage.js';

export interface FrontSetting {
  executor: 'compiled' | 'stock';
  /** The data source of a subgraph, the same for every gateway of this process. */
  source(service: string): SubgraphSource;
  /** Where the uses of scopes are reported. */
  federation(): Federation;
  metrics: OperationMetrics;
  log: Logger;
}

/** The gateways of this process, one after another, and what outlives them. */
export interface Front {
  readonly gateways: Gateways;
  /** Goes over to another supergraph, by default the file's. @throws Error when it does not fit; then nothing has changed. */
  reload(supergraphSdl?: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the gateway on the checked-in supergraph. */
export async function openFront({ executor, source, federation, metrics, log }: FrontSetting): Promise<Front> {
  const sources = new Map<string, SubgraphSource>();
  const sourceOf = (service: string): SubgraphSource => {
    const known = sources.get(service) ?? metrics.source(service, source(service));
    sources.set(service, known);
    return known;
  };
  const usage = new ScopeUsage(federation, log);
  const start = async (supergraphSdl: string): Promise<FrontGateway> => {
    const gateway = await startGateway({ supergraphSdl, source: sourceOf, executor, onPlan: metrics.plan, log });
    const watch = usage.watcher(gateway.supergraph);
    return {
      ...gateway,
      executor: metrics.watch(watch(gateway.executor), 'service'),
      shared: metrics.watch(watch(new InFlight(gateway.executor, gateway.supergraph)), 'client'),
    };
  };
  const gateways = new Gateways(await start(await readSupergraph()));
  usage.start();
  return {
    gateways,
    reload: sdl => gateways.change(async () => start(sdl ?? (await readSupergraph()))),
    stop: async () => {
      await usage.stop();
      await gateways.current.stop();
    },
  };
}
