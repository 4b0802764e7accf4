import { WinBackClaimStatus } from '../entities/enums.js';
import type { WinBackClaim } from '../entities/win-back.js';

const { EXPIRED, OFFERED, SENT } = WinBackClaimStatus;

/** State of a claim at an instant: an open one ends by itself. */
export const claimStateAt = ({ state, expiresAt }: Pick<WinBackClaim, 'state' | 'expiresAt'>, at: Date): WinBackClaimStatus =>
  (state === OFFERED || state === SENT) && at >= expiresAt ? EXPIRED : state;
