import type { TransitionTable } from '../../../runtime/request/states.js';
import { DAY_MS, MINUTE_MS } from '../../../runtime/time/durations.js';
import { StaffMemberStatus } from '../entities/staff.js';

/** What happens to an entry of the staff. `activate`: PATCH with `status: active`; `expire`: the timer. */
export type StaffTrigger = 'accept' | 'expire' | 'resend' | 'revoke' | 'suspend' | 'activate' | 'remove';

const { INVITED, ACTIVE, SUSPENDED, REMOVED, REVOKED, EXPIRED } = StaffMemberStatus;

/** REMOVED and REVOKED are final: a new invitation makes a new entry. Source: identity 3, Staff. */
export const STAFF: TransitionTable<StaffMemberStatus, StaffTrigger> = {
  [INVITED]: { accept: ACTIVE, expire: EXPIRED, resend: INVITED, revoke: REVOKED },
  [EXPIRED]: { resend: INVITED },
  [ACTIVE]: { suspend: SUSPENDED, remove: REMOVED },
  [SUSPENDED]: { activate: ACTIVE, remove: REMOVED },
  [REMOVED]: {},
  [REVOKED]: {},
};

/** An invitation can be accepted for seven days. Source: identity 3, Staff. */
const INVITATION_MS = 7 * DAY_MS;

/** An invitation is sent again once a minute at most. Source: identity 4. */
const RESEND_MS = MINUTE_MS;

/** Seconds until an invitation may be sent again, 0 for now. `expiresAt`: the end of the one that went out last. */
export const resendWait = (expiresAt: Date, now: Date): number =>
  Math.max(0, Math.ceil((expiresAt.getTime() - INVITATION_MS + RESEND_MS - now.getTime()) / 1000));
