import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { PurchaseRequirement } from '../entities/enums.js';
import { ask, within } from './neighbour.js';

/** What somebody must have to buy a product. */
export interface Requirement {
  kind: PurchaseRequirement;
  entitlementKey: string | null;
  medicationCode: string | null;
}

const ENTITLED = stored('query CommerceEntitled($userId: ID!, $key: String!) { checkEntitlement(userId: $userId, key: $key) { allowed } }');
const CLEARED = stored(
  'query CommerceCleared($userId: ID!, $code: String!) { treatmentClearance(userId: $userId, medicationCode: $code) { cleared } }',
);

const DEADLINE_MS = 5_000;
/** Feature that every member of a brand has, where a product names none. */
const MEMBER = 'shop.members';

async function judge(host: ServiceHost, userId: string, { kind, entitlementKey, medicationCode }: Requirement): Promise<boolean> {
  if (kind === PurchaseRequirement.NONE) return true;
  if (host.config.setting('COMMERCE_ELIGIBILITY') === 'table')
    return granted(host, userId, kind, kind === PurchaseRequirement.MEMBERSHIP ? (entitlementKey ?? MEMBER) : (medicationCode ?? ''));
  if (kind === PurchaseRequirement.MEMBERSHIP) {
    const variables = { userId, key: entitlementKey ?? MEMBER };
    return (await ask<{ checkEntitlement: { allowed: boolean } }>(host, ENTITLED, variables)).checkEntitlement.allowed;
  }
  if (medicationCode === null) return false;
  return (
    (await ask<{ treatmentClearance: { cleared: boolean } | null }>(host, CLEARED, { userId, code: medicationCode })).treatmentClearance
      ?.cleared === true
  );
}

async function granted(host: ServiceHost, userId: string, kind: PurchaseRequirement, key: string): Promise<boolean> {
  if (host.config.production) return false;
  const rows = await host.read(ctx =>
    ctx.sql('select 1 from commerce.embedded_grant where user_id = $1 and key = $2', [userId, `${kind}:${key}`]),
  );
  return rows.length > 0;
}

/**
 * Whether a user may buy what has this requirement; outside transactions. An error, or no answer, means that it is not met: what cannot
 * be checked is not sold. Nothing of the answer is stored. Source: commerce 7.22.
 */
export const isEligible = (host: ServiceHost, userId: string, requirement: Requirement): Promise<boolean> =>
  within(DEADLINE_MS, judge(host, userId, requirement)).catch(() => false);
