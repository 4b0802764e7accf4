import { createHmac } from 'node:crypto';
import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { ask } from './neighbour.js';

const LOOK_UP = stored('query CommerceUserByEmail($email: String!) { userLookup(by: { email: $email }) { id emailVerified } }');
const READ = stored('query CommerceUser($id: ID!) { user(id: $id) { id status email emailVerified profile { displayName } } }');
const AFFILIATES = stored(`query CommerceAffiliates($after: String) { affiliates(first: 50, after: $after) {
  nodes { id status user { id } tier { key } program { brand { id } } } pageInfo { endCursor hasNextPage } } }`);

/** The accounts whose verified address one of these is, asked of identity; outside transactions. @throws Problem unavailable. */
export async function usersByEmail(host: ServiceHost, emails: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const email of emails) {
    const { userLookup } = await ask<{ userLookup: { id: string; emailVerified: boolean | null } | null }>(host, LOOK_UP, { email });
    if (userLookup?.emailVerified) found.add(userLookup.id);
  }
  return [...found];
}

/** What the storefront may be told of a member. */
export interface Profile {
  email: string;
  displayName: string | null;
}

/** @returns null: no such active account with a verified address. @throws Problem unavailable. */
export async function profileOf(host: ServiceHost, id: string): Promise<Profile | null> {
  type User = { status: string; email: string | null; emailVerified: boolean | null; profile: { displayName: string | null } | null };
  const { user } = await ask<{ user: User | null }>(host, READ, { id });
  if (user?.status !== 'ACTIVE' || !user.emailVerified || !user.email) return null;
  return { email: user.email, displayName: user.profile?.displayName ?? null };
}

/** By which it is seen whether a profile has changed: keyed, because addresses can be guessed. */
export const profileHash = ({ config }: ServiceHost, { email, displayName }: Profile): string =>
  createHmac('sha256', config.encryptionKeys ?? '')
    .update(`storefront:${JSON.stringify([email, displayName])}`)
    .digest('base64url');

/** Whom the storefront groups, and how. */
export interface Partner {
  userId: string;
  /** None: they are an affiliate no longer, or not yet. */
  groups: string[];
}

interface AffiliatesAnswer {
  affiliates: {
    nodes: { status: string; user: { id: string }; tier: { key: string }; program: { brand: { id: string } } }[];
    pageInfo: { endCursor: string | null; hasNextPage: boolean };
  };
}

/** Affiliates of a brand, each once in whatever many programs, asked of affiliates. @throws Problem unavailable. */
export async function partnersOf(host: ServiceHost, brandId: string): Promise<Partner[]> {
  const groups = new Map<string, Set<string>>();
  for (let after: string | null = null, more = true; more;) {
    const { nodes, pageInfo }: AffiliatesAnswer['affiliates'] = (await ask<AffiliatesAnswer>(host, AFFILIATES, { after })).affiliates;
    for (const { status, user, tier } of nodes.filter(one => one.program.brand.id === brandId)) {
      const own = groups.get(user.id) ?? new Set();
      groups.set(user.id, own);
      if (status === 'APPROVED') own.add('affiliate').add(`affiliate-${tier.key}`);
    }
    [after, more] = [pageInfo.endCursor, pageInfo.hasNextPage];
  }
  return [...groups].map(([userId, own]) => ({ userId, groups: [...own].toSorted() })).toSorted((a, b) => (a.userId < b.userId ? -1 : 1));
}
