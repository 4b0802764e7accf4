/** Access rules -> OpenAPI security: one scheme per kind of caller. Source: identity A6, A7. */
import type { AccessRule } from '../../runtime/access/rules.js';
import type { Json } from './schemas.js';

type Scheme = 'serviceToken' | 'userToken' | 'staffToken' | 'internalClient';

/** An alternative: this kind of caller, holding all of these. */
interface Alternative {
  scheme: Scheme;
  holds: readonly string[];
}

const KINDS: readonly Scheme[] = ['serviceToken', 'userToken', 'staffToken', 'internalClient'];

/** `a|b` inside a scope means either, `*` any: `['a|b', 'c']` -> `[['a', 'c'], ['b', 'c']]`. */
function choices(scopes: readonly string[]): string[][] {
  return scopes
    .filter(scope => scope !== '*')
    .reduce<string[][]>((found, scope) => scope.split('|').flatMap(one => found.map(held => [...held, one])), [[]]);
}

function alternativesOf(rule: AccessRule): Alternative[] {
  const of = (scheme: Scheme, scopes: readonly string[] | undefined): Alternative[] =>
    scopes === undefined ? [] : choices(scopes).map(holds => ({ scheme, holds }));
  return [
    ...of('serviceToken', rule.service === undefined ? undefined : [rule.service]),
    ...of('userToken', rule.user),
    ...of('staffToken', rule.staff === undefined ? undefined : [rule.staff]),
    ...(rule.internal ?? []).map(slug => ({ scheme: 'internalClient' as const, holds: slug === '*' ? [] : [slug] })),
  ];
}

/** Both must hold: pairs of the same kind of caller, with the scopes of both. */
const both = (left: readonly Alternative[], right: readonly Alternative[]): Alternative[] =>
  left.flatMap(one =>
    right
      .filter(other => other.scheme === one.scheme)
      .map(other => ({ scheme: one.scheme, holds: [...new Set([...one.holds, ...other.holds])] })),
  );

/** Whether the caller of the one may do with less: the other is the same kind, and needs only some of what it holds. */
const needsLess = (one: Alternative, other: Alternative): boolean =>
  other.scheme === one.scheme && other.holds.length < one.holds.length && other.holds.every(held => one.holds.includes(held));

/** @throws Error for an operation without a rule: nobody may call it, which is a fault, and the document would call it public. */
function alternativesUnder(rules: readonly (AccessRule | null)[]): Alternative[] {
  if (rules.includes(null)) throw new Error('an operation has no @access rule');
  const guarded = rules.filter(rule => rule !== null && !rule.public) as AccessRule[];
  const all = guarded.length === 0 ? [] : guarded.map(alternativesOf).reduce(both);
  return all.filter(one => !all.some(other => needsLess(one, other)));
}

/** Security requirements of an operation under all these rules; empty for a public one. Only OAuth scopes are named here, see {@link callersOf}. */
export function securityOf(rules: readonly (AccessRule | null)[]): Json[] {
  const requirements = alternativesUnder(rules).map(({ scheme, holds }) => ({ [scheme]: scheme in CALLER_NOTES ? [] : [...holds] }));
  return [...new Map(requirements.map(one => [JSON.stringify(one), one])).values()];
}

/** Permissions and client names are no OAuth scopes, so the description has them. */
const CALLER_NOTES: Partial<Record<Scheme, (holds: string) => string>> = {
  staffToken: holds => `Staff need the permission ${holds}.`,
  internalClient: holds => `Internal clients: ${holds || 'any'}.`,
};

const quoted = (holds: readonly string[]): string => holds.map(one => `\`${one}\``).join(' and ');

/** Who may call beyond OAuth scopes. */
export function callersOf(rules: readonly (AccessRule | null)[]): string[] {
  const alternatives = alternativesUnder(rules);
  return KINDS.flatMap(kind => {
    const found = alternatives.filter(({ scheme }) => scheme === kind).map(({ holds }) => quoted(holds));
    return CALLER_NOTES[kind] && found.length > 0 ? [CALLER_NOTES[kind](found.join(' or '))] : [];
  });
}

/** What a rule demands beyond scopes, for the description. */
export function conditionsOf(rules: readonly (AccessRule | null)[]): string[] {
  const has = (key: keyof AccessRule): boolean => rules.some(rule => rule?.[key]);
  const stepUp = Math.min(...rules.map(rule => rule?.stepUp ?? Infinity));
  return [
    ...(has('self') ? ["A user token acts on its own user only; another user's id is a 404."] : []),
    ...(has('firstParty') ? ['User tokens of first-party apps only.'] : []),
    ...(Number.isFinite(stepUp) ? [`The user must have signed in within the last ${stepUp} s, else 401 \`step_up_required\`.`] : []),
    ...rules.flatMap(rule => (rule?.flag ? [`Behind the feature flag \`${rule.flag}\`: 403 while it is off.`] : [])),
  ];
}

const scopesUsed = (requirements: readonly Json[], scheme: Scheme): Json =>
  Object.fromEntries(
    [...new Set(requirements.flatMap(requirement => (requirement[scheme] as string[] | undefined) ?? []))]
      .sort()
      .map(scope => [scope, titleOf(scope)]),
  );

const spaced = (name: string): string => name.replaceAll('_', ' ');

/** `read:lab_orders` -> `Read lab orders`. */
function titleOf(scope: string): string {
  const [verb, ...rest] = scope.split(':');
  if (verb === 'admin') return `Full access to ${spaced(rest.join(' '))}`;
  return `${verb![0]!.toUpperCase()}${verb!.slice(1)} ${spaced(rest.join(' '))}`;
}

const TOKEN_URL = '/identity/v1/oauth/token';

const SCHEMES: Readonly<Record<Scheme, (requirements: readonly Json[]) => Json>> = {
  serviceToken: requirements => ({
    type: 'oauth2',
    description: 'Machine-to-machine token `svc_…` of the client_credentials grant; acts as the service, without a user.',
    flows: { clientCredentials: { tokenUrl: TOKEN_URL, scopes: scopesUsed(requirements, 'serviceToken') } },
  }),
  userToken: requirements => ({
    type: 'oauth2',
    description: 'User token `usr_…` of the authorization_code grant with PKCE (S256); always acts for one user.',
    flows: {
      authorizationCode: {
        authorizationUrl: '/identity/v1/oauth/authorize',
        tokenUrl: TOKEN_URL,
        refreshUrl: TOKEN_URL,
        scopes: scopesUsed(requirements, 'userToken'),
      },
    },
  }),
  staffToken: () => ({
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'usr_<JWT>',
    description: "User token of a staff member whose role holds the permission that the operation names, or one above it by ':' segments.",
  }),
  internalClient: () => ({
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'svc_<JWT>',
    description: "Token of the suite's own client `svc-<slug>`; the operation names the slugs.",
  }),
};

/** The schemes that the requirements use. */
export function securitySchemes(requirements: readonly Json[]): Json {
  const used = KINDS.filter(scheme => requirements.some(requirement => scheme in requirement));
  return Object.fromEntries(used.map(scheme => [scheme, SCHEMES[scheme](requirements)]));
}
