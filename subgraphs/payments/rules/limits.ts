import { HOUR_MS, MINUTE_MS } from '../../../runtime/time/durations.js';

/** So many in each window that begins with the first. Source: payments 7.19. */
export const LIMITS = {
  checkout: { most: 20, windowMs: MINUTE_MS },
  gift_redeem_user: { most: 10, windowMs: HOUR_MS },
  gift_redeem_address: { most: 50, windowMs: HOUR_MS },
  promo_validate: { most: 30, windowMs: MINUTE_MS },
  portal: { most: 10, windowMs: MINUTE_MS },
} as const satisfies Record<string, { most: number; windowMs: number }>;

export type LimitName = keyof typeof LIMITS;
