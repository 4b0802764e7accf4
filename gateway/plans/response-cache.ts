import { createHash } from 'node:crypto';
import type { DocumentNode } from 'graphql';
import type { RequestInfo } from '../../runtime/request/request.js';
import { Answer } from './compiled/operation.js';
import type { Executor, FederatedOperation, FederatedResult, Freshness, PreparedOperation } from './executor.js';
import { askerOf } from './in-flight.js';
import { Lru } from './lru.js';

/** Answers kept at most, whatever their size. */
const MAX_ANSWERS = 50_000;
/** Of an entry beside its text: the key and the objects around it. */
const BYTES_OF_ONE = 300;

export interface ResponseCacheSetting {
  /** Seconds that answers to a document may be kept; 0: never. */
  maxAgeOf(document: DocumentNode): number;
  /** Memory for answers, bytes. */
  maxBytes: number;
  /** Told of each operation that may be kept. */
  onLookup(outcome: 'hit' | 'miss'): void;
}

interface Stored {
  text: string;
  maxAge: number;
  /** When its making began, ms of the monotonic clock: it is not younger than that. */
  since: number;
}

const secondsSince = (since: number): number => (performance.now() - since) / 1000;

/** A hash, so that the cache holds neither tokens nor values of variables beside the answers. */
function keyOf({ key, operationName, variables }: FederatedOperation, request: RequestInfo): string {
  return createHash('sha256')
    .update(JSON.stringify([key, operationName, variables, askerOf(request)]))
    .digest('base64');
}

/**
 * Keeps answers for as long as the `@cacheControl` hints of all their fields allow, and only those that are whole: one with an error
 * or with a status of its own is not kept. Callers with a token share with nobody; those without share among themselves. A reload
 * begins with an empty cache, because each gateway has its own.
 */
export class ResponseCache implements Executor {
  #stored: Lru<Stored>;

  constructor(
    private readonly next: Executor,
    private readonly setting: ResponseCacheSetting,
  ) {
    this.#stored = this.#empty();
  }

  #empty(): Lru<Stored> {
    return new Lru(MAX_ANSWERS, this.setting.maxBytes);
  }

  prepare(operation: PreparedOperation): void {
    this.next.prepare?.(operation);
  }

  /** Forgets all answers, those under way included. */
  clear(): void {
    this.#stored = this.#empty();
  }

  async execute(operation: FederatedOperation, request: RequestInfo): Promise<FederatedResult> {
    const maxAge = this.setting.maxAgeOf(operation.document);
    if (maxAge === 0) return this.next.execute(operation, request);
    const [key, isPrivate] = [keyOf(operation, request), request.token !== null];
    const stored = this.#stored.get(key);
    const isFresh = stored !== undefined && secondsSince(stored.since) < stored.maxAge;
    this.setting.onLookup(isFresh ? 'hit' : 'miss');
    if (isFresh) return answerOf(stored.text, { maxAge, age: Math.floor(secondsSince(stored.since)), isPrivate });
    const [into, since] = [this.#stored, performance.now()];
    const result = await this.next.execute(operation, request);
    if (result.errors.length > 0 || result.extensions || request.status !== null) return result;
    const text = result.text ?? JSON.stringify(result.data);
    into.set(key, { text, maxAge, since }, text.length * 2 + BYTES_OF_ONE);
    return answerOf(text, { maxAge, age: null, isPrivate });
  }
}

const answerOf = (text: string, freshness: Freshness): Answer => new Answer(text, [], undefined, freshness);
