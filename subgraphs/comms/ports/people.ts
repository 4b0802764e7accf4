import { Problem } from '../../../runtime/request/errors.js';
import { stored } from '../../../runtime/federation/federation.js';
import type { Context } from '../../../runtime/request/context.js';

/** A person as the owners know them now. Used in memory, never stored. */
export interface Person {
  id: string;
  status: string;
  email: string | null;
  emailVerified: boolean;
  phone: string | null;
  phoneVerified: boolean;
  brandId: string | null;
  locale: string | null;
  /** Null where the person never chose one. */
  timeZone: string | null;
  marketingConsent: boolean;
}

interface Asked extends Omit<Person, 'locale' | 'timeZone' | 'marketingConsent'> {
  settings: { locale: string; timeZone: string; timeZoneSetAt: string | null; marketingConsent: { granted: boolean } } | null;
}

const PEOPLE = stored(`query CommsPeople($ids: [ID!]!) {
  commsRecipients(userIds: $ids) {
    id status email emailVerified phone phoneVerified brandId
    settings { locale timeZone timeZoneSetAt marketingConsent { granted } }
  }
}`);

const personOf = ({ settings, ...asked }: Asked): Person => ({
  ...asked,
  emailVerified: asked.emailVerified === true,
  phoneVerified: asked.phoneVerified === true,
  locale: settings?.locale ?? null,
  timeZone: settings?.timeZoneSetAt ? settings.timeZone : null,
  marketingConsent: settings?.marketingConsent.granted === true,
});

/** People by id, up to 100 in one document. Who is unknown to identity is missing. @throws Problem unavailable. */
export async function peopleOf(ctx: Context, ids: readonly string[]): Promise<Map<string, Person>> {
  if (ids.length === 0) return new Map();
  const { commsRecipients } = await ctx.federation.run<{ commsRecipients: (Asked | null)[] }>(PEOPLE, { ids: [...new Set(ids)] });
  return new Map(commsRecipients.flatMap(one => (one?.status ? [[one.id, personOf(one)] as const] : [])));
}

/** Somebody who is no user: an address and a language. */
export interface Contact {
  key: string;
  email: string;
  name: string | null;
}

const STAFF = stored('query CommsStaff($id: ID!) { staffMember(id: $id) { id email status } }');
const ROLE = stored(`query CommsStaffOfRole($role: String!, $after: String) {
  staff(first: 100, after: $after, filter: { role: $role, status: [ACTIVE] }) { nodes { id email } pageInfo { endCursor hasNextPage } }
}`);
const CLIENT = stored('query CommsClient($id: ID!) { oauthClient(id: $id) { id contacts } }');
const GIFT = stored('query CommsGift($id: ID!) { giftDelivery(giftId: $id) { email name code message } }');

/** All active staff of a role, in order of their ids. @throws Problem unavailable. */
export async function staffOfRole(ctx: Context, role: string): Promise<string[]> {
  interface Answer {
    staff: { nodes: { id: string }[]; pageInfo: { endCursor: string | null; hasNextPage: boolean } };
  }
  const ids: string[] = [];
  for (let after: string | null = null; ;) {
    const { staff }: Answer = await ctx.federation.run<Answer>(ROLE, { role, after });
    ids.push(...staff.nodes.map(({ id }) => id));
    if (!staff.pageInfo.hasNextPage) return ids.sort();
    after = staff.pageInfo.endCursor;
  }
}

export async function staffContact(ctx: Context, id: string): Promise<Contact | null> {
  const { staffMember } = await ctx.federation.run<{ staffMember: { id: string; email: string } | null }>(STAFF, { id });
  return staffMember && { key: staffMember.id, email: staffMember.email, name: null };
}

/** Addresses of an app's contacts; the key is the place in the list. */
export async function clientContacts(ctx: Context, id: string): Promise<string[]> {
  const { oauthClient } = await ctx.federation.run<{ oauthClient: { contacts: string[] } | null }>(CLIENT, { id });
  return oauthClient?.contacts ?? [];
}

export interface GiftDelivery {
  email: string;
  name: string | null;
  code: string;
  message: string | null;
}

export async function giftDelivery(ctx: Context, id: string): Promise<GiftDelivery | null> {
  return (await ctx.federation.run<{ giftDelivery: GiftDelivery | null }>(GIFT, { id })).giftDelivery;
}

export interface AuthDelivery {
  channel: 'EMAIL' | 'SMS';
  to: string;
  template: string;
  link: string | null;
  code: string | null;
  locale: string | null;
  expiresAt: string;
}

const AUTH = stored(
  'query CommsAuthDelivery($id: ID!) { authDelivery(challengeId: $id) { channel to template link code locale expiresAt } }',
);

/** Address, link and code of a challenge; identity counts each answer. @returns null where the challenge is over. @throws Problem unavailable. */
export async function authDelivery(ctx: Context, id: string): Promise<AuthDelivery | null> {
  try {
    return (await ctx.federation.run<{ authDelivery: AuthDelivery }>(AUTH, { id })).authDelivery;
  } catch (error) {
    if (error instanceof Problem && ['conflict', 'not_found'].includes(error.code)) return null;
    throw error;
  }
}
