interface Kept<Value> {
  value: Value;
  weight: number;
}

/** The least recently used leaves first, when there are more entries or more weight than allowed. Weight: bytes, by the caller's estimate. */
export class Lru<Value> {
  readonly #kept = new Map<string, Kept<Value>>();
  #weight = 0;

  constructor(
    private readonly maxEntries: number,
    private readonly maxWeight: number,
  ) {}

  get size(): number {
    return this.#kept.size;
  }

  get(key: string): Value | undefined {
    const kept = this.#kept.get(key);
    if (!kept) return undefined;
    this.#kept.delete(key); // insertion order is the order of use
    this.#kept.set(key, kept);
    return kept.value;
  }

  set(key: string, value: Value, weight: number): void {
    this.#remove(key);
    if (weight > this.maxWeight) return;
    this.#kept.set(key, { value, weight });
    this.#weight += weight;
    while (this.#kept.size > this.maxEntries || this.#weight > this.maxWeight) this.#remove(this.#kept.keys().next().value!);
  }

  #remove(key: string): void {
    this.#weight -= this.#kept.get(key)?.weight ?? 0;
    this.#kept.delete(key);
  }
}
