import { del, get, patch, post, type Route, type RouteTable } from '../route.js';

const MONEY = '{ amount currency }';
const TIER = `key rank kind rateBps flat ${MONEY} threshold ${MONEY}`;
const PROGRAM = `id key name brand { id } model windowDays bindingMonths holdDays minimumPayout ${MONEY} selfApproval
  base { includeTax includeShipping includeCash subjectKinds renewalMonths } tiers { ${TIER} } consentRequired active version`;
const LINK = 'id slug url target clicks leads customers';
const EARNINGS = `currency accrued ${MONEY} posted ${MONEY} paid ${MONEY} reversed ${MONEY} balance ${MONEY} nextPayoutAt`;
const CHANGED = `id user { id } program { id key name } status tier { ${TIER} } code links { ${LINK} } earnings { ${EARNINGS} } createdAt version`;
const AFFILIATE = `${CHANGED} payoutReady`;
const REVERSALS = `reversals { id amount ${MONEY} cause causeId createdAt }`;
const OWN_COMMISSION = `id base ${MONEY} kind rateBps tierKey amount ${MONEY} reversedAmount ${MONEY} net ${MONEY} status payableAt heldReason ${REVERSALS} createdAt`;
const COMMISSION = `${OWN_COMMISSION} affiliate { id } attribution { id } obligationType obligationId`;
const ATTRIBUTION = 'id affiliate { id } stage basis customerAlias attributedAt boundUntil';
const CLAIM = 'id affiliate { id } customerAlias status offerKey expiresAt';

const anId = '0190b3a0-1111-7000-8000-000000000001';
const aBrand = '0190b3a0-0000-7000-8000-000000000001';
const usd = (amount: number) => ({ amount, currency: 'USD' });

const visits: Route[] = [
  post('/v1/clicks', 'recordAffiliateClick', 'token expiresAt', 'Record a visit with a code', {
    status: 201,
    problems: { 404: 'Nobody has the code', 429: 'More than 30 a minute from this address' },
    example: { request: { code: 'DEMO10' } },
  }),
  post('/v1/attributions/me', 'claimAttribution', 'accepted', 'Claim a click or a code after the sign-up', {
    example: { request: { code: 'DEMO10' } },
  }),
  post('/v1/attributions', 'attributeCustomer', ATTRIBUTION, 'Attribute a customer by hand', {
    status: 201,
    problems: { 409: 'The customer has bought already' },
  }),
  get('/v1/attributions', 'affiliateAttribution', ATTRIBUTION, 'Find who brought a user'),
];

const own: Route[] = [
  get('/v1/programs', 'affiliatePrograms', PROGRAM, 'List programs'),
  post('/v1/affiliates/me', 'applyAsAffiliate', CHANGED, 'Apply to a program', {
    status: 201,
    location: '/v1/affiliates/me',
    problems: { 409: 'Applied already' },
    example: { request: { program_id: anId } },
  }),
  get('/v1/affiliates/me', 'myAffiliate', AFFILIATE, 'Read oneself as an affiliate'),
  patch('/v1/affiliates/me', 'updateMyAffiliate', CHANGED, 'Change the own code', { problems: { 409: 'The code is taken' } }),
  del('/v1/affiliates/me', 'closeMyAffiliate', 'id', 'End oneself as an affiliate'),
  get('/v1/affiliates/me/links', 'myAffiliate.links', LINK, 'List the own links'),
  post('/v1/affiliates/me/links', 'createAffiliateLink', LINK, 'Make a link', {
    status: 201,
    location: '/v1/affiliates/me/links',
    example: { request: { target: 'https://main.example/shop' } },
  }),
  del('/v1/affiliates/me/links/{id}', 'deleteAffiliateLink', 'id', 'Delete a link'),
  get('/v1/affiliates/me/earnings', 'myAffiliate.earnings', EARNINGS, 'Read the own earnings'),
  get('/v1/affiliates/me/commissions', 'myCommissions', OWN_COMMISSION, 'List the own commissions'),
  get('/v1/affiliates/me/payouts', 'myAffiliatePayouts', `id amount ${MONEY} status failure createdAt settledAt`, 'List the own payouts'),
  get(
    '/v1/affiliates/me/customers',
    'myReferredCustomers',
    `customerAlias stage month amount ${MONEY} smallMonths ${MONEY}`,
    'List the own customers by pseudonym',
  ),
  get('/v1/affiliates/me/win-back', 'myWinBackClaims', CLAIM, 'List customers to win back'),
  post('/v1/affiliates/me/win-back/{id}/send', 'sendWinBack', CLAIM, 'Have a customer written to', {
    status: 202,
    problems: { 409: 'It was sent, or is over' },
  }),
];

