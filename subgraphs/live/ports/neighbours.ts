import { stored, type StoredDocument } from '../../../runtime/federation/federation.js';
import type { Context } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';

/** What the federation answers where no service has the operation; a violation of what was asked names its place. */
const isAbsent = ({ code, options }: Problem): boolean => code === 'internal' || (code === 'invalid_request' && !options.errors?.length);

/** Asks as `svc-live`; `absent` is the answer of a suite without that service. @throws Problem unavailable while one that is there does not answer. */
async function ask<Data, Absent>(ctx: Context, document: StoredDocument, variables: object, absent: Absent): Promise<Data | Absent> {
  try {
    return await ctx.federation.run<Data>(document, variables as Record<string, unknown>);
  } catch (error) {
    if (error instanceof Problem && isAbsent(error)) return absent;
    throw error;
  }
}

const CHECK = stored(
  'query LiveEntitlement($userId: ID!, $key: String!) { checkEntitlement(userId: $userId, key: $key) { allowed upgradeTo { id } } }',
);

/** Whether a user has a feature now, and what tiers would give it. */
export interface Feature {
  allowed: boolean;
  upgradeTo: { id: string }[];
}

/** Without entitlements nobody has a feature. */
export async function featureOf(ctx: Context, userId: string, key: string): Promise<Feature> {
  const answer = await ask<{ checkEntitlement: Feature }, null>(ctx, CHECK, { userId, key }, null);
  return answer?.checkEntitlement ?? { allowed: false, upgradeTo: [] };
}

const CHECK_KEYS = stored(
  'query LiveFeatures($userIds: [ID!]!, $keys: [String!]!) { checkEntitlements(input: { userIds: $userIds, keys: $keys }) { checks { key allowed upgradeTo { id } } } }',
);
/** As many are asked about at once. Source: entitlements 4. */
const MAX_KEYS = 50;

/** The same of several features, by key. */
export async function featuresOf(ctx: Context, userId: string, keys: readonly string[]): Promise<ReadonlyMap<string, Feature>> {
  const known = new Map<string, Feature>();
  for (let from = 0; from < keys.length; from += MAX_KEYS) {
    const some = { userIds: [userId], keys: keys.slice(from, from + MAX_KEYS) };
    const answer = await ask<{ checkEntitlements: { checks: (Feature & { key: string })[] }[] }, null>(ctx, CHECK_KEYS, some, null);
    for (const { key, ...feature } of answer?.checkEntitlements[0]?.checks ?? []) known.set(key, feature);
  }
  return known;
}

const CHECK_MANY = stored(
  'query LiveEntitlements($userIds: [ID!]!, $keys: [String!]!) { checkEntitlements(input: { userIds: $userIds, keys: $keys }) { userId checks { key allowed } } }',
);

interface Checks {
  checkEntitlements: { userId: string; checks: { key: string; allowed: boolean }[] }[];
}

/** Those of the users who have a feature now. */
export async function havingFeature(ctx: Context, userIds: readonly string[], key: string): Promise<ReadonlySet<string>> {
  const answer = await ask<Checks, null>(ctx, CHECK_MANY, { userIds, keys: [key] }, null);
  return new Set(
    (answer?.checkEntitlements ?? []).filter(({ checks }) => checks.some(({ allowed }) => allowed)).map(({ userId }) => userId),
  );
}

const BLOCKED = stored('query LiveBlocked($userId: ID!, $others: [ID!]!) { blockedEither(userId: $userId, otherUserIds: $others) }');

/** As many are asked about at once. Source: follows 4. */
const MAX_OTHERS = 1_000;

/** Those of the others who have blocked the user or are blocked by them; nobody, where there is no follows. */
export async function blockedAmong(ctx: Context, userId: string, others: readonly string[]): Promise<ReadonlySet<string>> {
  const asked = others.filter(other => other !== userId);
  const blocked: string[] = [];
  for (let from = 0; from < asked.length; from += MAX_OTHERS) {
    const some = { userId, others: asked.slice(from, from + MAX_OTHERS) };
    blocked.push(...((await ask<{ blockedEither: string[] }, null>(ctx, BLOCKED, some, null))?.blockedEither ?? []));
  }
  return new Set(blocked);
}

const USER = stored('query LiveUser($id: ID!) { user(id: $id) { id status } }');

/** Whether somebody may be in a host team: an account that is there and neither suspended nor erased. */
export async function isActiveUser(ctx: Context, id: string): Promise<boolean> {
  const answer = await ask<{ user: { status: string } | null }, null>(ctx, USER, { id }, null);
  return answer?.user?.status === 'ACTIVE';
}

const VISIT = stored(
  'query LiveVisit($id: ID!) { bookingVisit(id: $id) { id mode status startsAt endsAt user { id } provider { user { id } } } }',
);

/** What live needs of a visit. */
export interface Visit {
  startsAt: Date;
  endsAt: Date;
  memberId: string;
  providerUserId: string;
}

interface VisitAnswer {
  bookingVisit: { startsAt: string; endsAt: string | null; user: { id: string }; provider: { user: { id: string } } | null } | null;
}

/** A visit with its two people; null for one that booking does not know, or without a provider, and where there is no booking. */
export async function visitOf(ctx: Context, id: string): Promise<Visit | null> {
  const visit = (await ask<VisitAnswer, null>(ctx, VISIT, { id }, null))?.bookingVisit;
  if (!visit?.provider || visit.endsAt === null) return null;
  return {
    startsAt: new Date(visit.startsAt),
    endsAt: new Date(visit.endsAt),
    memberId: visit.user.id,
    providerUserId: visit.provider.user.id,
  };
}

const CONVERSATION = stored('query LiveConversation($id: ID!) { conversation(id: $id) { id canSend participants { user { id } } } }');

interface ConversationAnswer {
  conversation: { canSend: boolean; participants: { user: { id: string } }[] } | null;
}

/** The people of a conversation in which may be sent; null for any other, and where there is no messaging. */
export async function conversationPeople(ctx: Context, id: string): Promise<string[] | null> {
  const found = (await ask<ConversationAnswer, null>(ctx, CONVERSATION, { id }, null))?.conversation;
  return found?.canSend ? found.participants.map(({ user }) => user.id) : null;
}

const BRANDS = stored('query LiveBrands { brands(first: 100) { nodes { id name } } }');

/** A brand's name, for calendars; null where platform does not say. */
export async function brandName(ctx: Context, id: string): Promise<string | null> {
  const answer = await ask<{ brands: { nodes: { id: string; name: string }[] } }, null>(ctx, BRANDS, {}, null);
  return answer?.brands.nodes.find(brand => brand.id === id)?.name ?? null;
}
