/** Estimated memory of a parsed GraphQL document, bytes per character of its source. */
export const BYTES_PER_CHARACTER = 30;

interface Entry<Value> {
  value: Value;
  weight: number;
}

/** A map that drops the least recently used entries above a number of entries or a total weight. Weight: bytes, as the caller estimates them. */
export class Lru<Value> {
  readonly #entries = new Map<string, Entry<Value>>();
  #weight = 0;

  constructor(
    private readonly maxEntries: number,
    private readonly maxWeight: number,
  ) {}

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key); // insertion order is the order of use
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** A value heavier than the total weight allows is not kept. */
  set(key: string, value: Value, weight: number): void {
    this.#remove(key);
    if (weight > this.maxWeight) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    while (this.#entries.size > this.maxEntries || this.#weight > this.maxWeight) this.#remove(this.#entries.keys().next().value!);
  }

  #remove(key: string): void {
    this.#weight -= this.#entries.get(key)?.weight ?? 0;
    this.#entries.delete(key);
  }
}
