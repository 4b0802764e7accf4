import { userCreated } from '../../../events/catalogue/identity.js';
import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { newId } from '../../../runtime/data/ids.js';
import { CrmSyncReason } from '../entities/crm-sync.js';
import { UserSettings } from '../entities/settings.js';
import { User, UserEmail, UserProfile, UserStatus } from '../entities/user.js';
import { emailKey } from '../rules/visibility.js';
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
    'select u.id, u.status, e.email from identity.user_email e join identity."user" u on u.id = e.user_id where e.email_key = $1 for update of u',
    [emailKey(email)],
  );
  return row ? { userId: row.id, status: row.status, email: row.email } : null;
}

export interface NewAccount {
  email: string;
  locale?: string | null;
  brandId?: string | null;
}

/** An account whose address nobody has proven; it can do nothing and is deleted after seven days. @throws conflict when the address is taken. */
export async function plantPending(ctx: Context, { email, locale = null, brandId = null }: NewAccount): Promise<string> {
  const id = newId();
  const now = ctx.now();
  const plant = (entity: new () => object, row: object): void =>
    void ctx.em.persist(ctx.em.create(entity, row as never, { partial: true }));
  plant(User, { id, status: UserStatus.PENDING, brandId, createdAt: now, updatedAt: now });
  plant(UserEmail, { userId: id, email, emailKey: emailKey(email), verifiedAt: null });
  plant(UserProfile, { userId: id, joinedOn: `${now.toISOString().slice(0, 7)}-01` });
  plant(UserSettings, { userId: id, ...(locale && { locale }) });
  await ctx.em.flush();
  return id;
}

/** The address of a pending account is proven: it becomes active, and the platform hears of it. */
export async function activate(ctx: Context, userId: string, displayName: string | null): Promise<void> {
  const now = ctx.now().toISOString();
  await ctx.sql(
    `update identity."user" set status = 'active', updated_at = $2, version = version + 1 where id = $1 and status = 'pending'`,
    [userId, now],
  );
  await ctx.sql(`update identity.user_profile set display_name = coalesce($2, display_name), joined_on = $3 where user_id = $1`, [
    userId,
    displayName,
    `${now.slice(0, 7)}-01`,
  ]);
  const [row] = await ctx.sql<{ locale: string | null; brand: string | null }>(
    'select s.locale, u.brand_id as brand from identity."user" u left join identity.user_settings s on s.user_id = u.id where u.id = $1',
    [userId],
  );
  await noteCrmChange(ctx, userId, CrmSyncReason.CREATED);
  ctx.emit(userCreated, { source: 'signup', locale: row!.locale, country_code: null }, { userId, brandId: row!.brand });
  ctx.audit('user.created', userId, { source: 'signup' });
}

/** Source: identity 3, User. */
const UNPROVEN = `interval '168 hours'`;
const BATCH = 500;
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

/** Accounts that were never proven are gone after seven days. */
export const unprovenAccounts: Timer<Context> = {
  name: 'identity.unproven_accounts',
  async next(ctx) {
    const [row] = await ctx.sql<{ at: number | null }>(
      `select extract(epoch from min(created_at) + ${UNPROVEN})::float8 * 1000 as at from identity."user" where status = 'pending'`,
    );
    return row?.at == null ? null : new Date(Math.round(row.at));
  },
  async run(ctx, at) {
    const due = `select id from identity."user" where status = 'pending' and created_at + ${UNPROVEN} <= $1 order by created_at limit ${BATCH}`;
    const rows = await ctx.sql<{ id: string }>(due, [at.toISOString()]);
    await forgetPending(
      ctx,
      rows.map(row => row.id),
    );
  },
  everySeconds: 60,
};
