import { ADMIN_SCOPES } from './scopes.js';

/** What the contracts name below an admin scope, in dots; `read` is named for every service. Source: the operations tables of the contracts. */
const NAMED: Readonly<Record<string, string>> = {
  accounting: 'account.read account.write close repair report reverse',
  affiliates: 'attribute payout program.write write',
  ai: 'agents documents eval usage governance',
  analytics: 'define person plan sources warehouse',
  booking: 'setup',
  capri: 'command link reconcile sync webhooks',
  cash: 'expire grant grant_bulk',
  clinical:
    'alerts consults dictionary protocols results retest labs labs.approve labs.catalog labs.intake labs.order labs.read labs.review',
  commerce: 'catalog erasure inventory order sync',
  comms: 'content inbox moderate send suppression template',
  community: 'moderate',
  content: 'publish write',
  entitlements: 'cache feature.write override.write',
  events: 'operate',
  identity: 'clients erasure moderate staff',
  integrations: 'disconnect providers sync webhooks',
  jobs: 'operate payload schedules workflow workflow.operate workflow.read',
  live: 'moderate session',
  membership: 'bonus.write grant plan.write write',
  patient_graph: 'audit consent fhir merge prescribe write',
  payments: `dispute dispute.read dispute.write dunning.run invoice.write monitor payout payout.approve payout.read payout.write price price.read price.write promo
    promo.read promo.write reconcile refund refund.approve refund.read refund.write subscription.write sync webhook.replay`,
  platform: 'brands config flags services',
  webhooks: 'manage',
};

const namedBelow = (scope: string): string[] => {
  const names = (NAMED[scope.slice('admin:'.length)] ?? '').split(/\s+/).filter(Boolean);
  return [scope, `${scope}:read`, ...names.map(name => `${scope}:${name.replaceAll('.', ':')}`)];
};

/** Every permission that a contract names; only these may stand in a role. Source: identity A8. */
export const PERMISSIONS: ReadonlySet<string> = new Set(ADMIN_SCOPES.flatMap(namedBelow));

/** A held permission satisfies itself and everything below it by segments. */
export const satisfies = (held: string, needed: string): boolean => needed === held || needed.startsWith(`${held}:`);

export const anySatisfies = (held: readonly string[], needed: string): boolean => held.some(one => satisfies(one, needed));

/** What of `wanted` the holder of `held` may not hand on. */
export const beyond = (held: readonly string[], wanted: readonly string[]): string[] => wanted.filter(one => !anySatisfies(held, one));

/** Without those that another one includes, in canonical order. */
export const reduced = (permissions: readonly string[]): string[] => {
  const all = [...new Set(permissions)];
  return all.filter(one => !all.some(other => other !== one && satisfies(other, one))).sort();
};

/** `admin:<service>[:<area>[:<verb>]]` of a service that exists. */
export function isPermissionShaped(text: string): boolean {
  const [admin, name, ...rest] = text.split(':');
  return ADMIN_SCOPES.includes(`${admin}:${name}`) && rest.length <= 3 && rest.every(part => /^[a-z][a-z_]*$/.test(part));
}
