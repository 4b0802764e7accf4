/** Own cash, or anybody's for services. Source: cash 4. */
export const HOLDERS = { service: 'admin:cash', user: 'read:cash_balance' } as const;

/** Whoever gives cash sees what was given; the holder sees all but the reason. */
export const GIVERS = { service: 'admin:cash', staff: 'admin:cash:grant' } as const;
export const BULK_GIVERS = { service: 'admin:cash', staff: 'admin:cash:grant_bulk' } as const;
export const SEEN_BY_GIVERS = { ...HOLDERS, staff: 'admin:cash:grant|admin:cash:grant_bulk' } as const;
export const REASON_READERS = { service: 'admin:cash', staff: 'admin:cash:grant|admin:cash:grant_bulk' } as const;

export const EXPIRERS = { service: 'admin:cash', staff: 'admin:cash:expire' } as const;

/** Checkouts hold and settle cash for their users. */
export const CHECKOUTS = { service: 'admin:cash' } as const;
/** A member settles the own invoices. */
export const PAYERS = { service: 'admin:cash', user: 'manage:subscriptions' } as const;
export const SPEND_READERS = { service: 'admin:cash', user: 'read:cash_balance|manage:subscriptions' } as const;
