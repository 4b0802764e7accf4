import { LockMode } from '@mikro-orm/postgresql';
import { Arg, Ctx, FieldResolver, ID, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access, mayAccess, ruleOf } from '../../../runtime/access/access.js';
import { actorOf } from '../../../runtime/request/caller.js';
import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, invalid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { move } from '../../../runtime/request/states.js';
import { CrmSyncReason } from '../entities/crm-sync.js';
import { ModerationAction, ModerationActionKind, ModerationActionReasonCode, UserModeration } from '../entities/moderation.js';
import { User, UserStatus } from '../entities/user.js';
import { BanUserInput, ReinstateUserInput, SuspendUserInput } from '../inputs/moderation.js';
import { MODERATION, suspensionEnd } from '../rules/moderation.js';
import { noteCrmChange } from '../commands/crm-change.js';
import { sendNotice } from '../commands/notice.js';
import { dismiss, guardLastOwner, refuseOneself, staffOf } from '../commands/staff-power.js';
import { endFamilies, familyRevocations, publishRevocations, userRevocation } from '../commands/token-family.js';

const MODERATES = { service: 'admin:identity', staff: 'admin:identity:moderate' } as const;
const SHOWN = 100;

interface Doing {
  kind: ModerationActionKind;
  reasonCode: ModerationActionReasonCode;
  note?: string | null;
  until?: Date | null;
}

/** Moves an account on and writes down who did it. Needs a transaction. @throws Problem conflict for a state that has no such way. */
async function act(ctx: Context, user: User, { kind, reasonCode, note = null, until = null }: Doing): Promise<void> {
  const now = ctx.now();
  user.status = move(MODERATION, 'user', user.status, kind);
  user.updatedAt = now;
  await ctx.sql("update identity.moderation_action set ended_at = $2 where user_id = $1 and ended_at is null and kind <> 'reinstate'", [
    user.id,
    now.toISOString(),
  ]);
  const row = { userId: user.id, kind, reasonCode, note, until, actor: actorOf(ctx.caller), at: now };
  ctx.em.persist(ctx.em.create(ModerationAction, row as never, { partial: true }));
  ctx.audit(`user.${PAST[kind]}`, user.id, { reason_code: reasonCode, until: until?.toISOString() ?? null });
  await ctx.em.flush();
  await noteCrmChange(ctx, user.id, CrmSyncReason.STATUS);
}

const PAST: Record<ModerationActionKind, string> = { ban: 'banned', suspend: 'suspended', reinstate: 'reinstated' };

