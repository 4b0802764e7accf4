import { isUuid } from '../../../runtime/data/ids.js';
import { FOR_UPDATE, lockRow } from '../../../runtime/data/rows.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalid } from '../../../runtime/request/errors.js';
import { move } from '../../../runtime/request/states.js';
import { CrmSyncReason } from '../entities/crm-sync.js';
import { ModerationAction, ModerationActionKind, type ModerationActionReasonCode } from '../entities/moderation.js';
import { User, UserStatus } from '../entities/user.js';
import type { BanUserInput, ReinstateUserInput, SuspendUserInput } from '../inputs/moderation.js';
import { staffOf } from '../queries/staff-power.js';
import { MODERATION, suspensionEnd } from '../rules/moderation.js';
import { noteCrmChange } from './crm-change.js';
import { sendNotice } from './notice.js';
import { shutOut } from './session.js';
import { dismiss, guardLastOwner, refuseOneself } from './staff-power.js';

interface Doing {
  kind: ModerationActionKind;
  reasonCode: ModerationActionReasonCode;
  note?: string | null;
  until?: Date | null;
}

const PAST: Record<ModerationActionKind, string> = { ban: 'banned', suspend: 'suspended', reinstate: 'reinstated' };

const END_STANDING = "update identity.moderation_action set ended_at = $2 where user_id = $1 and ended_at is null and kind <> 'reinstate'";

/** Moves an account on and writes down who did it. Needs a transaction. @throws Problem conflict for a state that has no such way. */
async function act(ctx: Context, user: User, { kind, reasonCode, note = null, until = null }: Doing): Promise<void> {
  const now = ctx.now();
  user.status = move(MODERATION, 'user', user.status, kind);
  user.updatedAt = now;
  await ctx.sql(END_STANDING, [user.id, now.toISOString()]);
  const row = { userId: user.id, kind, reasonCode, note, until, actor: actorOf(ctx.caller), at: now };
  ctx.em.persist(ctx.em.create(ModerationAction, row, { partial: true }));
  ctx.audit(`user.${PAST[kind]}`, user.id, { reason_code: reasonCode, until: until?.toISOString() ?? null });
  await ctx.em.flush();
  await noteCrmChange(ctx, user.id, CrmSyncReason.STATUS);
}

/** Closes an account. A suspension by staff of themselves, or of the last owner, would leave nobody in charge. */
async function close(ctx: Context, { userId, notify }: BanUserInput, doing: Doing): Promise<User> {
  if (isUuid(userId)) await guardLastOwner(ctx, userId);
  refuseOneself(ctx, userId);
  const user = await lockRow(ctx, User, { id: userId });
  await act(ctx, user, doing);
  const staff = doing.kind === ModerationActionKind.BAN ? await staffOf(ctx, user.id) : null;
  if (staff) await dismiss(ctx, staff);
  if (notify) sendNotice(ctx, user.id, `account_${PAST[doing.kind]}`);
  await shutOut(ctx, user.id);
  return user;
}

/** Closes an account for good; its tokens die. @throws Problem not_found, forbidden, conflict. */
export const banUser = (ctx: Context, input: BanUserInput): Promise<User> =>
  close(ctx, input, { kind: ModerationActionKind.BAN, reasonCode: input.reasonCode, note: input.note });

/** Closes an account for a while; its tokens die and stay dead. @throws Problem invalid_request, not_found, forbidden, conflict. */
export async function suspendUser(ctx: Context, input: SuspendUserInput): Promise<User> {
  const until = suspensionEnd(input, ctx.now());
  if (!(until instanceof Date)) invalid(`/input${until.field}`, until.message);
  return close(ctx, input, { kind: ModerationActionKind.SUSPEND, reasonCode: input.reasonCode, note: input.note, until });
}

/** Opens a closed account; tokens issued before stay dead. @throws Problem not_found, forbidden, conflict. */
export async function reinstateUser(ctx: Context, { userId, reasonCode, note, notify }: ReinstateUserInput): Promise<User> {
  refuseOneself(ctx, userId);
  const user = await lockRow(ctx, User, { id: userId });
  await act(ctx, user, { kind: ModerationActionKind.REINSTATE, reasonCode, note });
  if (notify) sendNotice(ctx, user.id, 'account_reinstated');
  return user;
}

/** Opens an account whose suspension is over; one that was banned or erased meanwhile stays as it is. */
export async function endSuspension(ctx: Context, { id, userId, reasonCode }: ModerationAction): Promise<void> {
  const user = await ctx.em.findOne(User, userId, FOR_UPDATE);
  if (user?.status === UserStatus.SUSPENDED) await act(ctx, user, { kind: ModerationActionKind.REINSTATE, reasonCode });
  else await ctx.sql('update identity.moderation_action set ended_at = $2 where id = $1', [id, ctx.now().toISOString()]);
}
