import type { FastifyInstance } from 'fastify';
import { loggedError, type Logger } from '../../runtime/observe/log.js';
import type { Executor, PreparedOperation } from './executor.js';

/** Pause between two operations, ms, in which requests are served: planning one operation takes about 3 ms. */
const PAUSE_MS = 5;

/**
 * Plans the operations of the REST rows one after the other, once the process answers and its workers have started: 500 rows take 1.3 s,
 * which the start should not wait for. A row that is requested earlier is planned at that moment.
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

  /** A failure is only logged: the row's requests fail by the same error. */
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
