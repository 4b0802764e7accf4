import { LockMode } from '@mikro-orm/postgresql';
import { renderSVG } from 'uqr';
import { Arg, Ctx, Field, FieldResolver, ID, InputType, Mutation, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { isUuid, newId } from '../../../runtime/data/ids.js';
import { OwnTransactions } from '../../../runtime/request/operation.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { BackupCodes, BackupCodeStatus, ConfirmedTotp, MfaMethod, MfaMethodKind, MfaMethodStatus, TotpEnrolment } from '../entities/mfa.js';
import { StaffMemberStatus } from '../entities/staff.js';
import { User, UserStatus } from '../entities/user.js';
import { newTotpSecret, totpUri } from '../rules/totp.js';
import { seesContact } from '../rules/visibility.js';
import { ONE_LINE } from '../inputs/address.js';
import { emailOf } from '../queries/batches.js';
import { sendNotice } from '../commands/notice.js';
import { acceptTotp, activeMethods, newBackupCodes, openSecret, sealSecret } from '../commands/second-factor.js';
import { staffOf } from '../commands/staff-power.js';
import { viewerOf } from '../queries/viewer.js';

/** Source: identity 4 and 4.14. */
const MAX_METHODS = 5;
const PENDING_MS = 10 * 60_000;

const OWN = { user: 'read:account', firstParty: true } as const;
const FRESH = { ...OWN, stepUp: 600 } as const;

@InputType({ description: 'The first code of an authenticator app.' })
export class ConfirmTotpInput {
  @Field(() => ID)
  methodId: string;

  @Rule({ pattern: '^[0-9]{6}$' })
  @Field(() => String)
  code: string;
}

/** Locks the caller's account, so that changes of its factors follow one another. */
async function lockOwn(ctx: Context): Promise<string> {
  const user = await ctx.em.findOne(User, { id: ctx.caller.userId!, status: UserStatus.ACTIVE }, { lockMode: LockMode.PESSIMISTIC_WRITE }); // PESSIMISTIC_WRITE
  return user?.id ?? fail('not_found', 'Not found');
}

const enrolmentOf = async (
  ctx: Context,
  userId: string,
  method: Pick<MfaMethod, 'id' | 'expiresAt'>,
  secret: string,
): Promise<TotpEnrolment> => {
  const otpauthUri = totpUri(secret, new URL(ctx.host.config.issuer).hostname, (await emailOf(ctx, userId))?.email ?? userId);
  return { methodId: method.id, secret, otpauthUri, qrSvg: renderSVG(otpauthUri), expiresAt: method.expiresAt! };
};

/** Begins with an authenticator app; one that was not confirmed is replaced. @throws Problem conflict at five methods. */
export async function beginTotp(ctx: Context, label: string | null): Promise<TotpEnrolment> {
  const userId = await lockOwn(ctx);
  if ((await activeMethods(ctx, userId)).length >= MAX_METHODS)
    fail('conflict', `There are ${MAX_METHODS} methods already`, { reason: 'too_many_methods' });
  await ctx.em.nativeDelete(MfaMethod, { userId, status: MfaMethodStatus.PENDING });
  const id = newId();
  const secret = newTotpSecret();
  const now = ctx.now();
  const expiresAt = new Date(now.getTime() + PENDING_MS);
  const values = {
    id,
    userId,
    label,
    kind: MfaMethodKind.TOTP,
    status: MfaMethodStatus.PENDING,
    secretSealed: sealSecret(ctx.host, id, secret),
    createdAt: now,
    expiresAt,
  };
  ctx.em.create(MfaMethod, values as never, { partial: true });
  ctx.audit('mfa_method.begun', id, { user_id: userId, kind: 'totp' });
  return enrolmentOf(ctx, userId, { id, expiresAt }, secret);
}

const pendingOf = (ctx: Context, methodId: string): Promise<MfaMethod | null> =>
  ctx.em.findOne(MfaMethod, { id: methodId, userId: ctx.caller.userId!, status: MfaMethodStatus.PENDING, expiresAt: { $gt: ctx.now() } });

/** The caller's method that waits for its first code. */
export async function pendingTotp(ctx: Context, methodId: string): Promise<TotpEnrolment | null> {
  const method = await pendingOf(ctx, methodId);
  return method && enrolmentOf(ctx, method.userId, method, openSecret(ctx.host, method));
}

type Verdict = ConfirmedTotp | 'wrong' | 'gone' | 'unknown';

/** A wrong code counts, so the verdict is told after the commit. */
export async function confirmPendingTotp(ctx: Context, { methodId, code }: ConfirmTotpInput): Promise<Verdict> {
  const userId = await lockOwn(ctx);
  const method = isUuid(methodId) ? await pendingOf(ctx, methodId) : null;
  if (!method) return 'unknown';
  if (!(await acceptTotp(ctx, method, code))) return miss(ctx, method);
  const isFirst = (await activeMethods(ctx, userId)).length === 0;
  Object.assign(method, { status: MfaMethodStatus.ACTIVE, expiresAt: null, lastUsedAt: ctx.now() });
  ctx.audit('mfa_method.confirmed', method.id, { user_id: userId, kind: method.kind });
  return { method, backupCodes: isFirst ? await newBackupCodes(ctx, userId) : null };
}

function miss(ctx: Context, method: MfaMethod): Verdict {
  ctx.audit('mfa_method.wrong_code', method.id, { user_id: method.userId });
  if (--method.attemptsLeft > 0) return 'wrong';
  ctx.em.remove(method);
  return 'gone';
}

@Resolver(() => User)
export class MfaResolver {
  @FieldResolver(() => Boolean, {
    nullable: true,
    description: 'Whether a second factor is asked for; for the owner with read:account and administrators.',
  })
  async mfaEnabled(@Root() user: User, @Ctx() ctx: Context): Promise<boolean | null> {
    if (!seesContact(viewerOf(ctx.caller, user.id))) return null;
    return ctx.load('identity.mfa_enabled', user.id, async ids => {
      const methods = await ctx.em.find(MfaMethod, { userId: { $in: [...ids] }, status: MfaMethodStatus.ACTIVE }, { fields: ['userId'] });
      return ids.map(id => methods.some(method => method.userId === id));
    });
  }

  @Access(OWN)
  @FieldResolver(() => [MfaMethod], { nullable: true, description: 'Second factors, oldest first.' })
  async mfaMethods(@Root() user: User, @Ctx() ctx: Context): Promise<MfaMethod[] | null> {
    if (ctx.caller.userId !== user.id) return null;
    const live = { $or: [{ expiresAt: null }, { expiresAt: { $gt: ctx.now() } }] };
    return ctx.em.find(MfaMethod, { userId: user.id, ...live }, { orderBy: { createdAt: 'asc', id: 'asc' } });
  }

  @Access(OWN)
  @FieldResolver(() => BackupCodeStatus, { nullable: true, description: 'Zeros when there are none.' })
  async backupCodes(@Root() user: User, @Ctx() ctx: Context): Promise<BackupCodeStatus | null> {
    if (ctx.caller.userId !== user.id) return null;
    const [row] = await ctx.sql<{ at: number | null; total: number; remaining: number }>(
      `select extract(epoch from min(generated_at))::float8 * 1000 as at, count(*)::int as total, (count(*) filter (where used_at is null))::int as remaining
       from identity.backup_code where user_id = $1`,
      [user.id],
    );
    return { generatedAt: row!.at === null ? null : new Date(Math.round(row!.at)), total: row!.total, remaining: row!.remaining };
  }

  @Access(FRESH)
  @OwnTransactions('the enrolment that is not confirmed is replaced')
  @Mutation(() => TotpEnrolment, { description: 'Begins with an authenticator app; one that was not confirmed is replaced.' })
  initTotp(
    @Ctx() ctx: Context,
    @Rule({ maxLength: 40, pattern: ONE_LINE }) @Arg('label', () => String, { nullable: true }) label?: string | null,
  ): Promise<TotpEnrolment> {
    return ctx.host.transaction(own => beginTotp(own, label ?? null), ctx.request);
  }

  @Access(OWN)
  @OwnTransactions('the code is spent, so the repeat is refused')
  @Mutation(() => ConfirmedTotp, { description: 'Makes an authenticator app a second factor; five wrong codes end it.' })
  async confirmTotp(@Arg('input', () => ConfirmTotpInput) input: ConfirmTotpInput, @Ctx() ctx: Context): Promise<ConfirmedTotp> {
    const verdict = await ctx.host.transaction(own => confirmPendingTotp(own, input), ctx.request);
    if (verdict === 'unknown') fail('not_found', 'Not found');
    if (verdict === 'gone') fail('conflict', 'Five codes were wrong; begin again', { reason: 'method_gone' });
    if (verdict === 'wrong') fail('invalid_request', 'The code is wrong', { errors: [{ pointer: '/input/code', message: 'is wrong' }] });
    return verdict;
  }

  @Access(FRESH)
  @Mutation(() => MfaMethod, { description: 'Removes a second factor; with the last one the backup codes go.' })
  async deleteMfaMethod(@Arg('id', () => ID) id: string, @Ctx() ctx: Context): Promise<MfaMethod> {
    const userId = await lockOwn(ctx);
    const method = (isUuid(id) ? await ctx.em.findOne(MfaMethod, { id, userId }) : null) ?? fail('not_found', 'Not found');
    const others = (await activeMethods(ctx, userId)).filter(one => one.id !== id);
    if (others.length === 0 && (await staffOf(ctx, userId))?.status === StaffMemberStatus.ACTIVE)
      fail('conflict', 'Staff cannot be without a second factor', { reason: 'last_method_of_staff' });
    await ctx.sql('delete from identity.mfa_method where id = $1', [id]);
    if (others.length === 0) await ctx.sql('delete from identity.backup_code where user_id = $1', [userId]);
    ctx.em.clear(); // it must not be written again
    sendNotice(ctx, userId, 'mfa_removed');
    ctx.audit('mfa_method.removed', id, { user_id: userId, kind: method.kind });
    return method;
  }

  @Access(FRESH)
  @OwnTransactions('the new codes replace those of the call before')
  @Mutation(() => BackupCodes, { description: 'Ten new backup codes, shown once; the old ones are dead.' })
  regenerateBackupCodes(@Ctx() ctx: Context): Promise<BackupCodes> {
    return ctx.host.transaction(async own => {
      const userId = await lockOwn(own);
      if ((await activeMethods(own, userId)).length === 0) fail('conflict', 'There is no second factor', { reason: 'no_mfa_method' });
      return { backupCodes: await newBackupCodes(own, userId) };
    }, ctx.request);
  }
}

/** A caller's own methods alone. */
export async function loadMfaMethods(ctx: Context, references: readonly { id: string }[]): Promise<(MfaMethod | null)[]> {
  const ids = references.map(one => String(one.id));
  const rows = await ctx.em.find(MfaMethod, { id: { $in: ids.filter(isUuid) }, userId: ctx.caller.userId ?? [] });
  return ids.map(id => rows.find(row => row.id === id) ?? null);
}
