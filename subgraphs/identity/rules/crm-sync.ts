import { createHash } from 'node:crypto';
import { DAY_MS } from '../../../runtime/time/durations.js';
import { type CrmChange, type CrmContact, type CrmSyncCandidate, CrmSyncChange, CrmSyncReason } from '../entities/crm-sync.js';
import { UserStatus } from '../entities/user.js';

/** An erased user is shown for so long. Source: identity 4.10. */
export const ERASED_SHOWN_MS = 90 * DAY_MS;

const { CREATED, PROFILE, CONTACT, CONSENT, STATUS, ERASED } = CrmSyncReason;

/** Where the time of each kind of change stands. */
const CHANGE_TIMES = {
  [CREATED]: 'createdAt',
  [PROFILE]: 'profileAt',
  [CONTACT]: 'contactAt',
  [CONSENT]: 'consentAt',
  [STATUS]: 'statusAt',
  [ERASED]: 'erasedAt',
} as const satisfies Record<CrmSyncReason, keyof CrmChange>;

/** Kinds of change after a time; null: ever. */
const reasonsSince = (change: CrmChange, since: Date | null): CrmSyncReason[] =>
  Object.values(CrmSyncReason).filter(reason => {
    const at = change[CHANGE_TIMES[reason]];
    return at !== null && (since === null || at > since);
  });

/** What identity holds of a user that a CRM could know. */
export interface CrmFacts {
  status: UserStatus;
  contact: CrmContact;
  marketingConsent: boolean;
}

/** Of an account that is closed for good, or is going or gone, nothing but its status is shown. Source: identity 4.10. */
const SHOWN: readonly UserStatus[] = [UserStatus.PENDING, UserStatus.ACTIVE, UserStatus.SUSPENDED];

const hashOf = (facts: unknown): string => createHash('sha256').update(JSON.stringify(facts)).digest('hex');

export function candidateOf(change: CrmChange, { status, contact, marketingConsent }: CrmFacts, since: Date | null): CrmSyncCandidate {
  const shown = SHOWN.includes(status) ? { contact, marketingConsent } : { contact: null, marketingConsent: false };
  const kind = status === UserStatus.ERASED ? CrmSyncChange.DELETE : CrmSyncChange.UPSERT;
  const { email, displayName, phone, locale, timeZone, countryCode } = shown.contact ?? {};
  const hash = hashOf([kind, status, shown.marketingConsent, email, displayName, phone, locale, timeZone, countryCode]);
  return { userId: change.id, change: kind, reasons: reasonsSince(change, since), ...shown, status, changedAt: change.changedAt, hash };
}
