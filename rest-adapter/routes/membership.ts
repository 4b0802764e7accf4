import { get, patch, post, type Route, type RouteTable } from '../route.js';

const TIER = 'id key name rank benefits { key label value } featureKeys';
const PLAN = `id key brandId name description status tiers { ${TIER} } graceDays createdAt version`;
const PUBLIC_PLAN = `${PLAN} prices: includedPrices { id key tier unitAmount { amount currency } recurring { interval intervalCount } trialDays }`;
const WIN_BACK = 'winBack { startedAt endsAt offerKey status }';
const MEMBERSHIP = `id user { id } plan { id key brandId name } tier { id key name rank } status source subscriptionId suspensionReasons startedAt
  activeSince currentPeriodStart currentPeriodEnd suspendedAt graceUntil lapsedAt lapseReason tenureDays ${WIN_BACK} version`;
const PERIOD = 'tier { id key name rank } status from to';
const SESSION = `id status mode url amounts { total { amount currency } } payment { id status } subscription { id status } nextAction { type url expiresAt }
  expiresAt createdAt`;
const MILESTONE_RULE = 'key brandId trigger threshold rewardKey active';
const BONUS_RULE = 'key brandId trigger threshold tierKeys cashAmount { amount currency } expiresDays revokeOnLapse createdAt';

const aUser = '0190b3a0-0000-7000-8000-0000000000a1';
const aBrand = '0190b3a0-0000-7000-8000-000000000001';
const aPlan = '0190b3a0-0000-7000-8000-0000000d0002';

const plans: Route[] = [
  get('/v1/plans', 'membershipPlans', PUBLIC_PLAN, 'List plans that can be bought', {
    etag: true,
    maxAge: 60,
    problems: { 503: 'Prices were asked for, and payments is not available' },
  }),
  get('/v1/plans/{id}', 'membershipPlan', PUBLIC_PLAN, 'Read a plan that can be bought', {
    etag: true,
    maxAge: 60,
    problems: { 503: 'Prices were asked for, and payments is not available' },
  }),
  get('/v1/admin/plans', 'adminMembershipPlans', PLAN, 'List plans of every state'),
  post('/v1/admin/plans', 'createMembershipPlan', PLAN, 'Make a draft of a plan', {
    status: 201,
    location: '/v1/plans/{id}',
    problems: { 409: 'The key is taken' },
    example: {
      request: {
        key: 'family',
        brand_id: aBrand,
        name: 'Family',
        tiers: [{ key: 'family', name: 'Family', rank: 3, benefits: [], feature_keys: [] }],
      },
    },
  }),
  patch('/v1/admin/plans/{id}', 'updateMembershipPlan', PLAN, 'Change a plan', {
    problems: { 409: 'Its tiers keep their keys, or it was changed meanwhile' },
    example: { request: { grace_days: 10, version: 1 } },
  }),
  post('/v1/admin/plans/{id}/publish', 'publishMembershipPlan', PLAN, 'Show a plan to everybody', {
    problems: { 409: 'It is no draft' },
  }),
  post('/v1/admin/plans/{id}/retire', 'retireMembershipPlan', PLAN, 'Take no new members for a plan', {
    problems: { 409: 'It is not published' },
  }),
];

const own: Route[] = [
  get('/v1/memberships/me', 'myMembership', MEMBERSHIP, "Read one's own membership"),
  post('/v1/memberships/join', 'joinMembership', SESSION, 'Begin the purchase of a membership', {
    status: 201,
    problems: { 402: 'The payment is declined', 409: 'One is a member of this brand', 503: 'Payments is not available' },
    example: {
      request: { plan_id: aPlan, tier_key: 'plus', interval: 'month', return_url: 'https://main.example/welcome' },
    },
  }),
  post('/v1/memberships/me/change-tier', 'changeMyTier', MEMBERSHIP, "Change one's own tier", {
    problems: { 402: 'The payment is declined', 409: 'It is not active, or has this tier', 503: 'Payments is not available' },
    example: { request: { tier_key: 'plus', effective: 'now' } },
  }),
  get('/v1/memberships/me/milestones', 'memberMilestones', 'milestone unlockedAt rewardKey', 'List milestones that one has reached'),
  post('/v1/memberships/me/win-back/opt-out', 'optOutOfWinBack', MEMBERSHIP, 'Want no campaign to come back'),
];

