import { Kind, type DocumentNode } from 'graphql';
import { Counter, Histogram, type Registry } from 'prom-client';
import { operationLabels } from '../../runtime/observe/metrics.js';
import type { RequestInfo } from '../../runtime/request/request.js';
import type { SendLists, SendUnread } from '../plans/compiled/subgraph.js';
import type { PlanOrigin } from '../plans/compiled/executor.js';
import { hasData, type Executor, type FederatedResult } from '../plans/executor.js';
import type { FederatedContext, SubgraphSource } from '../plans/subgraph-source.js';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Who runs an operation: a client over an endpoint, or a service of the platform. */
type CallerKind = 'client' | 'service';

/** Calls to one service for one operation. */
interface Calls {
  count: number;
  seconds: number;
}

/** Calls of one operation by service. Requests refer to it, so that counting a call needs no look-up by name. */
interface Operation {
  readonly name: string;
  readonly calls: Map<string, Calls>;
}

/**
 * Label of an operation: its kind and its root field, or `several`. The schema bounds the number of root fields; names of operations and
 * aliases are the clients', so they never become labels.
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
  readonly #labelOf = operationLabels();
  readonly #operations = new Map<string, Operation>();
  readonly #byDocument = new WeakMap<DocumentNode, Operation>();
  readonly #byRequest = new WeakMap<RequestInfo, Operation>();
  readonly #plans: Record<PlanOrigin, number> = { prepared: 0, kept: 0, made: 0 };
  readonly #seconds: Histogram<'caller' | 'operation' | 'outcome'>;

  constructor(registry: Registry) {
    const registers = [registry];
    const labelNames = ['operation', 'service'] as const;
    this.#seconds = new Histogram({
      name: 'gateway_operation_seconds',
      help: 'Time of an operation in the gateway, by caller (client or service) and outcome',
      labelNames: ['caller', 'operation', 'outcome'],
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

  /** Counts an operation by the origin of its plan. */
  readonly plan = (origin: PlanOrigin): void => void this.#plans[origin]++;

  /** Counts the operations of an executor. */
  watch(executor: Executor, caller: CallerKind): Executor {
    return {
      prepare: operation => executor.prepare?.(operation),
      execute: async (operation, request) => {
        const counted = this.#operationOf(operation.document);
        this.#byRequest.set(request, counted);
        const started = performance.now();
        const observe = (outcome: string): void =>
          this.#seconds.observe({ caller, operation: counted.name, outcome }, (performance.now() - started) / 1000);
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
    const name = this.#labelOf(operationLabel(document));
    const operation = this.#operations.get(name) ?? { name, calls: new Map<string, Calls>() };
    this.#operations.set(name, operation);
    this.#byDocument.set(document, operation);
    return operation;
  }

  /** Counts the calls of a data source for the operation of their request. */
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
        return (variables, representations, request) => counted(request, () => send(variables, representations, request));
      },
      ...(source.prepareUnread && {
        prepareUnread: (document: string): SendUnread => {
          const send = source.prepareUnread!(document);
          return (variables, request) => counted(request, () => send(variables, request));
        },
      }),
      ...(source.prepareLists && {
        prepareLists: (document: string, names: readonly string[]): SendLists => {
          const send = source.prepareLists!(document, names);
          return (variables, lists, request) => counted(request, () => send(variables, lists, request));
        },
      }),
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
