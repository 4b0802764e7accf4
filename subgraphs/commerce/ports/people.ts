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

/** An affiliate as the storefront groups customers. */
export interface Partner {
  userId: string;
  brandId: string;
  isApproved: boolean;
  tier: string;
}

/** A page of affiliates of all brands, asked of affiliates. @throws Problem unavailable. */
export async function partnersPage(host: ServiceHost, after: string | null): Promise<{ records: Partner[]; next: string | null }> {
  type Node = { status: string; user: { id: string }; tier: { key: string }; program: { brand: { id: string } } };
  type Answer = { affiliates: { nodes: Node[]; pageInfo: { endCursor: string | null; hasNextPage: boolean } } };
  const { nodes, pageInfo } = (await ask<Answer>(host, AFFILIATES, { after })).affiliates;
  return {
    records: nodes.map(({ status, user, tier, program }) => ({
      userId: user.id,
      brandId: program.brand.id,
      isApproved: status === 'APPROVED',
      tier: tier.key,
    })),
    next: pageInfo.hasNextPage ? pageInfo.endCursor : null,
  };
}
