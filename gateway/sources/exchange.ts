import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { isLost, Unanswered } from './unanswered.js';

interface HttpAnswer {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * One request over undici, whose answer is collected without a stream: half of the CPU time of a small call. It ends when the signal is
 * aborted, also while it waits for a connection. Source: bench/transport.mjs.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** @throws the signal's reason, Unanswered, Error of the connection, or Error for an answer that is larger than allowed. */
  readonly answer: Promise<HttpAnswer>;
  #resolve: (answer: HttpAnswer) => void;
  #reject: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #headers: IncomingHttpHeaders | null = null;
  readonly #chunks: Buffer[] = [];
  #size = 0;

  constructor(
    private readonly signal: AbortSignal,
    private readonly maxBytes: number,
  ) {
    this.answer = new Promise((resolve, reject) => ([this.#resolve, this.#reject] = [resolve, reject]));
    signal.addEventListener('abort', this.#abort, { once: true });
  }

  readonly #abort = (): void => this.#fail(this.signal.reason);

  #fail(error: unknown): void {
    this.#end();
    this.#controller?.abort(error as Error);
    this.#reject(error);
  }

  #end(): void {
    this.signal.removeEventListener('abort', this.#abort);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.signal.aborted) controller.abort(this.signal.reason as Error);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, _status: number, headers: IncomingHttpHeaders): void {
    this.#headers = headers; // a provisional answer's headers come first, then the final ones
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.maxBytes) this.#fail(new Error('the answer is too large'));
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#end();
    const [first, ...others] = this.#chunks;
    const bytes = first && others.length === 0 ? first : Buffer.concat(this.#chunks);
    this.#resolve({ headers: this.#headers ?? {}, text: bytes.toString('utf8') });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end();
    const isUnanswered = this.#headers === null && isLost(error);
    this.#reject(isUnanswered ? new Unanswered(error) : error);
  }
}
