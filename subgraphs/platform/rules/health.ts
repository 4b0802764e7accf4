import { CanaryKind, CanaryProbeStatus, ServiceHealthStatus, SuiteHealthStatus, type CheckResult } from '../entities/health.js';

const { UP, DEGRADED, DOWN, UNKNOWN } = ServiceHealthStatus;

/** Longer than this is slow, ms. */
export const SLOW_MS = 1_000;
/** Checks that are looked back on. */
const WINDOW = 6;
/** Failures in a row that take a service down, and successes that bring it back. */
const DOWN_AFTER = 3;
const UP_AFTER = 2;

/** What is known of a service between two checks; `recent` newest first. */
export interface HealthState {
  status: ServiceHealthStatus;
  recent: readonly CheckResult[];
  consecutiveFailures: number;
}

const isBack = (recent: readonly CheckResult[]): boolean =>
  recent.length >= UP_AFTER && recent.slice(0, UP_AFTER).every(result => result !== 'failed');

/**
 * A service after one more check. Checks before a recovery are forgotten with it: a service that is back is UP, not DEGRADED by what
 * took it down. Source: platform 3.
 */
export function nextHealth({ status, recent: before, consecutiveFailures }: HealthState, result: CheckResult): HealthState {
  const recent = [result, ...before].slice(0, WINDOW);
  const failures = result === 'failed' ? consecutiveFailures + 1 : 0;
  if (status === DOWN)
    return isBack(recent) ? { status: UP, recent: [], consecutiveFailures: 0 } : { status, recent, consecutiveFailures: failures };
  if (failures >= DOWN_AFTER) return { status: DOWN, recent, consecutiveFailures: failures };
  return { status: recent.every(one => one === 'ok') ? UP : DEGRADED, recent, consecutiveFailures: failures };
}

/** How old the last check may be, ms; older means that nobody checks, not that the service is down. Source: platform, rule 9. */
export const STALE_MS = 60_000;

/** The status to show: unknown where the last check is too old. */
export const shownStatus = (status: ServiceHealthStatus, checkedAt: Date | null, now: Date): ServiceHealthStatus =>
  checkedAt === null || now.getTime() - checkedAt.getTime() > STALE_MS ? UNKNOWN : status;

/** FAIL where a critical service is down, WARN where anything known is not well, or nothing is known at all. */
export function verdictOf(services: readonly { status: ServiceHealthStatus; critical: boolean }[]): SuiteHealthStatus {
  if (services.some(({ status, critical }) => critical && status === DOWN)) return SuiteHealthStatus.FAIL;
  const known = services.filter(({ status }) => status !== UNKNOWN);
  return known.length > 0 && known.every(({ status }) => status === UP) ? SuiteHealthStatus.PASS : SuiteHealthStatus.WARN;
}

/** Latency from which a probe is late, and from which it counts as lost, ms. Source: platform 5. */
export const CANARY_LIMITS: Readonly<Record<CanaryKind, { late: number; lost: number }>> = {
  [CanaryKind.BUS]: { late: 5_000, lost: 60_000 },
  [CanaryKind.WORKFLOW]: { late: 30_000, lost: 300_000 },
};

/** What a probe is that came back after so long. */
export function arrivalOf(kind: CanaryKind, latencyMs: number): CanaryProbeStatus {
  const { late, lost } = CANARY_LIMITS[kind];
  if (latencyMs > lost) return CanaryProbeStatus.LOST;
  return latencyMs > late ? CanaryProbeStatus.LATE : CanaryProbeStatus.OK;
}

/** Share of a span that lies in none of the outages, 0 to 1. */
export function uptimeOf(from: Date, to: Date, outages: readonly { startedAt: Date; endedAt: Date | null }[]): number {
  const whole = to.getTime() - from.getTime();
  const out = outages.reduce((sum, { startedAt, endedAt }) => {
    const [start, end] = [Math.max(startedAt.getTime(), from.getTime()), Math.min((endedAt ?? to).getTime(), to.getTime())];
    return sum + Math.max(0, end - start);
  }, 0);
  return whole > 0 ? 1 - out / whole : 1;
}
