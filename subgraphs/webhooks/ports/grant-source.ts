import type { Federation } from '../../../runtime/federation/federation.js';
import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type { ClientFacts } from '../rules/filter.js';

/** A grant in force, as identity answers it. */
export interface AskedGrant {
  id: string;
  userId: string;
  clientId: string;
  effectiveScopes: string[];
  /** Since when the consent stands. */
  grantedAt: string;
  version: number;
}

const ACTIVE_GRANTS = stored(`query ActiveGrants($userIds: [ID!]!) {
  activeGrants(userIds: $userIds) { id userId clientId effectiveScopes grantedAt version }
}`);

const CLIENT = stored(`query WebhookClient($id: ID!) {
  oauthClient(id: $id) { id kind status firstParty scopes agreements { status scopes } }
}`);

interface ClientAnswer {
  oauthClient: (Omit<ClientFacts, 'agreedScopes'> & { agreements: { status: string; scopes: string[] }[] }) | null;
}

/** What identity knows of a client; null for an unknown one. @throws Problem unavailable. */
export async function askClient(federation: Federation, clientId: string): Promise<ClientFacts | null> {
  const { oauthClient } = await federation.run<ClientAnswer>(CLIENT, { id: clientId });
  if (!oauthClient) return null;
  const { agreements, ...facts } = oauthClient;
  return { ...facts, agreedScopes: agreements.filter(one => one.status === 'IN_FORCE').flatMap(one => one.scopes) };
}

/** Grants in force of at most 500 users. @throws Problem unavailable. */
export async function askGrants(federation: Federation, userIds: readonly string[]): Promise<readonly AskedGrant[]> {
  return (await federation.run<{ activeGrants: AskedGrant[] }>(ACTIVE_GRANTS, { userIds })).activeGrants;
}

/** An answer is believed so long; a grant that is made meanwhile arrives as an event. Source: rule 14. */
const BELIEVED_MS = 30_000;
/** Users who are asked about together: those of so many ms, at most so many. */
const GATHER_MS = 5;
const MAX_USERS = 100;
/** Users remembered at most; the oldest go first. */
const MAX_KNOWN = 50_000;

interface Known {
  at: number;
  grants: Promise<readonly AskedGrant[]>;
}

/**
 * Grants that the projection does not know, asked of identity in batches. Only misses come here: an answer that holds a grant is
 * projected, so in the end it is the users without any grant that are asked about, each at most every 30 s.
 */
export class GrantSource {
  readonly #known = new Map<string, Known>();
  #gathering: { userIds: string[]; answer: Promise<ReadonlyMap<string, AskedGrant[]>> } | null = null;

  constructor(private readonly federation: Federation) {}

  /** What was answered about a user in the last 30 s. */
  recent(userId: string): Promise<readonly AskedGrant[]> | null {
    const known = this.#known.get(userId);
    return known && performance.now() - known.at < BELIEVED_MS ? known.grants : null;
  }

  /** All grants in force of a user. @throws Problem unavailable when identity cannot be reached; nothing is remembered then. */
  of(userId: string): Promise<readonly AskedGrant[]> {
    const recent = this.recent(userId);
    if (recent) return recent;
    const grants = this.#gather(userId).then(answer => answer.get(userId) ?? []);
    grants.catch(() => this.#known.delete(userId));
    this.#remember(userId, grants);
    return grants;
  }

  /** Forgets what was answered about a user. */
  forget(userId: string): void {
    this.#known.delete(userId);
  }

  #remember(userId: string, grants: Promise<readonly AskedGrant[]>): void {
    this.#known.delete(userId);
    this.#known.set(userId, { at: performance.now(), grants });
    if (this.#known.size > MAX_KNOWN) this.#known.delete(this.#known.keys().next().value!);
  }

  #gather(userId: string): Promise<ReadonlyMap<string, AskedGrant[]>> {
    if (this.#gathering && this.#gathering.userIds.length < MAX_USERS) {
      this.#gathering.userIds.push(userId);
      return this.#gathering.answer;
    }
    const userIds = [userId];
    const answer = new Promise(resolve => setTimeout(resolve, GATHER_MS)).then(() => this.#ask(userIds));
    this.#gathering = { userIds, answer };
    return answer;
  }

  async #ask(userIds: readonly string[]): Promise<ReadonlyMap<string, AskedGrant[]>> {
    if (this.#gathering?.userIds === userIds) this.#gathering = null;
    const grants = await askGrants(this.federation, userIds);
    return new Map(userIds.map(userId => [userId, grants.filter(grant => grant.userId === userId)]));
  }
}

const sources = new WeakMap<ServiceHost, GrantSource>();

/** The one grant source of a running service. */
export function grantSourceOf(host: ServiceHost): GrantSource {
  let source = sources.get(host);
  if (!source) sources.set(host, (source = new GrantSource(host.federation)));
  return source;
}
