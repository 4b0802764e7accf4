const SERVICE = { service: 'admin:affiliates' } as const;

export const OPERATORS = SERVICE;
/** Staff who look; and staff who change affiliates. Source: affiliates 4. */
export const READERS = { ...SERVICE, staff: 'admin:affiliates:read|admin:affiliates:write' } as const;
export const WRITERS = { ...SERVICE, staff: 'admin:affiliates:write' } as const;
export const ATTRIBUTORS = { ...SERVICE, staff: 'admin:affiliates:attribute' } as const;
export const PROGRAM_WRITERS = { ...SERVICE, staff: 'admin:affiliates:program:write' } as const;
export const PAYERS = { ...SERVICE, staff: 'admin:affiliates:payout' } as const;
/** Staff with all of it, for what has no permission of its own. */
export const STAFF = { ...SERVICE, staff: 'admin:affiliates' } as const;

/** Oneself as an affiliate. */
export const SELF = { user: 'read:affiliate_self' } as const;
export const SELF_WRITES = { user: 'read:affiliate_self', firstParty: true } as const;
/** What affiliates and operators see. */
export const SEEN = { ...READERS, user: 'read:affiliate_self' } as const;
export const CUSTOMERS_SEEN = { user: 'read:affiliate_customers' } as const;
export const WIN_BACK = { user: 'manage:affiliate_winback' } as const;
export const WIN_BACK_SEEN = { ...READERS, user: 'manage:affiliate_winback' } as const;
export const ANYBODY = { service: '*', user: '*' } as const;
