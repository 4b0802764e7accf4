/** How the consent page treats a scope. PHI needs an agreement for apps of others; FIN stands under "money". Source: identity A7. */
export type ScopeClass = 'PHI' | 'FIN' | 'contact' | 'plain';

/** Scopes of machine-to-machine clients, each full access to one service; staff hold them as permissions. Source: identity A7. */
export const ADMIN_SCOPES: readonly string[] = [
  'accounting',
  'affiliates',
  'ai',
  'analytics',
  'booking',
  'capri',
  'cash',
  'clinical',
  'commerce',
  'comms',
  'community',
  'content',
  'entitlements',
  'events',
  'follows',
  'identity',
  'integrations',
  'jobs',
  'live',
  'membership',
  'patient_graph',
  'payments',
  'platform',
  'webhooks',
].map(name => `admin:${name}`);

/** Protocol scopes: an id_token, and (without effect) a refresh token. */
export const PROTOCOL_SCOPES: readonly string[] = ['openid', 'offline_access'];

/** User scopes and their class, in the order of the consent page. Source: identity A7. */
export const USER_SCOPES: Readonly<Record<string, ScopeClass>> = {
  'read:account': 'contact',
  'read:profile': 'plain',
  'read:preferences': 'plain',
  'manage:preferences': 'plain',
  'manage:connected_apps': 'plain',
  'read:entitlements': 'plain',
  'read:membership': 'plain',
  'read:subscriptions': 'FIN',
  'manage:subscriptions': 'FIN',
  'read:payments': 'FIN',
  'read:invoices': 'FIN',
  'read:cash_balance': 'FIN',
  'read:affiliate_self': 'FIN',
  'read:affiliate_customers': 'plain',
  'manage:affiliate_winback': 'plain',
  'read:analytics': 'plain',
  'read:biomarkers': 'PHI',
  'write:biomarkers': 'PHI',
  'read:check_ins': 'PHI',
  'write:check_ins': 'PHI',
  'read:clinical': 'PHI',
  'write:clinical': 'PHI',
  'read:protocols': 'PHI',
  'write:protocols': 'PHI',
  'read:recommendations': 'PHI',
  'read:red_flags': 'PHI',
  'read:my_outcomes': 'PHI',
  'read:lab_catalog': 'plain',
  'read:lab_orders': 'PHI',
  'write:lab_orders': 'PHI',
  'read:lab_results': 'PHI',
  'read:wearables': 'PHI',
  'write:wearables': 'PHI',
  'read:physicians': 'PHI',
  'write:physicians': 'PHI',
  'read:inbox': 'contact',
  'manage:inbox': 'contact',
  'write:messages': 'contact',
  'read:community': 'plain',
  'write:community': 'plain',
  'read:follows': 'plain',
  'write:follows': 'plain',
  'read:live': 'plain',
  'write:live': 'plain',
  'read:content': 'plain',
  'read:research_papers': 'plain',
};

export const isPhi = (scope: string): boolean => USER_SCOPES[scope] === 'PHI';

export type ScopeGroup = 'profile' | 'health' | 'money' | 'other';

/** What is about the person's account itself. */
const PROFILE: readonly string[] = [
  'read:account',
  'read:profile',
  'read:preferences',
  'manage:preferences',
  'manage:connected_apps',
  'read:entitlements',
  'read:membership',
];

/** Under which heading of the consent page a scope stands. Source: identity 4.1. */
export function groupOf(scope: string): ScopeGroup {
  if (USER_SCOPES[scope] === 'PHI') return 'health';
  if (USER_SCOPES[scope] === 'FIN') return 'money';
  return PROFILE.includes(scope) ? 'profile' : 'other';
}

/** Scopes in one canonical order, each once: the name of a scope set. */
export const scopeSet = (scopes: Iterable<string>): string[] => [...new Set(scopes)].sort();
