import type { RequestInfo } from '../../runtime/request/request.js';
import type { FederatedResult } from './executor.js';

/** Runs the query for one of the requests that want it. */
export type Execute = (request: RequestInfo) => Promise<FederatedResult>;

/** One execution that answers several equal requests, all of which have come before it begins. */
export class Flight {
  readonly #answer: Promise<FederatedResult>;
  #resolve!: (answer: Promise<FederatedResult>) => void;
  /** Ends the execution when no request waits any more; null until it begins. */
  #controller: AbortController | null = null;
  #waiting = 0;

  /** @param request the first of them, as which it runs: the status that the operation sets on it holds for all. */
  constructor(
    readonly request: RequestInfo,
    private readonly execute: Execute,
  ) {
    this.#answer = new Promise(resolve => (this.#resolve = resolve));
  }

  get isWanted(): boolean {
    return this.#waiting > 0;
  }

  /** @param ended called before anybody has the answer. */
  begin(ended: () => void): void {
    this.#controller = new AbortController();
    this.request.signal = this.#controller.signal;
    this.#resolve(this.execute(this.request).finally(ended));
  }

  /**
   * The answer for one request. When that one's client leaves or its deadline passes, it fails with its own reason; the last one to leave
   * ends the execution, which has no deadline of its own.
   */
  wait(signal: AbortSignal): Promise<FederatedResult> {
    this.#waiting++;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        if (--this.#waiting === 0 && this.#controller)
          this.#controller.abort(signal.reason); // the execution then ends with what it has
        else reject(signal.reason as Error);
      };
      signal.addEventListener('abort', leave, { once: true });
      void this.#answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
    });
  }
}

/**
 * Longest that a query waits for one like it that has begun before it came, ms. A slow query of a busy caller is then asked at most fifty
 * times a second, each time for all who came meanwhile.
 */
export const LONGEST_WAIT_MS = 20;

/** Equal queries that are under way: the first, which found none, and flights for those who came after it. */
export class Line {
  #underWay = 1;
  #next: Flight | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** @param lines where it is found until nothing is under way. The first query has begun. */
  constructor(
    private readonly lines: Map<string, Line>,
    private readonly key: string,
  ) {
    lines.set(key, this);
  }

  /** The flight for those who come now: it begins when one that is under way ends, or soon. */
  nextFor(request: RequestInfo, execute: Execute): Flight {
    if (this.#next) return this.#next;
    this.#timer = setTimeout(() => this.#beginNext(), LONGEST_WAIT_MS);
    return (this.#next = new Flight(request, execute));
  }

  #beginNext(): void {
    clearTimeout(this.#timer);
    const next = this.#next;
    this.#next = null;
    if (!next?.isWanted) return;
    this.#underWay++;
    next.begin(() => this.ended());
  }

  /** One that was under way has its answer. */
  ended(): void {
    this.#underWay--;
    if (this.#next) this.#beginNext();
    if (this.#underWay === 0) this.lines.delete(this.key);
  }
}
