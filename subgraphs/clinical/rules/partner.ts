import { InterventionStatus as Status } from '../entities/intervention.js';
import type { ProtocolPhase } from '../entities/protocol.js';
import { type InterventionTrigger } from './intervention.js';

/** What the telehealth partner says of a treatment. Source: clinical 5, consumed. */
export type PartnerWord = 'created' | 'approved' | 'active' | 'paused' | 'resumed' | 'cancelled' | 'expired' | 'denied';

/** The transition that a word of the partner asks for; null where the intervention is there already, or has ended. */
export function triggerOf(word: PartnerWord, status: Status): InterventionTrigger | null {
  const waiting = status === Status.PROPOSED || status === Status.PENDING_CONSULT;
  const running = status === Status.ACTIVE || status === Status.PAUSED;
  if (word === 'approved' || word === 'active' || word === 'resumed') {
    if (status === Status.PAUSED) return 'resume';
    return waiting ? 'start_by_partner' : null;
  }
  if (word === 'paused') return status === Status.ACTIVE ? 'pause' : null;
  if (word === 'cancelled' || word === 'expired') return waiting || running ? 'stop' : null;
  return word === 'denied' && waiting ? 'stop' : null;
}

/** Products that a protocol's doses are of, each once. */
export const productsOf = (phases: readonly ProtocolPhase[]): string[] => [
  ...new Set(phases.flatMap(({ doses }) => doses.map(dose => dose.productCode))),
];
