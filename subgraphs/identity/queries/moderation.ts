import type { Context } from '../../../runtime/request/context.js';
import { ModerationAction, ModerationActionKind, UserModeration } from '../entities/moderation.js';
import type { User } from '../entities/user.js';

const SHOWN = 100;

/** How an account stands; `history` is read where it is asked for. */
export async function moderationOf(ctx: Context, { id: userId, status }: User): Promise<UserModeration> {
  const standing = await ctx.em.findOne(ModerationAction, { userId, endedAt: null, kind: { $ne: ModerationActionKind.REINSTATE } });
  const { at: since = null, until = null, reasonCode = null } = standing ?? {};
  return Object.assign(new UserModeration(), { userId, status, since, until, reasonCode });
}

/** What was done to an account, newest first, up to 100. */
export const historyOf = (ctx: Context, userId: string): Promise<ModerationAction[]> =>
  ctx.em.find(ModerationAction, { userId }, { orderBy: { at: 'desc', id: 'desc' }, limit: SHOWN });