const memberships: Route[] = [
  get('/v1/memberships', 'memberships', MEMBERSHIP, 'List memberships of anybody'),
  get(
    '/v1/memberships/at',
    'membershipAt',
    `membership { id plan { id key brandId } } ${PERIOD}`,
    'What a user was a member of at an instant',
  ),
  get('/v1/memberships/{id}', 'membership', MEMBERSHIP, 'Read a membership'),
  get('/v1/memberships/{id}/history', 'membership.periods', PERIOD, 'List what a membership was', { as: 'membershipHistory' }),
  post('/v1/admin/memberships', 'grantMembership', MEMBERSHIP, 'Make somebody a member for nothing', {
    status: 201,
    location: '/v1/memberships/{id}',
    problems: { 409: 'The user is a member of this brand' },
    example: { request: { user_id: aUser, plan_id: aPlan, tier_key: 'plus', ends_at: '2027-06-30T00:00:00.000Z', reason: 'Press' } },
  }),
  post('/v1/admin/memberships/{id}/suspend', 'suspendMembership', MEMBERSHIP, 'Hold access', {
    problems: { 409: 'It has lapsed, or staff have suspended it' },
    example: { request: { reason: 'Abuse of the community' } },
  }),
  post('/v1/admin/memberships/{id}/unsuspend', 'unsuspendMembership', MEMBERSHIP, 'Hold access no longer', {
    problems: { 409: 'Staff have not suspended it' },
    example: { request: { reason: 'Cleared' } },
  }),
  post('/v1/admin/memberships/{id}/lapse', 'lapseMembership', MEMBERSHIP, 'End a membership and what bills it', {
    problems: { 409: 'It has lapsed', 503: 'It is billed, and payments is not available' },
    example: { request: { reason: 'Asked for by phone' } },
  }),
  post('/v1/admin/memberships/{id}/change-tier', 'changeMembershipTier', MEMBERSHIP, 'Move a member to another tier', {
    problems: { 409: 'It has lapsed, or has this tier' },
    example: { request: { tier_key: 'plus', reason: 'Goodwill' } },
  }),
  post(
    '/v1/admin/resync/{user_id}',
    'resyncMembership',
    `memberships { ${MEMBERSHIP} } differences { field expected actual }`,
    'Bring a user to what payments knows',
    {
      problems: { 503: 'Payments is not available' },
    },
  ),
];

const rewards: Route[] = [
  get('/v1/admin/bonus-rules', 'bonusRules', BONUS_RULE, 'List rules that earn credit'),
  post('/v1/admin/bonus-rules', 'createBonusRule', BONUS_RULE, 'Make a rule that earns credit', {
    status: 201,
    problems: { 409: 'The key is taken' },
    example: {
      request: {
        key: 'welcome',
        brand_id: aBrand,
        trigger: 'activated',
        tier_keys: [],
        cash_amount: { amount: 1000, currency: 'USD' },
        expires_days: 90,
        revoke_on_lapse: true,
      },
    },
  }),
  get('/v1/admin/milestone-rules', 'milestoneRules', MILESTONE_RULE, 'List rules that unlock milestones'),
  post('/v1/admin/milestone-rules', 'createMilestoneRule', MILESTONE_RULE, 'Make a rule that unlocks a milestone', {
    status: 201,
    problems: { 409: 'The key is taken' },
    example: { request: { key: 'one_year', brand_id: aBrand, trigger: 'tenure_days', threshold: 365 } },
  }),
];

const running: Route[] = [
  get(
    '/v1/admin/stats',
    'membershipStats',
    `active suspended lapsed activated reactivated churnRateBps byTier { tier { id key } active }`,
    'Figures of a time',
  ),
  post('/v1/admin/test-clock', 'setMembershipClock', 'now', "Move this service's manual clock (development and tests)"),
];

/** Routes of the membership service. Source: contracts/membership.md, section 4. */
const table: RouteTable = { service: 'membership', routes: [...plans, ...own, ...memberships, ...rewards, ...running] };
export default table;