async function lockedUser(ctx: Context, userId: string): Promise<User> {
  const user = isUuid(userId) ? await ctx.em.findOne(User, userId, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  return user ?? fail('not_found', 'Not found');
}

/** Signs an account out of everything; its sessions end, too. Call it last. */
export async function shutOut(ctx: Context, userId: string): Promise<void> {
  const sessions = await ctx.sql<{ id: string }>(
    'update identity.auth_session set ended_at = $2 where user_id = $1 and ended_at is null returning id',
    [userId, ctx.now().toISOString()],
  );
  const families = await endFamilies(ctx, 'user_id', userId, 'user_blocked');
  ctx.audit('user.signed_out', userId, { sessions: sessions.length, families: families.length });
  await publishRevocations(ctx, [...familyRevocations(ctx, families), userRevocation(ctx, userId)]);
}

/** How an account stands; `history` is read where it is asked for. */
async function moderationOf(ctx: Context, { id: userId, status }: User): Promise<UserModeration> {
  const standing = await ctx.em.findOne(ModerationAction, { userId, endedAt: null, kind: { $ne: ModerationActionKind.REINSTATE } });
  const { at: since = null, until = null, reasonCode = null } = standing ?? {};
  return Object.assign(new UserModeration(), { userId, status, since, until, reasonCode });
}

@Resolver(() => User)
export class ModerationResolver {
  /** A suspension by staff of themselves, or of the last owner, would leave nobody in charge. */
  async #close(ctx: Context, input: BanUserInput, doing: Doing): Promise<User> {
    if (isUuid(input.userId)) await guardLastOwner(ctx, input.userId);
    refuseOneself(ctx, input.userId);
    const user = await lockedUser(ctx, input.userId);
    await act(ctx, user, doing);
    const staff = doing.kind === ModerationActionKind.BAN ? await staffOf(ctx, user.id) : null;
    if (staff) await dismiss(ctx, staff);
    if (input.notify) sendNotice(ctx, user.id, `account_${PAST[doing.kind]}`);
    await shutOut(ctx, user.id);
    return user;
  }

  @Access(MODERATES)
  @Mutation(() => User, { description: 'Closes an account for good; its tokens die.' })
  banUser(@Arg('input', () => BanUserInput) input: BanUserInput, @Ctx() ctx: Context): Promise<User> {
    return this.#close(ctx, input, { kind: ModerationActionKind.BAN, reasonCode: input.reasonCode, note: input.note });
  }

  @Access(MODERATES)
  @Mutation(() => User, { description: 'Closes an account for a while; its tokens die and stay dead.' })
  async suspendUser(@Arg('input', () => SuspendUserInput) input: SuspendUserInput, @Ctx() ctx: Context): Promise<User> {
    const until = suspensionEnd(input, ctx.now());
    if (!(until instanceof Date)) {
      invalid(`/input${until.field}`, until.message);
    }
    return this.#close(ctx, input, { kind: ModerationActionKind.SUSPEND, reasonCode: input.reasonCode, note: input.note, until });
  }

  @Access(MODERATES)
  @Mutation(() => User, { description: 'Opens a closed account; tokens issued before stay dead.' })
  async reinstateUser(@Arg('input', () => ReinstateUserInput) input: ReinstateUserInput, @Ctx() ctx: Context): Promise<User> {
    refuseOneself(ctx, input.userId);
    const user = await lockedUser(ctx, input.userId);
    await act(ctx, user, { kind: ModerationActionKind.REINSTATE, reasonCode: input.reasonCode, note: input.note });
    if (input.notify) sendNotice(ctx, user.id, 'account_reinstated');
    return user;
  }

  @Access(MODERATES)
  @Query(() => UserModeration, { description: 'Whether an account may be used, and what was done to it.' })
  async userModeration(@Arg('userId', () => ID) userId: string, @Ctx() ctx: Context): Promise<UserModeration> {
    const user = isUuid(userId) ? await ctx.em.findOne(User, userId) : null;
    return moderationOf(ctx, user ?? fail('not_found', 'Not found'));
  }

  @Access({ service: 'admin:identity', user: 'read:profile|read:account', staff: 'admin:identity:moderate' })
  @FieldResolver(() => UserModeration, { nullable: true, description: 'For moderators; the user sees status, end and reason.' })
  async moderation(@Root() user: User, @Ctx() ctx: Context): Promise<UserModeration | null> {
    const may = mayAccess(ruleOf(MODERATES), ctx.caller) || ctx.caller.userId === user.id;
    return may ? moderationOf(ctx, user) : null;
  }
}

@Resolver(() => UserModeration)
export class ModerationHistoryResolver {
  @Access(MODERATES)
  @FieldResolver(() => [ModerationAction])
  history(@Root() moderation: UserModeration, @Ctx() ctx: Context): Promise<ModerationAction[]> {
    return ctx.em.find(ModerationAction, { userId: moderation.userId }, { orderBy: { at: 'desc', id: 'desc' }, limit: SHOWN });
  }
}

/** An account that was banned or erased meanwhile stays as it is. */
async function reopen(ctx: Context, { id, userId, reasonCode }: ModerationAction): Promise<void> {
  const user = await ctx.em.findOne(User, userId, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (user?.status === UserStatus.SUSPENDED) await act(ctx, user, { kind: ModerationActionKind.REINSTATE, reasonCode });
  else await ctx.sql('update identity.moderation_action set ended_at = $2 where id = $1', [id, ctx.now().toISOString()]);
}

/** Opens accounts whose suspension is over. */
export const suspensions: Timer<Context> = {
  name: 'identity.suspensions',
  async next(ctx) {
    const [row] = await ctx.sql<{ at: number | null }>(
      'select extract(epoch from min(until))::float8 * 1000 as at from identity.moderation_action where ended_at is null and until is not null',
    );
    return row?.at == null ? null : new Date(Math.round(row.at));
  },
  async run(ctx, at) {
    const due = await ctx.em.find(ModerationAction, { endedAt: null, until: { $lte: at } }, { orderBy: { until: 'asc' }, limit: SHOWN });
    for (const action of due) await reopen(ctx, action);
  },
  everySeconds: 5,
};
