import { partitionOf, type ConsumerSpec } from './port.js';
import { partsOf, type Names } from './rabbitmq-topology.js';

/** Slots whose events wait, by the queue that does not answer: a publish to the exchange is confirmed by all its queues or by none. */
export class HeldSlots {
  readonly #causes = new Map<number, Map<string, string>>();

  /** @param by what holds it, to release it again. @returns whether that is new. */
  hold(slots: readonly number[], by: string, cause: string): boolean {
    const isNew = slots.some(slot => !this.#causes.get(slot)?.has(by));
    for (const slot of slots) this.#causes.set(slot, (this.#causes.get(slot) ?? new Map<string, string>()).set(by, cause));
    return isNew;
  }

  release(by: string): void {
    for (const [slot, causes] of this.#causes) if (causes.delete(by) && causes.size === 0) this.#causes.delete(slot);
  }

  /** Why the events of a slot wait; null when they do not. */
  causeOf(slot: number): string | null {
    const [first] = this.#causes.get(slot)?.values() ?? [];
    return first ?? null;
  }

  get slots(): readonly number[] {
    return [...this.#causes.keys()];
  }
}

/** The queues that a message of a slot and type goes to. */
export const queuesOf = (names: Names, specs: readonly ConsumerSpec[], slot: number, type: string): string[] =>
  specs.filter(spec => spec.types.includes(type)).map(spec => names.queue(spec.name, partsOf(spec)[partitionOf(slot, spec.partitions)]!));
