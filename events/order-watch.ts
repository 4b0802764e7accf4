/** Keys that are remembered; the oldest are forgotten first. */
const KEYS = 10_000;

/** Notices when something is handled after a later event of its key. Never decides anything. */
export class OrderWatch {
  readonly #last = new Map<string, number>();

  /** Whether `seq` comes after what was handled before for the key. */
  follows(key: string, seq: number): boolean {
    const last = this.#last.get(key) ?? 0;
    this.#last.delete(key);
    this.#last.set(key, Math.max(last, seq));
    if (this.#last.size > KEYS) this.#last.delete(this.#last.keys().next().value!);
    return seq > last;
  }
}
