/** Since when a grant covers a scope: the instant, and the sequence of the granting event where it is known. */
export interface GrantedScope {
  /** ms. */
  at: number;
  /** null: learnt by asking identity, so only the instant is known. */
  seq: number | null;
}

/** State of one user's grant to one client, as projected. A revoked grant has no scopes. */
export interface ProjectedGrant {
  grantId: string;
  version: number;
  scopes: Readonly<Record<string, GrantedScope>>;
}

/** A grant's whole new state, from `identity.grant.changed.v1` or from identity's answer. */
export interface GrantState {
  grantId: string;
  version: number;
  active: boolean;
  scopes: readonly string[];
  since: GrantedScope;
}

/**
 * Whether a state is news. Versions count within one grant; a user who comes back gets a new grant, whose id (UUIDv7) was
 * made later than the old one's.
 */
export const supersedes = (known: ProjectedGrant | undefined, state: GrantState): boolean =>
  known === undefined || (known.grantId === state.grantId ? state.version > known.version : state.grantId > known.grantId);

/** The projection after a state. A scope that stays keeps its beginning; a new grant begins anew. */
export function project(known: ProjectedGrant | undefined, state: GrantState): ProjectedGrant {
  const kept = known?.grantId === state.grantId ? known.scopes : {};
  const scopes = state.active ? Object.fromEntries(state.scopes.map(scope => [scope, kept[scope] ?? state.since])) : {};
  return { grantId: state.grantId, version: state.version, scopes };
}

/**
 * A projection after identity was asked for what is in force now; null: it agrees. A grant that is not in force has no scopes; scopes can
 * come and go without a new version, with the client's agreements. What is new counts from now (ms).
 */
export function reconciled(known: ProjectedGrant, inForce: GrantState | null, now: number): ProjectedGrant | null {
  if (inForce && supersedes(known, inForce)) return project(known, inForce);
  const scopes = inForce?.grantId === known.grantId ? inForce.scopes : [];
  const held = Object.keys(known.scopes);
  if (held.length === scopes.length && held.every(scope => scopes.includes(scope))) return null;
  return { ...known, scopes: Object.fromEntries(scopes.map(scope => [scope, known.scopes[scope] ?? { at: now, seq: null }])) };
}

/** Scopes that one projection holds and the next does not. */
export const lostScopes = (before: ProjectedGrant | undefined, after: ProjectedGrant): string[] =>
  Object.keys(before?.scopes ?? {}).filter(scope => after.scopes[scope] === undefined);

/**
 * Whether a grant covers an event: it holds the scope, and held it before the event occurred. Both pass one ordered partition,
 * so their sequences decide, not two services' clocks; only a grant learnt by asking is judged by time. Source: rule 14.
 */
export function covers(grant: ProjectedGrant | undefined, scope: string, event: { sequence: number; occurredAt: number }): boolean {
  const granted = grant?.scopes[scope];
  if (!granted) return false;
  return granted.seq !== null ? granted.seq < event.sequence : granted.at <= event.occurredAt;
}
