import { get, post, type Route, type RouteTable } from '../route.js';

const MONEY = '{ amount currency }';
const REFERENCE = 'reference { type id key }';
const BALANCE = `user { id } currency available ${MONEY} reserved ${MONEY} total ${MONEY} expiringNext { amount ${MONEY} at } version`;
const GRANT = `id user { id } source amount ${MONEY} remaining ${MONEY} reserved ${MONEY} status ${REFERENCE} activatesAt expiresAt
  restrictions { minSubtotal ${MONEY} subjectKinds maxShareBps } createdAt`;
const GIVEN = `${GRANT} reason`;
const LOTS = `lots { grant { id } amount ${MONEY} expiresAt }`;
const SPEND = `id user { id } amount ${MONEY} ${REFERENCE} ${LOTS} returned ${MONEY} createdAt`;
const RESERVATION = `id user { id } amount ${MONEY} status ${REFERENCE} ${LOTS} expiresAt spend { id amount ${MONEY} }`;
const MOVEMENT = `id kind amount ${MONEY} balanceAfter ${MONEY} at ${REFERENCE}`;
const CAMPAIGN = `id source amount ${MONEY} reason activatesAt expiresAt createdAt`;

const aUser = '0190b3a0-0000-7000-8000-0000000000a1';
const anId = '0190b3a0-1111-7000-8000-000000000001';
const usd = (amount: number) => ({ amount, currency: 'USD' });
const order = { type: 'order', id: anId };
const purchase = { subtotal: usd(4_900), subject_kinds: ['product_variant'] };

const balances: Route[] = [
  get('/v1/cash/me', 'myCash', BALANCE, 'Read the own cash'),
  get('/v1/cash', 'cash', BALANCE, 'Read the cash of a user'),
  get('/v1/cash/me/movements', 'cashMovements', MOVEMENT, 'List what has changed the own cash', { as: 'myCashMovements' }),
  get('/v1/cash/movements', 'cashMovements', MOVEMENT, 'List what has changed the cash of a user'),
  get('/v1/cash/me/grants', 'cashGrants', GRANT, 'List the own grants, soonest expiry first', { as: 'myCashGrants' }),
  get('/v1/cash/grants', 'cashGrants', GRANT, 'List the grants of a user, soonest expiry first'),
  post(
    '/v1/cash/preview',
    'previewCashUse',
    `amount ${MONEY} ${LOTS} expiringUnused { amount ${MONEY} at }`,
    'See what a purchase would take',
    {
      example: { request: { purchase } },
    },
  ),
];

const grants: Route[] = [
  post('/v1/cash/grants', 'grantCash', GIVEN, 'Give cash to a user', {
    status: [201, 200],
    problems: { 422: 'The reference was granted another amount' },
    example: {
      request: { user_id: aUser, source: 'promotion', amount: usd(1_000), reference: { type: 'campaign', id: anId }, reason: 'Launch' },
    },
  }),
  post('/v1/cash/grants/{id}/revoke', 'revokeCashGrant', GIVEN, 'Take a grant back', {
    problems: { 409: 'It is used up, has expired or is revoked' },
    example: { request: { reason: 'Given by mistake' } },
  }),
  post('/v1/admin/cash/grants/bulk', 'grantCashBulk', CAMPAIGN, 'Give the same to many users', {
    status: 202,
    problems: { 422: 'The campaign gives something else' },
    example: { request: { campaign_id: anId, user_ids: [aUser], source: 'promotion', amount: usd(500), reason: 'Launch' } },
  }),
  get('/v1/admin/cash/grants/bulk/{id}', 'cashBulkGrant', CAMPAIGN, 'Read a campaign'),
  get(
    '/v1/admin/cash/grants/bulk/{id}/results',
    'cashBulkGrant.results',
    'userId outcome grantId',
    'List what became of the users of a campaign',
  ),
  post('/v1/admin/cash/expire', 'expireCash', `expiredGrants amount ${MONEY}`, 'Expire what is due'),
];

const checkout: Route[] = [
  post('/v1/cash/reservations', 'reserveCash', RESERVATION, 'Hold cash for a checkout', {
    status: [201, 200],
    problems: { 409: 'There is less than an exact amount, or it was spent already', 422: 'The reference holds another amount' },
    example: { request: { user_id: aUser, max_amount: usd(1_500), purchase, reference: order } },
  }),
  post('/v1/cash/reservations/{id}/extend', 'extendCashReservation', RESERVATION, 'Hold for longer', {
    problems: { 409: 'It is held no more' },
  }),
  post('/v1/cash/reservations/{id}/commit', 'commitCash', RESERVATION, 'Spend what is held', {
    problems: { 409: 'It was released or has expired', 422: 'It was committed with another amount' },
  }),
  post('/v1/cash/reservations/{id}/release', 'releaseCash', RESERVATION, 'Give back what is held', {
    problems: { 409: 'It was committed or has expired' },
  }),
  post('/v1/cash/spend', 'spendCash', SPEND, 'Spend cash at once', {
    status: [201, 200],
    problems: { 409: 'There is not enough, or a checkout holds cash for it', 422: 'The reference was settled with another amount' },
    example: { request: { user_id: aUser, amount: usd(500), reference: order } },
  }),
  post('/v1/cash/spends/{id}/return', 'returnCash', SPEND, 'Give back a part of a spend', {
    status: [201, 200],
    problems: { 409: 'Less is left of the spend', 422: 'The reference returned another amount' },
    example: { request: { amount: usd(300), reference: { type: 'refund', id: anId } } },
  }),
];

const testing: Route[] = [post('/v1/admin/test-clock', 'setCashClock', 'now', "Move this service's manual clock (development and tests)")];

/** Routes of the cash service. Source: contracts/cash.md, section 4. */
const table: RouteTable = { service: 'cash', routes: [...balances, ...grants, ...checkout, ...testing] };
export default table;
