import { after, DAY_MS, MINUTE_MS } from '../../../runtime/time/durations.js';
import { CashReservationStatus } from '../entities/enums.js';
import type { TransitionTable } from '../../../runtime/request/states.js';
import type { CashReservation } from '../entities/reservation.js';

const HOLD_MS = 30 * MINUTE_MS;
const LONGEST_MS = 8 * DAY_MS;

const { HELD, COMMITTED, RELEASED, EXPIRED } = CashReservationStatus;

/** HELD ends once; what has ended stays as it is. Source: cash 3. */
export const RESERVATION_STATES = {
  [HELD]: { extend: HELD, commit: COMMITTED, release: RELEASED, expire: EXPIRED },
  [COMMITTED]: {},
  [RELEASED]: {},
  [EXPIRED]: {},
} as const satisfies TransitionTable<CashReservationStatus, 'extend' | 'commit' | 'release' | 'expire'>;

/** End of a reservation that is made or extended now: 30 minutes, at most 8 days after it was made. */
export const holdUntil = (createdAt: Date, now: Date): Date =>
  new Date(Math.min(after(now, HOLD_MS).getTime(), after(createdAt, LONGEST_MS).getTime()));

/** State at an instant, whether or not the sweep has come by. */
export const reservationStateAt = ({ state, expiresAt }: Pick<CashReservation, 'state' | 'expiresAt'>, at: Date): CashReservationStatus =>
  state === HELD && at >= expiresAt ? EXPIRED : state;
