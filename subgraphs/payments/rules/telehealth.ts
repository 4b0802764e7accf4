/** States of a partner's charge. Source: payments 4.4. */
export const PARTNER_STATES = ['authorized', 'captured', 'failed', 'refunded', 'disputed'] as const;
export type PartnerState = (typeof PARTNER_STATES)[number];

/** How far a charge is; a lower rank is never news. A failed authorization can be tried again, so it ranks no higher than one. */
const RANKS: Readonly<Record<PartnerState, number>> = { authorized: 1, failed: 1, captured: 2, refunded: 3, disputed: 3 };

export interface Report {
  readonly state: PartnerState;
  readonly at: Date;
}

/** Whether a report tells less than what is known: it is older, or of a lower rank. Source: payments 4.4. */
export function isStale(known: Report | null, { state, at }: Report): boolean {
  if (known === null) return false;
  if (RANKS[state] < RANKS[known.state]) return true;
  return RANKS[state] === RANKS[known.state] && at <= known.at;
}
