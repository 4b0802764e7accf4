import { type FilterQuery, raw } from '@mikro-orm/postgresql';
import { isUuid } from '../../../runtime/data/ids.js';
import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { type Connection, page } from '../../../runtime/request/paging.js';
import { User, UserEmail, UserProfile, UserStatus } from '../entities/user.js';
import type { UserFilter, UserListArgs, UserLookupInput } from '../inputs/user.js';
import { emailKey } from '../rules/emails.js';
import { seesProfile } from '../rules/visibility.js';
import { profileOf } from './batches.js';
import { beginning } from './search.js';
import { asAdministered, knowsBrand, viewerOf } from './viewer.js';

const hasEmail = (q: string): FilterQuery<User> => ({
  [raw(
    alias => `exists (select 1 from identity.user_email e where e.user_id = ${alias}.id and e.email_key like ?)`,
    [beginning(emailKey(q))],
  )]: [],
});

const hasName = (q: string): FilterQuery<User> => ({
  [raw(
    alias =>
      `exists (select 1 from identity.user_profile p where p.user_id = ${alias}.id and (p.handle like ? or lower(p.display_name) like ?))`,
    [beginning(q.toLowerCase()), beginning(q.toLowerCase())],
  )]: [],
});

function searched(q: string): FilterQuery<User> {
  return { $or: [...(isUuid(q) ? [{ id: q }] : []), hasEmail(q), hasName(q)] } as FilterQuery<User>;
}

function whereOf({ q, status, brandId, createdAfter, createdBefore }: UserFilter): FilterQuery<User> {
  if (brandId && !isUuid(brandId)) return { id: [] };
  const conditions: FilterQuery<User>[] = [];
  if (q) conditions.push(searched(q));
  if (status?.length) conditions.push({ status: { $in: status } });
  if (brandId) conditions.push({ brandId });
  if (createdAfter) conditions.push({ createdAt: { $gt: createdAfter } });
  if (createdBefore) conditions.push({ createdAt: { $lt: createdBefore } });
  return { $and: conditions } as FilterQuery<User>;
}

/** Accounts, newest first; for administrators. */
export async function listUsers(ctx: Context, args: UserListArgs): Promise<Connection<User>> {
  const users = await page(ctx.em, User, whereOf(args.filter ?? {}), args, { time: 'createdAt' });
  users.nodes.forEach(asAdministered);
  return users;
}

/** An account as administrators see it, tombstones included. */
export async function administeredUser(ctx: Context, id: string): Promise<User | null> {
  const user = await findRow(ctx, User, { id });
  return user && asAdministered(user);
}

/** Id of the account with this address, phone, handle or outside identity; the oldest where a phone is shared. */
async function idOf(ctx: Context, by: UserLookupInput): Promise<string | null> {
  if (by.email) return (await ctx.em.findOne(UserEmail, { emailKey: emailKey(by.email) }))?.userId ?? null;
  if (by.handle) return (await ctx.em.findOne(UserProfile, { handle: by.handle.toLowerCase() }))?.userId ?? null;
  if (by.phone) return (await ctx.em.findOne(User, { phone: by.phone }, { orderBy: { createdAt: 'asc' } }))?.id ?? null;
  return linkedId(ctx, by.externalProvider!, by.externalId!);
}

async function linkedId(ctx: Context, provider: string, subject: string): Promise<string | null> {
  const text = 'select user_id from identity.external_identity where provider = $1 and subject = $2';
  return (await ctx.sql<{ user_id: string }>(text, [provider, subject]))[0]?.user_id ?? null;
}

/** The account that somebody outside is linked to; tombstones are not found. */
export async function linkedUser(ctx: Context, provider: string, subject: string): Promise<User | null> {
  const id = await linkedId(ctx, provider, subject);
  return id === null ? null : ctx.em.findOne(User, { id, status: { $ne: UserStatus.ERASED } });
}

function requireOneWay(by: UserLookupInput): void {
  const external = by.externalProvider != null || by.externalId != null;
  const ways = [by.email, by.phone, by.handle].filter(one => one != null).length + (external ? 1 : 0);
  if (ways !== 1 || (external && (by.externalProvider == null || by.externalId == null)))
    invalid('/by', 'give exactly one of email, phone, handle, or external_provider with external_id');
}

/** The account that one address, phone, handle or outside identity belongs to; tombstones are not found; for administrators. @throws Problem invalid_request. */
export async function lookUpUser(ctx: Context, by: UserLookupInput): Promise<User | null> {
  requireOneWay(by);
  const id = await idOf(ctx, by);
  const user = id === null ? null : await ctx.em.findOne(User, { id, status: { $ne: UserStatus.ERASED } });
  return user && asAdministered(user);
}

/** Whether the caller may know that an account is there: as administrator, owner or service, or because the profile is open to them. */
export async function mayKnow(ctx: Context, user: User | null): Promise<boolean> {
  if (!user || knowsBrand(ctx.caller, user.id)) return user !== null;
  const profile = await profileOf(ctx, user.id);
  return profile !== null && seesProfile(viewerOf(ctx.caller, user), user.status, profile.visibility);
}

/** An account of which the caller may know something; null for any other, so that existence does not show. */
export async function visibleUser(ctx: Context, id: string): Promise<User | null> {
  const user = await findRow(ctx, User, { id });
  return (await mayKnow(ctx, user)) ? user : null;
}

/** The user with a handle, in any case of letters, as {@link visibleUser}. */
export async function findByHandle(ctx: Context, handle: string): Promise<User | null> {
  const profile = await ctx.em.findOne(UserProfile, { handle: handle.toLowerCase() });
  return profile && visibleUser(ctx, profile.userId);
}

/** Active users of handles, in their order. */
export async function findByHandles(ctx: Context, handles: readonly string[]): Promise<(User | null)[]> {
  const wanted = handles.map(handle => handle.toLowerCase());
  const profiles = await ctx.em.find(UserProfile, { handle: { $in: wanted } });
  const users = await ctx.em.find(User, { id: { $in: profiles.map(profile => profile.userId) }, status: UserStatus.ACTIVE });
  return wanted.map(handle => users.find(user => user.id === profiles.find(profile => profile.handle === handle)?.userId) ?? null);
}
