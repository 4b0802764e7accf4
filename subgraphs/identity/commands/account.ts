import type { RequiredEntityData } from '@mikro-orm/postgresql';
import { userCreated } from '../../../events/catalogue/identity.js';
import { isUuid, newId } from '../../../runtime/data/ids.js';
import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { CrmSyncReason } from '../entities/crm-sync.js';
import { UserSettings } from '../entities/settings.js';
import { User, UserEmail, UserProfile, UserStatus } from '../entities/user.js';
import type { CreateUserInput } from '../inputs/user.js';
import { emailKey } from '../rules/emails.js';
import { noteCrmChange } from './crm-change.js';

/** An account as found by its address. */
export interface KnownAddress {
  userId: string;
  status: UserStatus;
  /** As its owner wrote it: where mail goes, whatever look-alike was typed. */
  email: string;
}

/** The account that an address belongs to, its row locked; null for none. */
export async function accountByEmail(ctx: Context, email: string): Promise<KnownAddress | null> {
  const [row] = await ctx.sql<{ id: string; status: UserStatus; email: string }>(
    'select u.id, u.status, e.email from identity.user_email e join identity."user" u on u.id = e.user_id where e.email_key = $1 for no key update of u',
    [emailKey(email)],
  );
  return row ? { userId: row.id, status: row.status, email: row.email } : null;
}

interface AccountRows {
  user: Partial<User>;
  email: string;
  verifiedAt: Date | null;
  profile?: Partial<UserProfile>;
  settings?: Partial<UserSettings>;
}

/** First day of the month in which somebody joined. */
const joinedOn = (now: Date): string => `${now.toISOString().slice(0, 7)}-01`;

/** Writes the rows that every account has. @throws conflict when the address is taken. */
export async function plantAccount(ctx: Context, { user, email, verifiedAt, profile, settings }: AccountRows): Promise<User> {
  const now = ctx.now();
  const plant = <Row extends object>(entity: new () => Row, row: Partial<Row>): Row => {
    const planted = ctx.em.create(entity, row as unknown as RequiredEntityData<Row>, { partial: true });
    ctx.em.persist(planted);
    return planted;
  };
  const planted = plant(User, { id: newId(), createdAt: now, updatedAt: now, ...user });
  const userId = planted.id;
  plant(UserEmail, { userId, email, emailKey: emailKey(email), verifiedAt });
  plant(UserProfile, { userId, joinedOn: joinedOn(now), ...profile });
  plant(UserSettings, { userId, ...settings });
  await ctx.em.flush();
  return planted;
}

export interface PendingAccount {
  email: string;
  locale?: string | null;
  brandId?: string | null;
}

/** An account whose address nobody has proven; it can do nothing and is deleted after seven days. @throws conflict when the address is taken. */
export async function plantPending(ctx: Context, { email, locale = null, brandId = null }: PendingAccount): Promise<string> {
  const user = { status: UserStatus.PENDING, brandId };
  return (await plantAccount(ctx, { user, email, verifiedAt: null, settings: locale ? { locale } : {} })).id;
}

export interface NewAccount {
  email: string;
  emailVerified: boolean;
  phone?: string | null;
  displayName?: string | null;
  brandId?: string | null;
  locale?: string | null;
  timeZone?: string | null;
  countryCode?: string | null;
}

/** Makes an account that is active at once. Needs a transaction. @throws Problem conflict (`email_taken`). */
export async function openAccount(ctx: Context, account: NewAccount, source: 'import' | 'staff_invite' | 'sso'): Promise<User> {
  const { email, emailVerified, phone = null, displayName = null, brandId = null, locale, timeZone, countryCode = null } = account;
  if ((await ctx.em.count(UserEmail, { emailKey: emailKey(email) })) > 0)
    fail('conflict', 'There is an account with this e-mail address', { reason: 'email_taken' });
  const user = await plantAccount(ctx, {
    user: { phone, brandId },
    email,
    verifiedAt: emailVerified ? ctx.now() : null,
    profile: { displayName },
    settings: { ...(locale && { locale }), ...(timeZone && { timeZone, timeZoneSetAt: ctx.now() }) },
  });
  await noteCrmChange(ctx, user.id, CrmSyncReason.CREATED);
  ctx.emit(userCreated, { source, locale: locale ?? null, country_code: countryCode }, { userId: user.id, brandId });
  ctx.audit('user.created', user.id, { source });
  return user;
}

/** Makes an account for a service. @throws Problem invalid_request, conflict (`email_taken`). */
export async function importAccount(ctx: Context, input: CreateUserInput): Promise<User> {
  if (input.brandId != null && !isUuid(input.brandId)) invalid('/input/brandId', 'is no id of a brand');
  return openAccount(ctx, input, 'import');
}

/** The address of a pending account is proven: it becomes active, and the platform hears of it. */
export async function activate(ctx: Context, userId: string, displayName: string | null): Promise<void> {
  const now = ctx.now();
  await ctx.sql(
    `update identity."user" set status = 'active', updated_at = $2, version = version + 1 where id = $1 and status = 'pending'`,
    [userId, now.toISOString()],
  );
  await ctx.sql(`update identity.user_profile set display_name = coalesce($2, display_name), joined_on = $3 where user_id = $1`, [
    userId,
    displayName,
    joinedOn(now),
  ]);
  const [row] = await ctx.sql<{ locale: string | null; brand: string | null }>(
    'select s.locale, u.brand_id as brand from identity."user" u left join identity.user_settings s on s.user_id = u.id where u.id = $1',
    [userId],
  );
  await noteCrmChange(ctx, userId, CrmSyncReason.CREATED);
  ctx.emit(userCreated, { source: 'signup', locale: row!.locale, country_code: null }, { userId, brandId: row!.brand });
  ctx.audit('user.created', userId, { source: 'signup' });
}

const CHILDREN = ['auth_challenge', 'credential_password', 'external_identity', 'user_settings', 'user_profile', 'user_email'];

/** Deletes pending accounts without trace. Others are left alone. Needs a transaction. */
export async function forgetPending(ctx: Context, ids: readonly string[]): Promise<void> {
  const rows = await ctx.sql<{ id: string }>(
    `select id from identity."user" where id = any($1::uuid[]) and status = 'pending' order by id for update`,
    [ids],
  );
  const gone = rows.map(row => row.id);
  for (const table of CHILDREN) await ctx.sql(`delete from identity.${table} where user_id = any($1::uuid[])`, [gone]);
  await ctx.sql('delete from identity."user" where id = any($1::uuid[])', [gone]);
}

/** The caller's account, locked, so that its changes follow one another; its version moves on. @throws Problem not_found. */
export async function ownAccount(ctx: Context): Promise<User> {
  const user = await lockRow(ctx, User, { id: ctx.caller.userId!, status: UserStatus.ACTIVE });
  user.updatedAt = ctx.now();
  return user;
}
