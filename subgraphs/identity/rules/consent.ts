import { OAuthClientAgreementStatus } from '../entities/client-agreement.js';
import { groupOf, isPhi, scopeSet } from './scopes.js';

interface ClientScopes {
  scopes: readonly string[];
  firstParty: boolean;
}

interface Agreement {
  scopes: readonly string[];
  expiresAt: Date | null;
  endedAt: Date | null;
}

/** In force until it is ended or expires. */
export const agreementStatus = ({ endedAt, expiresAt }: Pick<Agreement, 'endedAt' | 'expiresAt'>, now: Date): OAuthClientAgreementStatus =>
  (endedAt !== null && endedAt <= now) || (expiresAt !== null && expiresAt <= now)
    ? OAuthClientAgreementStatus.ENDED
    : OAuthClientAgreementStatus.IN_FORCE;

/** What a client may hold now: its registered scopes, those of class PHI only as first party or under an agreement. Source: identity A9. */
export function allowedScopes(client: ClientScopes, agreements: readonly Agreement[], now: Date): string[] {
  const covered = new Set(
    agreements.filter(one => agreementStatus(one, now) === OAuthClientAgreementStatus.IN_FORCE).flatMap(one => one.scopes),
  );
  return client.scopes.filter(scope => !isPhi(scope) || client.firstParty || covered.has(scope));
}

/** granted ∩ the client's ∩ agreements. Consent is kept where an agreement has ended, so that its renewal restores it. */
export function effectiveScopes(granted: readonly string[], client: ClientScopes, agreements: readonly Agreement[], now: Date): string[] {
  const allowed = new Set(allowedScopes(client, agreements, now));
  return granted.filter(scope => allowed.has(scope));
}

/** Consent as it stands; null: none. */
export interface StandingConsent {
  scopes: readonly string[];
  declinedScopes: readonly string[];
}

/** What the user answers now. */
export interface ConsentAnswer {
  granted: readonly string[];
  declined?: readonly string[];
}

export interface ConsentChange {
  scopes: string[];
  declinedScopes: string[];
  /** Null: nothing changed. */
  reason: 'consented' | 'scopes_changed' | null;
}

/**
 * What is ticked when the consent page is shown: what was decided before as it was decided, of the rest all but health and money, which
 * nobody gives away by a click on a button. Source: identity 4.1.
 */
export const tickedOf = (asked: readonly string[], standing: StandingConsent | null): string[] =>
  asked.filter(scope => {
    if (standing?.scopes.includes(scope)) return true;
    return !standing?.declinedScopes.includes(scope) && !['health', 'money'].includes(groupOf(scope));
  });

/** Joins an answer to the consent that stands: what is ticked is granted, what is unticked is remembered as declined and no longer granted. */
export function mergeConsent(standing: StandingConsent | null, answer: ConsentAnswer): ConsentChange {
  const declined = new Set(answer.declined ?? []);
  const scopes = scopeSet([...(standing?.scopes ?? []).filter(scope => !declined.has(scope)), ...answer.granted]);
  const declinedScopes = scopeSet([...(standing?.declinedScopes ?? []), ...declined].filter(scope => !scopes.includes(scope)));
  if (!standing) return { scopes, declinedScopes, reason: 'consented' };
  const same =
    scopes.join(' ') === scopeSet(standing.scopes).join(' ') && declinedScopes.join(' ') === scopeSet(standing.declinedScopes).join(' ');
  return { scopes, declinedScopes, reason: same ? null : 'scopes_changed' };
}
