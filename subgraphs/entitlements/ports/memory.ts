import { LRUCache } from 'lru-cache';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type { EntitlementCheck } from '../entities/entitlement.js';
import type { MembershipFacts } from '../rules/tier.js';

/** Users remembered at most, and for how long without being told of a change. Source: entitlements 7.1. */
const MOST_USERS = 50_000;
export const FRESH_MS = 30_000;

/** What is known of a user for a while: times are those of the service's clock, ms. */
interface Entry {
  at: number;
  memberships: readonly MembershipFacts[] | null;
  /** Checks of features that are not metered, each with the instant until which it holds. */
  checks: Map<string, { check: EntitlementCheck; until: number }>;
}

/** The first cache level: of one process, told by hints of what changes, and right without them after {@link FRESH_MS}. */
export class Memory {
  readonly #entries = new LRUCache<string, Entry>({ maxSize: MOST_USERS, sizeCalculation: () => 1 }); // a `max` takes the room for all of them at once
  #changes = 0;
  hits = 0;
  misses = 0;
  staleServed = 0;
  evictions = 0;

  /** What a reader notes before it reads: what it has read is kept only if nothing has been forgotten meanwhile. */
  mark(): number {
    return this.#changes;
  }

  #freshEntry(userId: string, now: number): Entry | undefined {
    const entry = this.#entries.get(userId);
    return entry && now >= entry.at && now - entry.at < FRESH_MS ? entry : undefined;
  }

  /** Undefined: nothing that is fresh. */
  memberships(userId: string, now: number): readonly MembershipFacts[] | undefined {
    return this.#freshEntry(userId, now)?.memberships ?? undefined;
  }

  keepMemberships(userId: string, memberships: readonly MembershipFacts[], askedAt: number, mark: number): void {
    if (mark === this.#changes) this.#entries.set(userId, { at: askedAt, memberships, checks: new Map() });
  }

  check(userId: string, key: string, now: number): EntitlementCheck | undefined {
    const kept = this.#freshEntry(userId, now)?.checks.get(key);
    const found = kept && now < kept.until ? kept.check : undefined;
    if (found) this.hits++;
    else this.misses++;
    return found;
  }

  keepCheck(userId: string, check: EntitlementCheck, now: number, mark: number): void {
    if (mark !== this.#changes) return;
    let entry = this.#freshEntry(userId, now);
    if (!entry) this.#entries.set(userId, (entry = { at: now, memberships: null, checks: new Map() }));
    entry.checks.set(check.key, { check, until: check.validUntil?.getTime() ?? Number.POSITIVE_INFINITY });
  }

  forget(userIds: readonly string[]): void {
    this.#changes++;
    for (const userId of userIds) if (this.#entries.delete(userId)) this.evictions++;
  }

  forgetAll(): void {
    this.#changes++;
    this.evictions += this.#entries.size;
    this.#entries.clear();
  }

  get size(): number {
    return this.#entries.size;
  }

  oldestAt(): number | null {
    const all = [...this.#entries.values()].map(entry => entry.at);
    return all.length ? Math.min(...all) : null;
  }
}

const memories = new WeakMap<ServiceHost, Memory>();

export function memoryOf(host: ServiceHost): Memory {
  let memory = memories.get(host);
  if (!memory) memories.set(host, (memory = new Memory()));
  return memory;
}
