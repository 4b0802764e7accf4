import { HOUR_MS, MINUTE_MS } from '../../../runtime/time/durations.js';
import { LivePromotionMode, LiveRegistrationStatus, LiveSessionStatus } from '../entities/enums.js';

const { CONFIRMED, WAITLISTED, OFFERED } = LiveRegistrationStatus;

/** What decides about a seat. */
export interface Seats {
  status: LiveSessionStatus;
  capacity: number | null;
  confirmed: number;
  offered: number;
  waitlisted: number;
  waitlistEnabled: boolean;
  waitlistLimit: number | null;
  promotionMode: LivePromotionMode;
  startsAt: Date;
  endsAt: Date;
  registrationOpensAt: Date | null;
  registrationClosesAt: Date | null;
}

export const freeSeats = ({ capacity, confirmed, offered }: Seats): number =>
  capacity === null ? Number.POSITIVE_INFINITY : Math.max(0, capacity - confirmed - offered);

/**
 * What becomes of somebody who registers; null: the session is full. While anybody waits, a newcomer goes behind, even if a seat shows
 * free. Source: live 7.2.
 */
export function placeFor(seats: Seats): LiveRegistrationStatus | null {
  if (freeSeats(seats) > 0 && seats.waitlisted === 0) return CONFIRMED;
  if (!seats.waitlistEnabled || (seats.waitlistLimit !== null && seats.waitlisted >= seats.waitlistLimit)) return null;
  return WAITLISTED;
}

/** Whether somebody may register now. */
export function isWindowOpen({ status, registrationOpensAt, registrationClosesAt, endsAt }: Seats, now: Date): boolean {
  if (status === LiveSessionStatus.LIVE) return registrationClosesAt === null || now < registrationClosesAt;
  return (
    status === LiveSessionStatus.SCHEDULED &&
    (registrationOpensAt === null || now >= registrationOpensAt) &&
    now < (registrationClosesAt ?? endsAt)
  );
}

/** Whether freed seats are given to those who wait. Source: live 3. */
export const isPromoting = (seats: Seats, now: Date): boolean =>
  seats.status === LiveSessionStatus.LIVE ||
  (seats.status === LiveSessionStatus.SCHEDULED && now < (seats.registrationClosesAt ?? seats.endsAt));

/** So late a seat is confirmed at once, because nobody could answer an offer in time. */
const TOO_LATE_MS = 30 * MINUTE_MS;
const OFFER_MS = 12 * HOUR_MS;
const BEFORE_START_MS = 15 * MINUTE_MS;
const AT_LEAST_MS = 15 * MINUTE_MS;

/** How the first of the queue gets a seat: without a limit there is nobody to whom one that is not taken would go. Source: live 4.1. */
export const promotedTo = ({ capacity, promotionMode, status, startsAt }: Seats, now: Date): LiveRegistrationStatus =>
  capacity === null ||
  promotionMode === LivePromotionMode.AUTO ||
  status === LiveSessionStatus.LIVE ||
  startsAt.getTime() - now.getTime() <= TOO_LATE_MS
    ? CONFIRMED
    : OFFERED;

/** Until when an offered seat is held: 12 h, or until 15 min before the start, at least 15 min. */
export const offerEnd = ({ startsAt }: Pick<Seats, 'startsAt'>, now: Date): Date =>
  new Date(Math.max(now.getTime() + AT_LEAST_MS, Math.min(now.getTime() + OFFER_MS, startsAt.getTime() - BEFORE_START_MS)));

/** Holds a seat. */
export const holdsSeat = (status: LiveRegistrationStatus): boolean => status === CONFIRMED || status === OFFERED;
