import { registerEnums } from '../../../runtime/schema/enums.js';

export { PriceSubjectKind } from '../../../runtime/schema/price-subjects.js';

export enum CashSource {
  PROMOTION = 'promotion',
  BONUS = 'bonus',
  GIFT = 'gift',
  REFUND = 'refund',
  REFERRAL = 'referral',
  STAFF = 'staff',
}

export enum CashGrantStatus {
  SCHEDULED = 'scheduled',
  ACTIVE = 'active',
  EXHAUSTED = 'exhausted',
  EXPIRED = 'expired',
  REVOKED = 'revoked',
}

export enum CashReservationStatus {
  HELD = 'held',
  COMMITTED = 'committed',
  RELEASED = 'released',
  EXPIRED = 'expired',
}

export enum CashMovementKind {
  GRANTED = 'granted',
  SPENT = 'spent',
  EXPIRED = 'expired',
  REVOKED = 'revoked',
  RETURNED = 'returned',
}

export enum CashBulkGrantOutcome {
  PENDING = 'pending',
  GRANTED = 'granted',
  EXISTING = 'existing',
  REFUSED = 'refused',
}

registerEnums(
  { CashSource, CashGrantStatus, CashReservationStatus, CashMovementKind, CashBulkGrantOutcome },
  {
    CashSource: 'Why cash was given.',
    CashGrantStatus: 'What is left of an ACTIVE grant can be spent.',
    CashMovementKind: 'GRANTED and RETURNED add to the balance, the others take from it.',
    CashBulkGrantOutcome: 'EXISTING: this user has the grant of the campaign already; REFUSED: with other terms.',
  },
);
