import { registerEnums } from '../../../runtime/schema/enums.js';

export enum EntitlementFeatureKind {
  BOOLEAN = 'boolean',
  CONFIG = 'config',
  METERED = 'metered',
}

export enum EntitlementFailMode {
  CLOSED = 'closed',
  OPEN = 'open',
}

export enum EntitlementUsageReset {
  NEVER = 'never',
  DAY = 'day',
  CALENDAR_MONTH = 'calendar_month',
  MEMBERSHIP_PERIOD = 'membership_period',
}

export enum EntitlementAccess {
  GRANTED = 'granted',
  DENIED = 'denied',
  LIMIT_REACHED = 'limit_reached',
}

export enum EntitlementSource {
  TIER = 'tier',
  OVERRIDE = 'override',
  PURCHASE = 'purchase',
  DEFAULT = 'default',
  FALLBACK = 'fallback',
}

export enum EntitlementDenialReason {
  NOT_IN_TIER = 'not_in_tier',
  NO_MEMBERSHIP = 'no_membership',
  SUSPENDED = 'suspended',
  EXPIRED = 'expired',
  OVERRIDE_DENY = 'override_deny',
  LIMIT_REACHED = 'limit_reached',
  UNKNOWN_FEATURE = 'unknown_feature',
}

export enum EntitlementOverrideState {
  SCHEDULED = 'scheduled',
  ACTIVE = 'active',
  ENDED = 'ended',
}

registerEnums(
  {
    EntitlementFeatureKind,
    EntitlementFailMode,
    EntitlementUsageReset,
    EntitlementAccess,
    EntitlementSource,
    EntitlementDenialReason,
    EntitlementOverrideState,
  },
  {
    EntitlementFeatureKind: 'On or off; a value; an amount that is used up.',
    EntitlementFailMode: 'What holds where the facts cannot be had.',
    EntitlementUsageReset: 'When counting begins anew, in UTC; without a membership, or a comp, its period is the calendar month.',
    EntitlementSource: 'The rule that an answer comes from.',
    EntitlementOverrideState: 'Follows from the time alone.',
  },
);
