import { service } from '../../runtime/service.js';
import { payoutRuns } from './commands/payouts.js';
import { consumers } from './consumers.js';
import { Affiliate, AffiliateClick, AffiliateLink } from './entities/affiliate.js';
import { AffiliateAttribution, AttributionClaim, ClaimWindow } from './entities/attribution.js';
import {
  AffiliateFraudSignal,
  AffiliatePayout,
  Commission,
  CommissionMark,
  CommissionReversal,
  PostingRun,
} from './entities/commission.js';
import { ObligationDispute, ObligationRefund } from './entities/obligation.js';
import { AffiliateProgram, CommissionTier } from './entities/program.js';
import { WinBackClaim } from './entities/win-back.js';
import { erase } from './erase.js';
import { linkPaths, serveLinks } from './native/follow.js';
import { references } from './references.js';
import { AffiliateResolver, LinkResolver, UserAffiliateResolver } from './resolvers/affiliate.js';
import { AttributionResolver, OrderAttributionResolver, UserReferredByResolver, WinBackResolver } from './resolvers/attribution.js';
import { CommissionResolver, FraudSignalResolver, PayoutResolver, ReversalResolver } from './resolvers/commission.js';
import { ProgramResolver, TierResolver } from './resolvers/program.js';
import { seed } from './seed.js';
import { Brand, Order, User } from './stubs.js';
import { timers } from './timers.js';

export default service({
  slug: 'affiliates',
  purpose: 'Who brought which customer, what that is worth, and when it is paid',
  entities: [
    AffiliateProgram,
    CommissionTier,
    Affiliate,
    AffiliateLink,
    AffiliateClick,
    AffiliateAttribution,
    ClaimWindow,
    AttributionClaim,
    Commission,
    CommissionReversal,
    CommissionMark,
    PostingRun,
    AffiliatePayout,
    AffiliateFraudSignal,
    ObligationRefund,
    ObligationDispute,
    WinBackClaim,
  ],
  resolvers: [
    ProgramResolver,
    TierResolver,
    AffiliateResolver,
    LinkResolver,
    UserAffiliateResolver,
    AttributionResolver,
    WinBackResolver,
    UserReferredByResolver,
    OrderAttributionResolver,
    CommissionResolver,
    ReversalResolver,
    PayoutResolver,
    FraudSignalResolver,
  ],
  types: [Brand, Order, User],
  references,
  consumers,
  timers,
  queues: [payoutRuns],
  seed,
  erase,
  native: serveLinks,
  nativePaths: linkPaths,
});
