const SERVICE = 'admin:commerce';

/** A rule for services and the staff who hold the permission, for example `staffWith('order')`. Source: commerce 4. */
export const staffWith = (...permissions: readonly string[]) =>
  ({ service: SERVICE, staff: permissions.map(one => `admin:commerce:${one}`).join('|') }) as const;

/** Services alone. */
export const SERVICES_ONLY = { service: SERVICE } as const;

/** Catalogue, promo codes and link cards: whoever has a token. */
export const ANY_TOKEN = { service: '*', user: '*', staff: '*' } as const;
/** The same where a user may be named. */
export const ANY_TOKEN_SELF = { ...ANY_TOKEN, self: true } as const;

/** What leads to a cart or an order may be read by whoever was let in; whose it is decides the `where` of every query. */
export const VIEWERS = ANY_TOKEN;

/** Own cart: a user of a first-party app, or whoever bears the token of a guest cart; the operation tells them apart. */
export const CART_HOLDERS = { service: '*', user: '*', firstParty: true } as const;
export const CART_MAKERS = { service: SERVICE, user: '*', firstParty: true, self: true } as const;

/** Whatever commits money. */
export const BUYERS = { service: SERVICE, user: 'manage:subscriptions', self: true } as const;
export const SUBSCRIPTION_READERS = { service: SERVICE, user: 'read:subscriptions', self: true } as const;

export const ORDER_READERS = {
  service: SERVICE,
  user: 'read:account',
  staff: 'admin:commerce:read|admin:commerce:order',
  self: true,
} as const;
/** Whoever may have a cart ordered reads the order that it has become. */
export const ORDERS = { ...ORDER_READERS, user: 'read:account|manage:subscriptions' } as const;
/** Own order, by an app of ours; staff with the permission for orders. */
export const ORDER_CANCELLERS = { service: SERVICE, user: 'read:account', staff: 'admin:commerce:order', firstParty: true } as const;
export const OWN_NOTICES = { user: 'read:account', firstParty: true } as const;

export const CATALOGUE_EDITORS = staffWith('catalog');
export const READERS = staffWith('read', 'catalog', 'inventory', 'order', 'sync');
export const STOCK_KEEPERS = staffWith('inventory');
export const ORDER_KEEPERS = staffWith('order');
export const SYNC_KEEPERS = staffWith('sync');
export const ERASERS = staffWith('erasure');
