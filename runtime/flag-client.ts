import { ErrorCode, type EvaluationContext, type JsonValue, OpenFeature, type Provider, type ResolutionDetails } from '@openfeature/server-sdk';
import { evaluateFlag, type FlagSnapshot, type FlagTarget, type FlagValue } from './flags.js';
import type { Logger } from './log.js';

/** Reads the snapshot of the flags that concern a service; null when it still has revision `ifNot`. */
export type SnapshotSource = (ifNot: number | null) => Promise<FlagSnapshot | null>;

/** A snapshot that was not confirmed for longer counts as no snapshot for fail-closed flags. Source: platform rule 2. */
const TRUSTED_MS = 120_000;
const POLL_MS = 5_000;

interface Override {
  value: FlagValue | '!error';
  brandId: string | null;
  userId: string | null;
}

/**
 * A service's flags: evaluated in process from a snapshot, refreshed by poll and hint. Unreadable, unknown, stale for 120 s or
 * of the wrong type reads as off: it fails closed. Source: platform rules 1 and 2.
 */
export class FlagClient {
  #snapshot: FlagSnapshot | null = null;
  #confirmedAt = 0;
  #timer: NodeJS.Timeout | null = null;
  readonly #overrides = new Map<string, Override[]>();

  constructor(private readonly source: SnapshotSource, private readonly log: Logger) {}

  /** Reads now and then every 5 s. The first failure is not fatal: flags are off until a read succeeds. */
  async start(): Promise<void> {
    await this.refresh();
    this.#timer = setInterval(() => void this.refresh(), POLL_MS);
    this.#timer.unref();
  }

  stop(): void {
    if (this.#timer) clearInterval(this.#timer);
  }

  async refresh(): Promise<void> {
    try {
      const fresh = await this.source(this.#snapshot?.revision ?? null);
      if (fresh) this.#snapshot = fresh;
      this.#confirmedAt = performance.now();
    } catch (error) {
      this.log.warn({ err: error instanceof Error ? error.name : 'error' }, 'flags could not be read; they fail closed after 120 s');
    }
  }

  /** Overrides a flag in this service until restart; null removes; `!error` makes reading fail. Source: conventions 8, test-flags. */
  override(key: string, value: FlagValue | null, brandId: string | null = null, userId: string | null = null): void {
    const others = (this.#overrides.get(key) ?? []).filter(one => one.brandId !== brandId || one.userId !== userId);
    this.#overrides.set(key, value === null ? others : [...others, { value, brandId, userId }]);
  }

  /** True only when the flag is known, trusted and on for this target. */
  boolean(key: string, target: FlagTarget = {}): boolean {
    return this.read(key, target) === true;
  }

  string(key: string, fallback: string, target: FlagTarget = {}): string {
    const value = this.read(key, target);
    return typeof value === 'string' ? value : fallback;
  }

  /** The value, or null when it cannot be known. */
  read(key: string, target: FlagTarget): FlagValue | null {
    const override = this.#overrideFor(key, target);
    if (override) return override.value === '!error' ? null : override.value;
    const snapshot = this.#snapshot;
    if (!snapshot) return null;
    const trusted = performance.now() - this.#confirmedAt <= TRUSTED_MS;
    if (!trusted && snapshot.flags.get(key)?.failClosed !== false) return null;
    return evaluateFlag(snapshot, key, target).value;
  }

  /** The most specific override that matches. */
  #overrideFor(key: string, target: FlagTarget): Override | undefined {
    const fits = (one: Override) => (one.brandId === null || one.brandId === target.brandId) && (one.userId === null || one.userId === target.userId);
    const weight = (one: Override) => Number(one.userId !== null) * 2 + Number(one.brandId !== null);
    return (this.#overrides.get(key) ?? []).filter(fits).sort((a, b) => weight(b) - weight(a))[0];
  }
}

const targetOf = (context: EvaluationContext): FlagTarget => ({
  userId: context.targetingKey ?? null, brandId: typeof context.brandId === 'string' ? context.brandId : null,
});

/** The OpenFeature face of a {@link FlagClient}, for code that prefers the standard SDK. */
export class PlatformProvider implements Provider {
  readonly metadata = { name: 'platform' } as const;
  readonly runsOn = 'server' as const;

  constructor(private readonly flags: FlagClient) {}

  resolveBooleanEvaluation = (key: string, fallback: boolean, context: EvaluationContext) => this.#resolve(key, fallback, context, 'boolean');
  resolveStringEvaluation = (key: string, fallback: string, context: EvaluationContext) => this.#resolve(key, fallback, context, 'string');
  resolveNumberEvaluation = async (_key: string, fallback: number): Promise<ResolutionDetails<number>> => mismatch(fallback);
  resolveObjectEvaluation = async <T extends JsonValue>(_key: string, fallback: T): Promise<ResolutionDetails<T>> => mismatch(fallback);

  async #resolve<T extends FlagValue>(key: string, fallback: T, context: EvaluationContext, type: 'boolean' | 'string'): Promise<ResolutionDetails<T>> {
    const value = this.flags.read(key, targetOf(context));
    if (value === null) return { value: fallback, reason: 'ERROR', errorCode: ErrorCode.FLAG_NOT_FOUND };
    return typeof value === type ? { value: value as T, reason: 'TARGETING_MATCH' } : mismatch(fallback);
  }
}

const mismatch = <T>(value: T): ResolutionDetails<T> => ({ value, reason: 'ERROR', errorCode: ErrorCode.TYPE_MISMATCH });

/** An OpenFeature client of a service's own flags. */
export async function openFeatureClient(service: string, flags: FlagClient) {
  await OpenFeature.setProviderAndWait(service, new PlatformProvider(flags));
  return OpenFeature.getClient(service);
}
