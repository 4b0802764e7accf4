import type { FlagEvaluation, FlagReason } from './evaluation.js';
import { isUuid, newId } from '../data/ids.js';

/** How often a flag had a variant for a reason and a brand; never for whom. Source: platform 4, POST /v1/flags/usage. */
export interface UsageCount {
  flag: string;
  variant: string | null;
  reason: FlagReason;
  brandId: string | null;
  count: number;
}

/** Takes counts to the platform service. The same key again changes nothing there. */
export type UsageSink = (counts: readonly UsageCount[], idempotencyKey: string) => Promise<void>;

/** Counters in one report; further ones wait for the next, so that brands and flags by the thousand cost no memory. */
const MOST = 1000;

/** Counts evaluations of a process between reports. What was counted since the last report is lost with the process: it is for staleness, not for billing. */
export class FlagUsage {
  #counts = new Map<string, UsageCount>();
  /** A report whose answer did not come: it is said again, under its key. */
  #unanswered: { key: string; counts: UsageCount[] } | null = null;

  constructor(
    private readonly sink: UsageSink,
    readonly everyMs: number,
  ) {}

  /** Counts an evaluation; one of a flag that there is not says nothing about a flag. */
  count({ key: flag, variant, reason, errorCode }: FlagEvaluation, brand: string | null | undefined): void {
    if (errorCode === 'FLAG_NOT_FOUND' || errorCode === 'PROVIDER_NOT_READY') return;
    const brandId = brand && isUuid(brand) ? brand : null;
    const name = `${flag} ${variant} ${reason} ${brandId}`;
    const known = this.#counts.get(name);
    if (known) known.count++;
    else if (this.#counts.size < MOST) this.#counts.set(name, { flag, variant, reason, brandId, count: 1 });
  }

  /** Reports what was counted. @throws what the sink throws; then the same is reported the next time. */
  async report(): Promise<void> {
    if (!this.#unanswered) {
      if (this.#counts.size === 0) return;
      this.#unanswered = { key: `flag-usage:${newId()}`, counts: [...this.#counts.values()] };
      this.#counts = new Map();
    }
    const { key, counts } = this.#unanswered;
    await this.sink(counts, key);
    this.#unanswered = null;
  }
}
