/** Plans and tiers that are not drafts may be read by everybody. */
export const PUBLIC = { public: true } as const;

/** Whoever changes a membership sees it. */
const STAFF = 'admin:membership:read|admin:membership:write|admin:membership:grant';

/** Own memberships, or anybody's for services and staff. Source: membership 4. */
export const READERS = { service: 'admin:membership', user: 'read:membership', staff: STAFF } as const;
/** Whoever may change a membership, or choose what is told of it, reads what it has become. */
export const MEMBERSHIPS = { ...READERS, user: 'read:membership|manage:subscriptions|manage:preferences' } as const;
/** What only services and staff may ask. */
export const ADMIN_READERS = { service: 'admin:membership', staff: 'admin:membership:read' } as const;
export const SERVICES = { service: 'admin:membership' } as const;

export const PLAN_WRITERS = { service: 'admin:membership', staff: 'admin:membership:plan:write' } as const;
export const GRANTERS = { service: 'admin:membership', staff: 'admin:membership:grant' } as const;
export const WRITERS = { service: 'admin:membership', staff: 'admin:membership:write' } as const;
export const REWARD_WRITERS = { service: 'admin:membership', staff: 'admin:membership:bonus:write' } as const;

export const BUYERS = { user: 'manage:subscriptions' } as const;
export const CHOOSERS = { user: 'manage:preferences' } as const;
