/** What identity knows of a client. */
export interface ClientFacts {
  kind: 'MACHINE' | 'CONFIDENTIAL' | 'PUBLIC';
  status: 'ACTIVE' | 'DISABLED' | 'DELETED';
  firstParty: boolean;
  scopes: readonly string[];
  /** Scopes of the health-data agreements in force. */
  agreedScopes: readonly string[];
}

/** What the catalogue declares of an event type. */
export interface TypeFacts {
  scope: string | null;
  /** The scope is of class PHI. */
  sensitive: boolean;
}

/** Why a client may have no subscription, null for no reason. Source: rule 14. */
export function clientViolation(client: ClientFacts | null): string | null {
  if (!client || client.status === 'DELETED') return 'is not a known client';
  if (client.status !== 'ACTIVE') return 'is not an active client';
  return client.kind === 'MACHINE' ? 'has no user flow, so nobody can grant it access' : null;
}

/** Why a client cannot be bound to some clients, null for no reason: only machine clients call without a user. */
export function managerViolation(client: ClientFacts | null): string | null {
  if (!client || client.status === 'DELETED') return 'is not a known client';
  return client.kind === 'MACHINE' ? null : 'is not a machine client';
}

/**
 * Why a client may not subscribe to an event type, null for no reason; without a client, why none may. Source: rule 14;
 * specification 1, webhook delivery 8.
 */
export function typeViolation(type: TypeFacts | undefined, client: ClientFacts | null): string | null {
  if (!type) return 'unknown event type';
  if (type.scope === null) return 'not deliverable';
  if (!client) return null;
  if (!client.scopes.includes(type.scope)) return `needs scope ${type.scope}, which the client does not hold`;
  if (type.sensitive && !client.firstParty && !client.agreedScopes.includes(type.scope)) return 'needs a health-data agreement in force';
  return null;
}

/** Event types as stored: sorted, each once. */
export const sortedTypes = (types: readonly string[]): string[] => [...new Set(types)].sort();
