import { Kind, type DocumentNode } from 'graphql';
import { Counter, Histogram, type Registry } from 'prom-client';
import type { RequestInfo } from '../../runtime/request/request.js';
import type { Variables } from '../plans/compiled/run.js';
import type { SubgraphAnswer } from '../plans/compiled/subgraph.js';
import type { FederatedContext, SubgraphSource } from '../sources/data-source.js';
import { hasData, type Executor, type FederatedResult } from '../plans/executor.js';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Where a plan came from: made at the start, kept from an earlier request, or made now. */
export type PlanOrigin = 'prepared' | 'kept' | 'made';

type Door = 'client' | 'service';

/** Calls to one service for one operation. */
interface Calls {
  count: number;
  seconds: number;
}

/** What is counted of one operation, by service. Requests hold it, so that a call costs no look-up by text. */
interface Operation {
  readonly name: string;
  readonly calls: Map<string, Calls>;
}

/**
 * The name under which an operation is counted: its kind and root field, `several` for more of them. Root fields are the schema's, so
 * their number is bounded; names of operations and aliases are the client's, and never become labels.
 */
export function operationLabel({ definitions }: DocumentNode): string {
  const [operation] = definitions.filter(one => one.kind === Kind.OPERATION_DEFINITION);
  if (!operation) return 'none';
  const names = new Set(operation.selectionSet.selections.map(one => (one.kind === Kind.FIELD ? one.name.value : 'several')));
  return `${operation.operation} ${names.size === 1 ? [...names][0]! : 'several'}`;
}

const outcomeOf = (result: FederatedResult): string => (result.errors.length === 0 ? 'ok' : hasData(result) ? 'partial' : 'failed');

/** Per-operation metrics of the gateway: time and outcome, plan hits, calls and time by service. */
export class OperationMetrics {
  readonly #operations = new Map<string, Operation>();
  readonly #byDocument = new WeakMap<DocumentNode, Operation>();
  readonly #byRequest = new WeakMap<RequestInfo, Operation>();
  readonly #plans: Record<PlanOrigin, number> = { prepared: 0, kept: 0, made: 0 };
  readonly #seconds: Histogram<'door' | 'operation' | 'outcome'>;

  constructor(registry: Registry) {
    const registers = [registry];
    const labelNames = ['operation', 'service'] as const;
    this.#seconds = new Histogram({
      name: 'gateway_operation_seconds',
      help: 'Time of an operation in the gateway, by who asked and how it ended',
      labelNames: ['door', 'operation', 'outcome'],
      buckets: SECONDS,
      registers,
    });
    const each = (counter: Counter<'operation' | 'service'>, read: (calls: Calls) => number): void => {
      counter.reset();
      for (const { name, calls } of this.#operations.values())
        for (const [service, one] of calls) counter.inc({ operation: name, service }, read(one));
    };
    const fetches: Counter<'operation' | 'service'> = new Counter({
      name: 'gateway_operation_fetches_total',
      help: 'Subgraph calls of an operation',
      labelNames,
      registers,
      collect: () => each(fetches, calls => calls.count),
    });
    const time: Counter<'operation' | 'service'> = new Counter({
      name: 'gateway_operation_fetch_seconds_total',
      help: 'Time in subgraph calls of an operation',
      labelNames,
      registers,
      collect: () => each(time, calls => calls.seconds),
    });
    const plans: Counter<'origin'> = new Counter({
      name: 'gateway_plans_total',
      help: 'Operations by where their plan came from',
      labelNames: ['origin'],
      registers,
      collect: () => {
        plans.reset();
        for (const [origin, count] of Object.entries(this.#plans)) plans.inc({ origin }, count);
      },
    });
  }

  /** Told by the executor of each operation that it runs. */
  readonly plan = (origin: PlanOrigin): void => void this.#plans[origin]++;

  /** An executor whose operations are counted. */
  watch(executor: Executor, door: Door): Executor {
    return {
      prepare: operation => executor.prepare?.(operation),
      execute: async (operation, request) => {
        const counted = this.#operationOf(operation.document);
        this.#byRequest.set(request, counted);
        const started = performance.now();
        const observe = (outcome: string): void =>
          this.#seconds.observe({ door, operation: counted.name, outcome }, (performance.now() - started) / 1000);
        try {
          const result = await executor.execute(operation, request);
          observe(outcomeOf(result));
          return result;
        } catch (error) {
          observe('failed');
          throw error;
        }
      },
    };
  }

  #operationOf(document: DocumentNode): Operation {
    const known = this.#byDocument.get(document);
    if (known) return known;
    const name = operationLabel(document);
    const operation = this.#operations.get(name) ?? { name, calls: new Map<string, Calls>() };
    this.#operations.set(name, operation);
    this.#byDocument.set(document, operation);
    return operation;
  }

  /** A data source whose calls are counted to the operation of their request. */
  source(service: string, source: SubgraphSource): SubgraphSource {
    const counted = async <T>(request: RequestInfo, call: () => Promise<T>): Promise<T> => {
      const started = performance.now();
      try {
        return await call();
      } finally {
        this.#count(service, request, (performance.now() - started) / 1000);
      }
    };
    return {
      process: options => counted((options.context as FederatedContext).request, () => Promise.resolve(source.process(options))),
      prepare: document => {
        const send = source.prepare(document);
        return (variables: Variables, representations: string | null, request: RequestInfo): Promise<SubgraphAnswer> =>
          counted(request, () => send(variables, representations, request));
      },
    };
  }

  #count(service: string, request: RequestInfo, seconds: number): void {
    const calls = this.#byRequest.get(request)?.calls;
    if (!calls) return;
    let one = calls.get(service);
    if (!one) calls.set(service, (one = { count: 0, seconds: 0 }));
    one.count++;
    one.seconds += seconds;
  }
}
