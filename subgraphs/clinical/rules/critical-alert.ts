import type { TransitionTable } from '../../../runtime/request/states.js';
import { after, DAY_MS, HOUR_MS } from '../../../runtime/time/durations.js';
import { CriticalAlertSeverity as Severity, CriticalAlertStatus as Status } from '../entities/critical-alert.js';
import { BiomarkerObservationSource as Source, BiomarkerObservationStatus as ObservationStatus } from '../entities/observation.js';
import { HELD_BACK_MS } from '../entities/value-access.js';

export type CriticalAlertTrigger = 'acknowledge' | 'escalate' | 'contact' | 'close';

/** Critical alert states. Source: clinical 3. */
export const CRITICAL_ALERT_STATES = {
  [Status.OPEN]: { acknowledge: Status.ACKNOWLEDGED, escalate: Status.ESCALATED, contact: Status.OPEN },
  [Status.ESCALATED]: { acknowledge: Status.ACKNOWLEDGED, contact: Status.ESCALATED },
  [Status.ACKNOWLEDGED]: { contact: Status.ACKNOWLEDGED, close: Status.CLOSED },
  [Status.CLOSED]: {},
} as const satisfies TransitionTable<Status, CriticalAlertTrigger>;

const TIME_TO_ACKNOWLEDGE = { [Severity.PANIC]: HOUR_MS, [Severity.CRITICAL]: 4 * HOUR_MS } as const satisfies Record<Severity, number>;
/** An imported result whose draw is older raises no alert. */
const IMPORTED_MS = 7 * DAY_MS;

export const acknowledgeBy = (severity: Severity, now: Date): Date => after(now, TIME_TO_ACKNOWLEDGE[severity]);
export const hiddenUntil = (now: Date): Date => after(now, HELD_BACK_MS);

/** Whether a result may raise an alert: a final one of a draw; an imported one only while it is recent. Source: clinical 7.3.2. */
export function isAlerting(row: { source: Source; status: ObservationStatus; collectedAt: Date }, imported: boolean, now: Date): boolean {
  const fromDraw = row.source === Source.LAB || row.source === Source.PARTNER;
  const standing = row.status === ObservationStatus.FINAL || row.status === ObservationStatus.CORRECTED;
  return fromDraw && standing && (!imported || row.collectedAt >= after(now, -IMPORTED_MS));
}
