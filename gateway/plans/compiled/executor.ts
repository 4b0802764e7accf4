import { GraphQLError } from 'graphql';
import type { RequestInfo } from '../../../runtime/request/request.js';
import type { Executor, FederatedOperation, FederatedResult, PreparedOperation } from '../executor.js';
import { asksIntrospection } from '../introspection.js';
import { BYTES_PER_CHARACTER, Lru } from '../lru.js';
import { CompiledOperation, type CompileSetting } from './operation.js';
import { UnknownPlan } from './steps.js';

/** Compiled operations kept beside the pinned ones. One holds 46-131 KB, about thirty times its text. Source: gateway-speed.md, growth. */
const MAX_OPERATIONS = 1_000;
const MAX_BYTES = 64 * 1024 * 1024;
const BYTES_OF_ONE = 40 * 1024;

/** Where a plan came from: prepared at the start, kept from an earlier request, or made for this one. */
export type PlanOrigin = 'prepared' | 'kept' | 'made';

interface CompiledExecutorSetting extends CompileSetting {
  /** Runs what is not compiled: introspection, and plans with unknown nodes. */
  stock: Executor;
  /** Called for each operation with the origin of its plan. */
  onPlan?: ((origin: PlanOrigin) => void) | undefined;
}

/** Runs one operation: by its compiled code, or by the stock executor. */
type Runner = (operation: FederatedOperation, request: RequestInfo) => Promise<FederatedResult>;

const nameOf = ({ key, operationName }: PreparedOperation): string => (operationName === null ? key : `${key} ${operationName}`);

/** Runs operations by code that is compiled from their plans. Each is planned and compiled once. */
export class CompiledExecutor implements Executor {
  readonly #runners = new Lru<Runner>(MAX_OPERATIONS, MAX_BYTES);
  /** Those of the REST rows, which are never dropped. */
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
