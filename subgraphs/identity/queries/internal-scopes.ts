import { adminScopeOf, type Slug } from '../../../events/slugs.js';
import { scopeSet } from '../rules/scopes.js';

/** What internal clients hold besides their own service's scope. Source: identity A11. */
const ALSO: Partial<Record<Slug, readonly string[]>> = {
  affiliates: ['payments', 'accounting'],
  ai: ['content', 'live'],
  booking: ['payments', 'live', 'identity'],
  cash: ['accounting', 'payments'], // payments: whose an invoice is that a member settles with cash
  commerce: ['payments', 'entitlements', 'identity', 'affiliates'], // whose an address of a channel is; groups of partners
  comms: ['identity', 'booking', 'live', 'payments', 'commerce'],
  community: ['identity', 'entitlements', 'membership'],
  content: ['live', 'commerce'],
  entitlements: ['membership'],
  follows: ['identity'],
  integrations: ['identity'],
  jobs: ['commerce', 'payments', 'capri', 'comms'],
  labs: ['identity', 'entitlements'],
  live: ['booking', 'comms', 'entitlements'],
  membership: ['payments'],
  messaging: ['identity'],
  partner: ['identity'],
  'patient-graph': ['identity'],
  payments: ['commerce', 'cash', 'accounting', 'booking', 'identity', 'affiliates', 'entitlements', 'membership'],
  platform: ['entitlements'],
  webhooks: ['identity'],
  workflow: ['booking'],
};

/** Scopes of `svc-<slug>`: its service's own and those of the operations it calls elsewhere. */
export const internalScopes = (slug: Slug): string[] => scopeSet([adminScopeOf(slug), ...(ALSO[slug] ?? []).map(name => `admin:${name}`)]);
