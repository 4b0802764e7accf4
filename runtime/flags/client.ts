import {
  ErrorCode,
  type EvaluationContext,
  type JsonValue,
  OpenFeature,
  type Provider,
  type ResolutionDetails,
} from '@openfeature/server-sdk';
import {
  evaluateFlag,
  type FlagDefinition,
  type FlagEvaluation,
  type FlagSnapshot,
  type FlagTarget,
  type FlagValue,
  isSound,
  noEvaluation,
  offEvaluation,
} from './evaluation.js';
import type { FlagUsage } from './usage.js';
import type { Logger } from '../observe/log.js';

/** Reads the snapshot of the flags that concern a service; null when it still has revision `ifNot`. */
export type SnapshotSource = (ifNot: number | null) => Promise<FlagSnapshot | null>;

/** A snapshot that was not confirmed for longer counts as no snapshot for fail-closed flags. Source: platform rule 2. */
const TRUSTED_MS = 120_000;

/** The platform's revision of all flags, and an instant of the process's clock at which it stood, ms. */
export interface Confirmed {
  revision: number;
  at: number;
}

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
  #confirmedAt = Number.NEGATIVE_INFINITY;
  readonly #timers: NodeJS.Timeout[] = [];
  #stopped = false;
  #running: Promise<void> | null = null;
  #next: Promise<void> | null = null;
  /** Flags that came corrupt and do not fail closed: they keep their last sound definition. */
  #kept: ReadonlySet<string> = new Set();
  readonly #overrides = new Map<string, Override[]>();

  constructor(
    private readonly source: SnapshotSource,
    private readonly log: Logger,
    private readonly clock: () => number = () => performance.now(),
    private readonly usage: FlagUsage | null = null,
  ) {}

  /** Reads now; {@link pollFlags} reads again. The first failure is not fatal: flags are off until a read succeeds. */
  async start(): Promise<void> {
    await this.refresh();
    if (this.usage) this.#every(this.usage.everyMs, () => this.#report(this.usage!));
  }

  #every(ms: number, work: () => Promise<void>): void {
    this.#timers.push(setInterval(() => void work(), ms).unref());
  }

  async #report(usage: FlagUsage): Promise<void> {
    await usage.report().catch((error: unknown) => {
      this.log.debug({ err: error instanceof Error ? error.name : 'error' }, 'the use of flags could not be reported; it is said again');
    });
  }

  /** Resolves when nothing is read any more. */
  async stop(): Promise<void> {
    this.#timers.forEach(clearInterval);
    this.#stopped = true;
    await this.#next;
    await this.#running;
  }

  /** Resolves after a read that began at or after this call, so a change that was hinted is in force. Calls that wait share one read. */
  refresh(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    if (!this.#running) return (this.#running = this.#read().finally(() => (this.#running = null)));
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      return this.refresh();
    });
    return this.#next;
  }

  /** What is known, and when it was last asked for with success, by the clock; null: nothing is. */
  get confirmed(): Confirmed | null {
    return this.#snapshot && { revision: this.#snapshot.revision, at: this.#confirmedAt };
  }

  /** Another client of the process has read that a revision stands. False: it is not this one's. */
  confirm({ revision, at }: Confirmed): boolean {
    if (revision !== this.#snapshot?.revision) return false;
    this.#confirmedAt = Math.max(this.#confirmedAt, at);
    return true;
  }

  async #read(): Promise<void> {
    const askedAt = this.clock();
    try {
      const fresh = await this.source(this.#snapshot?.revision ?? null);
      if (fresh) this.#accept(fresh);
      if (this.#snapshot) this.#confirmedAt = askedAt;
    } catch (error) {
      this.log.warn({ err: error instanceof Error ? error.name : 'error' }, 'flags could not be read; they fail closed after 120 s');
    }
  }

  #accept(fresh: FlagSnapshot): void {
    const last = this.#snapshot?.flags;
    const isKept = (flag: FlagDefinition): boolean => !flag.failClosed && !isSound(flag) && last?.has(flag.key) === true;
    const kept = [...fresh.flags.values()].filter(isKept).map(({ key }) => key);
    for (const key of kept) this.log.warn({ flag: key }, 'a flag is corrupt; its last definition stays in force');
    const flags = new Map([...fresh.flags].map(([key, flag]) => [key, kept.includes(key) ? last!.get(key)! : flag]));
    this.#kept = new Set(kept);
    this.#snapshot = { revision: fresh.revision, flags };
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
    return this.evaluate(key, target).value;
  }

  /** The value with its reason. A snapshot that is not trusted serves the off variant of a fail-closed flag and the last value of any other. */
  evaluate(key: string, target: FlagTarget = {}): FlagEvaluation {
    const override = this.#overrideFor(key, target);
    if (override) return overridden(key, override.value);
    const evaluation = this.#fromSnapshot(key, target);
    this.usage?.count(evaluation, target.brandId);
    return evaluation;
  }

  #fromSnapshot(key: string, target: FlagTarget): FlagEvaluation {
    if (!this.#snapshot) return noEvaluation(key, 'PROVIDER_NOT_READY');
    const flag = this.#snapshot.flags.get(key);
    const trusted = this.clock() - this.#confirmedAt <= TRUSTED_MS;
    if (!trusted && flag && flag.failClosed !== false) return offEvaluation(flag, 'PROVIDER_NOT_READY');
    const evaluation = evaluateFlag(this.#snapshot, key, target);
    return flag && (!trusted || this.#kept.has(key)) ? { ...evaluation, reason: 'STALE' } : evaluation;
  }

  /** The most specific override that matches. */
  #overrideFor(key: string, target: FlagTarget): Override | undefined {
    const fits = (one: Override) =>
      (one.brandId === null || one.brandId === target.brandId) && (one.userId === null || one.userId === target.userId);
    const weight = (one: Override) => Number(one.userId !== null) * 2 + Number(one.brandId !== null);
    return (this.#overrides.get(key) ?? []).filter(fits).sort((a, b) => weight(b) - weight(a))[0];
  }
}

const overridden = (key: string, value: FlagValue | '!error'): FlagEvaluation =>
  value === '!error' ? noEvaluation(key, 'GENERAL') : { ...noEvaluation(key, 'GENERAL'), value, reason: 'STATIC', errorCode: null };

/** Context keys of the OpenFeature API beside `targetingKey` (the user) and `brandId`. */
const ATTRIBUTE_KEYS = {
  country: 'COUNTRY',
  locale: 'LOCALE',
  role: 'ROLE',
  tier: 'TIER',
  client: 'CLIENT',
  appVersion: 'APP_VERSION',
} as const;

const isText = (value: unknown): value is string => typeof value === 'string';

function attributesOf(context: EvaluationContext): Record<string, string | string[]> {
  const entries = Object.entries(ATTRIBUTE_KEYS).map(([key, attribute]) => [attribute, context[key]] as const);
  return Object.fromEntries(entries.filter(([, value]) => isText(value) || (Array.isArray(value) && value.every(isText)))) as Record<
    string,
    string
  >;
}

const targetOf = (context: EvaluationContext): FlagTarget => ({
  userId: context.targetingKey ?? null,
  brandId: isText(context.brandId) ? context.brandId : null,
  attributes: attributesOf(context),
});

/** The OpenFeature API of a {@link FlagClient}, for code that prefers the standard SDK. */
export class PlatformProvider implements Provider {
  readonly metadata = { name: 'platform' } as const;
  readonly runsOn = 'server' as const;

  constructor(private readonly flags: FlagClient) {}

  resolveBooleanEvaluation = (key: string, fallback: boolean, context: EvaluationContext) =>
    this.#resolve(key, fallback, context, 'boolean');
  resolveStringEvaluation = (key: string, fallback: string, context: EvaluationContext) => this.#resolve(key, fallback, context, 'string');
  resolveNumberEvaluation = async (_key: string, fallback: number): Promise<ResolutionDetails<number>> => mismatch(fallback);
  resolveObjectEvaluation = async <T extends JsonValue>(_key: string, fallback: T): Promise<ResolutionDetails<T>> => mismatch(fallback);

  async #resolve<T extends FlagValue>(
    key: string,
    fallback: T,
    context: EvaluationContext,
    type: 'boolean' | 'string',
  ): Promise<ResolutionDetails<T>> {
    const { value, variant, reason, errorCode, revision } = this.flags.evaluate(key, targetOf(context));
    if (value !== null && typeof value !== type) return mismatch(fallback);
    return {
      value: (value ?? fallback) as T,
      reason,
      ...(variant !== null && { variant }),
      ...(errorCode !== null && { errorCode: ErrorCode[errorCode] }),
      ...(revision !== null && { flagMetadata: { revision } }),
    };
  }
}

const mismatch = <T>(value: T): ResolutionDetails<T> => ({ value, reason: 'ERROR', errorCode: ErrorCode.TYPE_MISMATCH });

/** An OpenFeature client of a service's own flags. */
export async function openFeatureClient(service: string, flags: FlagClient) {
  await OpenFeature.setProviderAndWait(service, new PlatformProvider(flags));
  return OpenFeature.getClient(service);
}
