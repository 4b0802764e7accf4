import { renderSVG } from 'uqr';
import { newId } from '../../../runtime/data/ids.js';
import { findRow, lockRow, requireRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { after, MINUTE_MS } from '../../../runtime/time/durations.js';
import { type BackupCodes, type ConfirmedTotp, MfaMethod, MfaMethodKind, MfaMethodStatus, type TotpEnrolment } from '../entities/mfa.js';
import { StaffMemberStatus } from '../entities/staff.js';
import { User, UserStatus } from '../entities/user.js';
import type { ConfirmTotpInput } from '../inputs/credential.js';
import { emailOf } from '../queries/batches.js';
import { activeMethods } from '../queries/mfa.js';
import { staffOf } from '../queries/staff-power.js';
import { newTotpSecret, totpUri } from '../rules/second-factors.js';
import { sendNotice } from './notice.js';
import { acceptTotp, newBackupCodes, openSecret, sealSecret } from './second-factor.js';

/** Source: identity 4 and 4.14. */
const MAX_METHODS = 5;
const PENDING_MS = 10 * MINUTE_MS;

/** Locks the caller's account, so that changes of its factors follow one another. */
async function lockOwn(ctx: Context): Promise<string> {
  return (await lockRow(ctx, User, { id: ctx.caller.userId!, status: UserStatus.ACTIVE })).id;
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
  const [id, secret, now] = [newId(), newTotpSecret(), ctx.now()];
  const expiresAt = after(now, PENDING_MS);
  const states = { kind: MfaMethodKind.TOTP, status: MfaMethodStatus.PENDING, createdAt: now, expiresAt };
  ctx.em.create(MfaMethod, { id, userId, label, ...states, secretSealed: sealSecret(ctx.host, id, secret) }, { partial: true });
  ctx.audit('mfa_method.begun', id, { user_id: userId, kind: 'totp' });
  return enrolmentOf(ctx, userId, { id, expiresAt }, secret);
}

const pendingOf = (ctx: Context, methodId: string): Promise<MfaMethod | null> =>
  findRow(ctx, MfaMethod, { id: methodId, userId: ctx.caller.userId!, status: MfaMethodStatus.PENDING, expiresAt: { $gt: ctx.now() } });

/** The caller's method that waits for its first code. */
export async function pendingTotp(ctx: Context, methodId: string): Promise<TotpEnrolment | null> {
  const method = await pendingOf(ctx, methodId);
  return method && enrolmentOf(ctx, method.userId, method, openSecret(ctx.host, method));
}

type Verdict = ConfirmedTotp | 'wrong' | 'gone' | 'unknown';

/** A wrong code counts, so the verdict is answered after the commit. */
export async function confirmPendingTotp(ctx: Context, { methodId, code }: ConfirmTotpInput): Promise<Verdict> {
  const userId = await lockOwn(ctx);
  const method = await pendingOf(ctx, methodId);
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

/** Makes an authenticator app a second factor. @throws Problem not_found, invalid_request, conflict (`method_gone`). */
export async function confirmTotp(ctx: Context, input: ConfirmTotpInput): Promise<ConfirmedTotp> {
  const verdict = await ctx.host.transaction(own => confirmPendingTotp(own, input), ctx.request);
  if (verdict === 'unknown') fail('not_found', 'Not found');
  if (verdict === 'gone') fail('conflict', 'Five codes were wrong; begin again', { reason: 'method_gone' });
  if (verdict === 'wrong') fail('invalid_request', 'The code is wrong', { errors: [{ pointer: '/input/code', message: 'is wrong' }] });
  return verdict;
}

/** Removes a second factor; with the last one the backup codes go. @throws Problem not_found, conflict (`last_method_of_staff`). */
export async function deleteMethod(ctx: Context, id: string): Promise<MfaMethod> {
  const userId = await lockOwn(ctx);
  const method = await requireRow(ctx, MfaMethod, { id, userId });
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

/** Ten new backup codes for the caller. @throws Problem conflict (`no_mfa_method`). */
export async function regenerateCodes(ctx: Context): Promise<BackupCodes> {
  const userId = await lockOwn(ctx);
  if ((await activeMethods(ctx, userId)).length === 0) fail('conflict', 'There is no second factor', { reason: 'no_mfa_method' });
  return { backupCodes: await newBackupCodes(ctx, userId) };
}
