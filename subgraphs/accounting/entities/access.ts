const SERVICE = 'admin:accounting';

/** Other services, which post and resolve. Source: accounting 4. */
export const POSTERS = { service: SERVICE } as const;
export const READERS = { service: SERVICE, staff: 'admin:accounting:read' } as const;
export const REVERSERS = { service: SERVICE, staff: 'admin:accounting:reverse' } as const;
export const ACCOUNT_READERS = { service: SERVICE, staff: 'admin:accounting:account:read' } as const;
export const ACCOUNT_WRITERS = { service: SERVICE, staff: 'admin:accounting:account:write' } as const;
export const REPORTERS = { service: SERVICE, staff: 'admin:accounting:report' } as const;
export const CLOSERS = { service: SERVICE, staff: 'admin:accounting:close' } as const;
export const REPAIRERS = { service: SERVICE, staff: 'admin:accounting:repair' } as const;

/** The owner of a wallet, or services on behalf of anybody. */
export const WALLET_READERS = { service: SERVICE, user: 'read:cash_balance' } as const;

/** Whoever reaches an account, by way of a wallet, a report or a list. */
export const ACCOUNT_VIEWERS = {
  service: SERVICE,
  user: 'read:cash_balance',
  staff:
    'admin:accounting:account:read|admin:accounting:read|admin:accounting:report|admin:accounting:account:write|admin:accounting:reverse',
} as const;

/** Who sees transactions whole; an owner of a wallet sees its entries, and the proof. */
export const TRANSACTION_VIEWERS = { service: SERVICE, staff: 'admin:accounting:read|admin:accounting:reverse' } as const;
export const PROOF_READERS = { service: SERVICE, user: 'read:cash_balance', staff: 'admin:accounting:read' } as const;
