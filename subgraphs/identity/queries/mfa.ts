import type { Context } from '../../../runtime/request/context.js';
import { type BackupCodeStatus, MfaMethod, MfaMethodStatus } from '../entities/mfa.js';

/** Methods that are asked for at sign-in. */
export const activeMethods = (ctx: Context, userId: string): Promise<MfaMethod[]> =>
  ctx.em.find(MfaMethod, { userId, status: MfaMethodStatus.ACTIVE }, { orderBy: { createdAt: 'asc', id: 'asc' } });

/** Second factors of a user that have not run out, oldest first. */
export const secondFactorsOf = (ctx: Context, userId: string): Promise<MfaMethod[]> => {
  const live = { $or: [{ expiresAt: null }, { expiresAt: { $gt: ctx.now() } }] };
  return ctx.em.find(MfaMethod, { userId, ...live }, { orderBy: { createdAt: 'asc', id: 'asc' } });
};

const CODES = `
select extract(epoch from min(generated_at))::float8 * 1000 as at, count(*)::int as total, (count(*) filter (where used_at is null))::int as remaining
from identity.backup_code where user_id = $1`;

/** How many backup codes a user has left; zeros when there are none. */
export async function backupCodesOf(ctx: Context, userId: string): Promise<BackupCodeStatus> {
  const [row] = await ctx.sql<{ at: number | null; total: number; remaining: number }>(CODES, [userId]);
  const { at, total, remaining } = row!;
  return { generatedAt: at === null ? null : new Date(Math.round(at)), total, remaining };
}
