import type { TransitionTable } from '../../../runtime/request/states.js';
import { ConsultOutcome as Outcome, ConsultStatus as Status } from '../entities/consult.js';

export type ConsultTrigger = 'schedule' | 'unschedule' | 'begin' | 'sign' | 'cancel';

/** Consult states; after SIGNED only addenda. A cancelled visit leads back to REQUESTED. Source: clinical 3, 5. */
export const CONSULT_STATES = {
  [Status.REQUESTED]: { schedule: Status.SCHEDULED, cancel: Status.CANCELLED },
  [Status.SCHEDULED]: { schedule: Status.SCHEDULED, unschedule: Status.REQUESTED, begin: Status.IN_PROGRESS, cancel: Status.CANCELLED },
  [Status.IN_PROGRESS]: { sign: Status.SIGNED, cancel: Status.CANCELLED },
  [Status.SIGNED]: {},
  [Status.CANCELLED]: {},
} as const satisfies TransitionTable<Status, ConsultTrigger>;

export const isOpenConsult = (status: Status): boolean => status !== Status.SIGNED && status !== Status.CANCELLED;

/** What setting a status means; others cannot be set. */
export const TRIGGER_OF_STATUS: Readonly<Partial<Record<Status, ConsultTrigger>>> = {
  [Status.SCHEDULED]: 'schedule',
  [Status.IN_PROGRESS]: 'begin',
};

/** Whether answers are an object of at most 100 plain values, 20,000 characters as JSON. */
export function areAnswers(answers: unknown): answers is object {
  if (typeof answers !== 'object' || answers === null) return false;
  const values = Object.values(answers);
  const plain = !Array.isArray(answers) && values.length <= 100 && values.every(one => one === null || typeof one !== 'object');
  return plain && JSON.stringify(answers).length <= 20_000;
}

/** What an outcome does to the intervention that waits for it; nothing for the others. Source: clinical 3. */
export const EFFECT_ON_INTERVENTION = {
  [Outcome.APPROVED]: 'approve',
  [Outcome.DENIED]: 'deny',
  [Outcome.MORE_INFO]: null,
  [Outcome.REFERRED]: null,
} as const satisfies Record<Outcome, 'approve' | 'deny' | null>;

/** Years that signed consults are kept after an erasure, 0..50; 0: they are erased with the rest. Source: clinical 7.1.17. */
export function retentionYears(setting: string | undefined): number {
  const years = Number(setting ?? 0);
  if (!Number.isInteger(years) || years < 0 || years > 50)
    throw new Error('CLINICAL_RETAIN_SIGNED_CONSULT_YEARS must be a whole number from 0 to 50');
  return years;
}

/** Until when a consult is kept: so many calendar years after it was signed. */
export function keepUntil(signedAt: Date, years: number): Date {
  const end = new Date(signedAt);
  end.setUTCFullYear(end.getUTCFullYear() + years);
  return end;
}
