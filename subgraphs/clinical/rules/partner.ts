import { InterventionStatus as Status } from '../entities/intervention.js';
import type { ProtocolPhase } from '../entities/protocol.js';
import { type InterventionTrigger } from './intervention.js';

/** What the telehealth partner reports of a treatment. Source: clinical 5, consumed. */
export type PartnerReportKind = 'created' | 'approved' | 'active' | 'paused' | 'resumed' | 'cancelled' | 'expired' | 'denied';

type Triggers = Readonly<Partial<Record<Status, InterventionTrigger>>>;

const STARTS: Triggers = {
  [Status.PROPOSED]: 'start_by_partner',
  [Status.PENDING_CONSULT]: 'start_by_partner',
  [Status.PAUSED]: 'resume',
};
const REFUSES: Triggers = { [Status.PROPOSED]: 'stop', [Status.PENDING_CONSULT]: 'stop' };
const ENDS: Triggers = { ...REFUSES, [Status.ACTIVE]: 'stop', [Status.PAUSED]: 'stop' };

/** The transition that a report asks for, by the state of the intervention. */
const TRIGGERS = {
  created: {},
  approved: STARTS,
  active: STARTS,
  resumed: STARTS,
  paused: { [Status.ACTIVE]: 'pause' },
  cancelled: ENDS,
  expired: ENDS,
  denied: REFUSES,
} as const satisfies Record<PartnerReportKind, Triggers>;

/** The transition that a report of the partner asks for; null where the intervention is there already, or has ended. */
export const triggerOf = (kind: PartnerReportKind, status: Status): InterventionTrigger | null =>
  (TRIGGERS[kind] as Triggers)[status] ?? null;

/** Products that a protocol's doses are of, each once. */
export const productsOf = (phases: readonly ProtocolPhase[]): string[] => [
  ...new Set(phases.flatMap(({ doses }) => doses.map(dose => dose.productCode))),
];
