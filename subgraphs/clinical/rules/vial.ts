import type { TransitionTable } from '../../../runtime/request/states.js';
import { VialStatus as Status } from '../entities/vial.js';
import type { ProtocolPhase } from '../entities/protocol.js';
import { everyDays } from './dose-schedule.js';
import { plusDays } from './intervention.js';

export type VialTrigger = 'reconstitute' | 'discard';

/** Vial states. Source: clinical 3. */
export const VIAL_STATES = {
  [Status.NEW]: { reconstitute: Status.IN_USE, discard: Status.DISCARDED },
  [Status.IN_USE]: { discard: Status.DISCARDED },
  [Status.DISCARDED]: {},
} as const satisfies TransitionTable<Status, VialTrigger>;

/** Last day of use: reconstitution plus stability, at most the expiry. Source: clinical 2, Vial. */
export function beyondUseOn(reconstitutedOn: string, stabilityDays: number, expiresOn: string): string {
  const stable = plusDays(reconstitutedOn, stabilityDays);
  return stable < expiresOn ? stable : expiresOn;
}

/** End of a civil day, UTC: a vial is good on its last day. */
export const endOf = (day: string): Date => new Date(`${plusDays(day, 1)}T00:00:00.000Z`);

/** The partner's delivery names no expiry: it is taken as so many days away, and the label decides. */
export const DELIVERED_KEEPS_DAYS = 90;
/** A delivery lasts for so many days. */
const SUPPLY_DAYS = 28;

/** Doses of a product that a delivery is for: those that the plan's fullest phase has in 28 days; 1 where there is no plan. */
export function dosesOfDelivery(phases: readonly ProtocolPhase[], productCode: string): number {
  const doses = phases.flatMap(phase => phase.doses).filter(dose => dose.productCode === productCode);
  return Math.max(1, ...doses.map(({ timing, timesOfDay }) => Math.ceil(SUPPLY_DAYS / everyDays(timing)) * Math.max(1, timesOfDay.length)));
}