const change = (action: string, summary: string): Route =>
  post(`/v1/affiliates/{id}/${action}`, 'transitionAffiliate', CHANGED, summary, {
    as: `${action}Affiliate`,
    constant: { action: action.toUpperCase() },
    problems: { 409: 'Not in a state for it' },
  });

const staff: Route[] = [
  get('/v1/affiliates', 'affiliates', CHANGED, 'List affiliates'),
  get('/v1/affiliates/{id}', 'affiliate', AFFILIATE, 'Read an affiliate'),
  patch('/v1/affiliates/{id}', 'updateAffiliate', CHANGED, 'Change an affiliate'),
  change('approve', 'Approve an affiliate'),
  change('reject', 'Reject an affiliate'),
  change('suspend', 'Suspend an affiliate'),
  change('restore', 'Restore an affiliate'),
  get('/v1/commissions', 'commissions', COMMISSION, 'List commissions'),
  get('/v1/commissions/{id}', 'commission', COMMISSION, 'Read a commission'),
  post('/v1/commissions/{id}/reverse', 'reverseCommission', COMMISSION, 'Take back a commission', {
    problems: { 409: 'Less is left of it' },
    example: { request: { reason: 'Agreed' } },
  }),
  post('/v1/commissions/{id}/release', 'releaseCommission', COMMISSION, 'Let a held commission go', {
    problems: { 409: 'It is not held' },
  }),
  get('/v1/admin/programs', 'affiliatePrograms', PROGRAM, 'List all programs', { as: 'allAffiliatePrograms' }),
  post('/v1/admin/programs', 'createAffiliateProgram', PROGRAM, 'Make a program', {
    status: 201,
    location: '/v1/admin/programs',
    problems: { 409: 'The key is taken' },
    example: {
      request: {
        key: 'friends',
        name: 'Friends',
        brand_id: aBrand,
        minimum_payout: usd(1_000),
        tiers: [{ key: 'base', rank: 1, kind: 'percent', rate_bps: 1_000, threshold: usd(0) }],
      },
    },
  }),
  patch('/v1/admin/programs/{id}', 'updateAffiliateProgram', PROGRAM, 'Change a program', { example: { request: { hold_days: 14 } } }),
  post('/v1/admin/commissions/post-due', 'postDueCommissions', `posted amount ${MONEY}`, 'Post what is due'),
  post('/v1/admin/payouts/run', 'runAffiliatePayouts', 'id asOf posted finishedAt', 'Pay what is owed', {
    status: 202,
    location: '/v1/admin/payouts/run',
  }),
  get(
    '/v1/admin/fraud-signals',
    'affiliateFraudSignals',
    'id affiliate { id } commissionId kind createdAt',
    'List reasons to look at commissions',
  ),
  post('/v1/admin/test-clock', 'setAffiliatesClock', 'now', "Move this service's manual clock (development and tests)"),
];

/** Routes of the affiliates service. Source: contracts/affiliates.md, section 4. */
const table: RouteTable = { service: 'affiliates', routes: [...visits, ...own, ...staff] };
export default table;
