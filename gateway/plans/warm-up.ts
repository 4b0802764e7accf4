import type { FastifyInstance } from 'fastify';
import { loggedError, type Logger } from '../../runtime/observe/log.js';
import type { Executor, PreparedOperation } from './executor.js';

/** Between two operations, ms, so that requests are served meanwhile: planning one takes about 3 ms. */
const PAUSE_MS = 5;

/**
 * Plans the operations that are known from the start one after the other, once the process answers and its work has started: 500 REST
 * rows cost 1.3 s, which nobody should wait for. A row that is asked for sooner is planned then.
 */
export class WarmUp {
  readonly #operations: PreparedOperation[] = [];
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** @param started when to begin. */
  constructor(
    app: FastifyInstance,
    private readonly executor: Executor,
    private readonly log: Logger,
    started: Promise<void>,
  ) {
    void started.then(() => this.#next());
    app.addHook('onClose', async () => this.#close());
  }

  add(operation: PreparedOperation): void {
    this.#operations.push(operation);
  }

  #close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #next(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => this.#prepare(), PAUSE_MS);
  }

  /** A row that cannot be planned fails when it is asked for, too. */
  #prepare(): void {
    const operation = this.#operations.shift();
    if (!operation) return;
    try {
      this.executor.prepare?.(operation);
    } catch (error) {
      this.log.error({ route: operation.key, err: loggedError(error as Error) }, 'the operation of a route cannot be planned');
    }
    this.#next();
  }
}
