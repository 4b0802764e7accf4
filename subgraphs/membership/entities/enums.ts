import { registerEnums } from '../../../runtime/schema/enums.js';

export enum MembershipPlanStatus {
  DRAFT = 'draft',
  PUBLISHED = 'published',
  RETIRED = 'retired',
}

export enum MembershipStatus {
  ACTIVE = 'active',
  SUSPENDED = 'suspended',
  LAPSED = 'lapsed',
}

export enum MembershipSource {
  SUBSCRIPTION = 'subscription',
  GIFT = 'gift',
  COMP = 'comp',
}

export enum SuspensionReason {
  PAUSED = 'paused',
  PAYMENT_PAST_DUE = 'payment_past_due',
  STAFF = 'staff',
  DISPUTE = 'dispute',
}

export enum LapseReason {
  CANCELLED = 'cancelled',
  PAYMENT_FAILED = 'payment_failed',
  COMP_ENDED = 'comp_ended',
  STAFF = 'staff',
  ERASURE = 'erasure',
}

export enum TierDirection {
  UP = 'up',
  DOWN = 'down',
}

export enum WinBackStatus {
  OPEN = 'open',
  CONVERTED = 'converted',
  EXPIRED = 'expired',
  OPTED_OUT = 'opted_out',
}

export enum BonusTrigger {
  ACTIVATED = 'activated',
  TENURE_DAYS = 'tenure_days',
  TIER_CHANGED = 'tier_changed',
  REACTIVATED = 'reactivated',
}

export enum MilestoneTrigger {
  TENURE_DAYS = 'tenure_days',
  ORDERS_PLACED = 'orders_placed',
  REACTIVATED = 'reactivated',
}

/** What a fact of a member is about; each is told by an event, by staff, or by a comparison with payments. */
export enum FactKind {
  CREATED = 'created',
  PAUSED = 'paused',
  RESUMED = 'resumed',
  CANCELLED = 'cancelled',
  TIER_CHANGED = 'tier_changed',
  INVOICE_PAST_DUE = 'invoice_past_due',
  INVOICE_PAID = 'invoice_paid',
  DISPUTE_LOST = 'dispute_lost',
  DISPUTE_WON = 'dispute_won',
  GRANTED = 'granted',
  STAFF_SUSPENDED = 'staff_suspended',
  STAFF_UNSUSPENDED = 'staff_unsuspended',
  STAFF_LAPSED = 'staff_lapsed',
  OPTED_OUT = 'opted_out',
  ERASED = 'erased',
  PERIOD_MOVED = 'period_moved',
  ORDERED = 'ordered',
}

registerEnums(
  {
    MembershipPlanStatus,
    MembershipStatus,
    MembershipSource,
    SuspensionReason,
    WinBackStatus,
    BonusTrigger,
    MilestoneTrigger,
  },
  {
    MembershipPlanStatus: 'A retired plan keeps its members and takes no new ones.',
    SuspensionReason: 'Access is held while there is any.',
    MilestoneTrigger: 'Days as an active member, orders placed, returns after a lapse.',
  },
);
