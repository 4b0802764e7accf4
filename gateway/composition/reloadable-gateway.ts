import type { Federation } from '../../runtime/federation/federation.js';
import type { Logger } from '../../runtime/observe/log.js';
import { readSupergraph } from '../plans/supergraph-file.js';
import type { OperationMetrics } from '../metrics/operation-metrics.js';
import { ScopeUsage } from '../metrics/scope-usage.js';
import { startGateway } from '../plans/gateway.js';
import { Gateways, type ServingGateway } from '../plans/gateways.js';
import { InFlight } from '../plans/in-flight.js';
import type { SubgraphSource } from '../plans/subgraph-source.js';

interface GatewaySetting {
  executor: 'compiled' | 'stock';
  /** Opens the data source of a subgraph. Called once for each, because all gateways of the process share it. */
  source(service: string): SubgraphSource;
  /** For reports of the scopes that apps use. */
  federation(): Federation;
  metrics: OperationMetrics;
  /** Whether equal queries that are under way together share an answer. */
  sharesAnswers: boolean;
  log: Logger;
}

/** The gateway of this process, whose supergraph can be replaced. */
export interface ReloadableGateway {
  readonly gateways: Gateways;
  /** Switches to another supergraph, by default the file's. @throws Error when it does not fit; then nothing has changed. */
  reload(supergraphSdl?: string): Promise<void>;
  stop(): Promise<void>;
}

function metered(source: GatewaySetting['source'], metrics: OperationMetrics): GatewaySetting['source'] {
  const sources = new Map<string, SubgraphSource>();
  return service => {
    const known = sources.get(service) ?? metrics.source(service, source(service));
    sources.set(service, known);
    return known;
  };
}

/** Starts the gateway on the checked-in supergraph. */
export async function openReloadableGateway(setting: GatewaySetting): Promise<ReloadableGateway> {
  const { executor, federation, metrics, sharesAnswers, log } = setting;
  const source = metered(setting.source, metrics);
  const usage = new ScopeUsage(federation, log);
  const start = async (supergraphSdl: string, isForeign: boolean): Promise<ServingGateway> => {
    const gateway = await startGateway({ supergraphSdl, isForeign, source, executor, onPlan: metrics.plan, log });
    const noteScopes = usage.watcher(gateway.supergraph);
    return {
      ...gateway,
      executor: metrics.watch(noteScopes(gateway.executor), 'service'),
      clientExecutor: metrics.watch(noteScopes(new InFlight(gateway.executor, sharesAnswers)), 'client'),
    };
  };
  const gateways = new Gateways(await start(await readSupergraph(), false));
  usage.start();
  return {
    gateways,
    reload: sdl => gateways.change(async () => start(sdl ?? (await readSupergraph()), true)),
    stop: () => usage.stop(),
  };
}
