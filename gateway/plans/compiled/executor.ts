import { GraphQLError } from 'graphql';
import type { RequestInfo } from '../../../runtime/request/request.js';
import type { Executor, FederatedOperation, FederatedResult, PreparedOperation } from '../executor.js';
import { asksIntrospection } from '../../endpoints/introspection.js';
import { Lru } from '../lru.js';
import type { PlanOrigin } from '../../metrics/operation-metrics.js';
import { CompiledOperation, type CompileSetting } from './operation.js';
import { UnknownPlan } from './steps.js';

/** Compiled operations kept beside the pinned ones. One holds 46-131 KB, about thirty times its text. Source: gateway-speed.md, growth. */
const MAX_OPERATIONS = 1_000;
const MAX_BYTES = 64 * 1024 * 1024;
const BYTES_OF_ONE = 40 * 1024;
const BYTES_PER_CHARACTER = 30;

export interface CompiledExecutorSetting extends CompileSetting {
  /** Runs what is not compiled: introspection, and plans with nodes that are not known here. */
  stock: Executor;
  /** Told where the plan of each operation came from. */
  onPlan?: ((origin: PlanOrigin) => void) | undefined;
}

/** What an operation is run by. */
type Runner = (operation: FederatedOperation, request: RequestInfo) => Promise<FederatedResult>;

const nameOf = ({ key, operationName }: PreparedOperation): string => (operationName === null ? key : `${key} ${operationName}`);

/** Runs operations by code compiled from their plans; each is planned and compiled once. */
export class CompiledExecutor implements Executor {
  readonly #runners = new Lru<Runner>(MAX_OPERATIONS, MAX_BYTES);
  /** Operations that are never dropped: those of the REST rows. */
  readonly #pinned = new Map<string, Runner>();

  constructor(private readonly setting: CompiledExecutorSetting) {}

  async execute(operation: FederatedOperation, request: RequestInfo): Promise<FederatedResult> {
    const key = nameOf(operation);
    const pinned = this.#pinned.get(key);
    let runner = pinned ?? this.#runners.get(key);
    this.setting.onPlan?.(pinned ? 'prepared' : runner ? 'kept' : 'made');
    if (!runner) {
      try {
        runner = this.#compile(operation);
      } catch (error) {
        if (!(error instanceof GraphQLError)) throw error;
        return { data: null, errors: [error] };
      }
      this.#runners.set(key, runner, BYTES_OF_ONE + BYTES_PER_CHARACTER * operation.source.length);
    }
    return runner(operation, request);
  }

  prepare(operation: PreparedOperation): void {
    const key = nameOf(operation);
    this.#pinned.set(key, this.#pinned.get(key) ?? this.#runners.get(key) ?? this.#compile(operation));
  }

  /** @throws GraphQLError when there is no plan. */
  #compile({ document, operationName }: PreparedOperation): Runner {
    const stock: Runner = (given, request) => this.setting.stock.execute(given, request);
    if (asksIntrospection(document)) return stock;
    try {
      const compiled = new CompiledOperation(document, operationName, this.setting);
      return ({ variables }, request) => compiled.run(variables, request);
    } catch (error) {
      if (error instanceof UnknownPlan) return stock;
      throw error;
    }
  }
}
