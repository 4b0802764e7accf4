/** Permissions of staff for money, each with what it lets them see. Source: payments 4, identity A8. */
const STAFF = [
  'read',
  'dispute:read',
  'dispute:write',
  'dunning:run',
  'monitor',
  'payout:read',
  'payout:write',
  'payout:approve',
  'price:read',
  'promo:read',
  'promo:write',
  'reconcile',
  'refund:read',
  'refund:write',
  'refund:approve',
  'invoice:write',
  'subscription:write',
  'sync',
  'webhook:replay',
] as const;

const anyOf = (...names: readonly string[]): string => names.map(name => `admin:payments:${name}`).join('|');

const SERVICE = 'admin:payments';

/** Whoever has been let into an operation may read what it leads to; user tokens only their own, which every query's `where` says. */
export const VIEWERS = {
  service: SERVICE,
  user: 'read:payments|read:invoices|read:subscriptions|manage:subscriptions',
  staff: anyOf(...STAFF),
} as const;

/** Fields marked S: null to user tokens. Asked by `mayAccess`, because they are no error there. Source: payments 2. */
export const BACK_OFFICE = { service: SERVICE, staff: anyOf(...STAFF) } as const;

/** Services alone. */
export const SERVICES_ONLY = { service: SERVICE } as const;

export const PAYMENT_READERS = { service: SERVICE, user: 'read:payments', staff: 'admin:payments:read', self: true } as const;
export const INVOICE_READERS = { service: SERVICE, user: 'read:invoices', staff: 'admin:payments:read', self: true } as const;
export const SUBSCRIPTION_READERS = { service: SERVICE, user: 'read:subscriptions', staff: 'admin:payments:read', self: true } as const;
/** Everything that a user starts with money. Source: payments 4. */
export const BUYERS = { service: SERVICE, user: 'manage:subscriptions', self: true } as const;

/** A rule for services and the staff who hold the permission, for example `staffWith('refund:write')`. */
export const staffWith = (...permissions: readonly string[]) => ({ service: SERVICE, staff: anyOf(...permissions) }) as const;

/** Prices are no secret: whoever buys must know them. */
export const PRICE_VIEWERS = { service: '*', user: '*', staff: '*' } as const;
/** A promo is shown to its makers, and to services. */
export const PROMO_VIEWERS = { service: SERVICE, staff: anyOf('promo:read', 'promo:write') } as const;

/** Whose earnings are paid out: by apps of ours only, soon after a sign-in. */
export const PAYEES = { service: SERVICE, user: 'manage:subscriptions', self: true, firstParty: true, stepUp: 600 } as const;
