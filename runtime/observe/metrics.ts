import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** The process's metrics, served at `/metrics` in the Prometheus text form. Labels hold names only, never ids or values. */
export interface Metrics {
  registry: Registry;
  requests: Histogram<'endpoint' | 'operation' | 'status'>;
  fetches: Histogram<'service'>;
  timers: Counter<'service' | 'timer' | 'outcome'>;
  ready: Gauge<'service'>;
  /** Attempts of jobs by outcome. */
  jobs: Counter<'queue' | 'outcome'>;
  jobSeconds: Histogram<'queue'>;
  /** Ended runs of workflows by outcome. */
  runs: Counter<'definition' | 'outcome'>;
}

/** Operations with a label of their own in one metric. Each costs some 30 lines for every scrape: 200 take 0.05 s, all of the schema's 0.3 s. */
const MAX_OPERATIONS = 200;

/** Label of an operation in one metric: its name for the first 200 that come, `other` for any further one. */
export function operationLabels(max = MAX_OPERATIONS): (name: string) => string {
  const known = new Set<string>();
  return name => {
    if (known.size < max) known.add(name);
    return known.has(name) ? name : 'other';
  };
}

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    requests: new Histogram({
      name: 'http_request_seconds',
      help: 'Time to answer, by endpoint, route and status',
      labelNames: ['endpoint', 'operation', 'status'],
      buckets: SECONDS,
      registers,
    }),
    fetches: new Histogram({
      name: 'gateway_fetch_seconds',
      help: 'Time of one subgraph call',
      labelNames: ['service'],
      buckets: SECONDS,
      registers,
    }),
    timers: new Counter({
      name: 'timer_runs_total',
      help: 'Runs of timers and sweeps',
      labelNames: ['service', 'timer', 'outcome'],
      registers,
    }),
    jobs: new Counter({ name: 'job_attempts_total', help: 'Attempts of jobs', labelNames: ['queue', 'outcome'], registers }),
    jobSeconds: new Histogram({ name: 'job_run_seconds', help: 'Time of one attempt', labelNames: ['queue'], buckets: SECONDS, registers }),
    runs: new Counter({ name: 'workflow_runs_total', help: 'Workflow runs that ended', labelNames: ['definition', 'outcome'], registers }),
    ready: new Gauge({ name: 'service_ready', help: '1 when the service is ready', labelNames: ['service'], registers }),
  };
}
