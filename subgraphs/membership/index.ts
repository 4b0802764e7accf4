import { service } from '../../runtime/service.js';
import { consumers } from './consumers.js';
import { MembershipFact } from './entities/fact.js';
import { Membership, MembershipPeriod, TierChange } from './entities/membership.js';
import { MembershipPlan, MembershipTier } from './entities/plan.js';
import { BonusGrant, BonusRule, MilestoneRule, MilestoneUnlock, WinBack } from './entities/rewards.js';
import { erase } from './erase.js';
import { references } from './references.js';
import { ChangeResolver } from './resolvers/change.js';
import { SubscriptionMembershipResolver, UserMembershipResolver } from './resolvers/extended.js';
import { MembershipResolver, PeriodResolver } from './resolvers/membership.js';
import { PlanResolver, TierResolver } from './resolvers/plan.js';
import { RewardResolver } from './resolvers/rewards.js';
import { seed } from './seed.js';
import { BillingSubscription, Brand, CheckoutSession, User } from './stubs.js';
import { timers } from './timers.js';

export default service({
  slug: 'membership',
  purpose: 'Plans, tiers and who is a member of what',
  entities: [
    MembershipPlan,
    MembershipTier,
    MembershipFact,
    Membership,
    MembershipPeriod,
    TierChange,
    BonusRule,
    BonusGrant,
    MilestoneRule,
    MilestoneUnlock,
    WinBack,
  ],
  resolvers: [
    PlanResolver,
    TierResolver,
    MembershipResolver,
    PeriodResolver,
    ChangeResolver,
    RewardResolver,
    UserMembershipResolver,
    SubscriptionMembershipResolver,
  ],
  types: [User, Brand, BillingSubscription, CheckoutSession],
  references,
  consumers,
  timers,
  seed,
  erase,
});
