import { createHmac, randomInt } from 'node:crypto';
import { messageSendRequested } from '../../../events/catalogue/comms.js';
import type { Context } from '../../../runtime/context.js';
import type { ServiceHost } from '../../../runtime/host.js';
import { newId } from '../../../runtime/ids.js';
import { MfaMethod, MfaMethodStatus } from '../entities/mfa.js';
import { signingSealer } from '../ports/oidc-provider/keyring.js';
import { stepOf } from '../rules/totp.js';

/** Ten codes of 40 bits, without letters that look alike. Source: identity 4.14. */
const CODES = 10;
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz';

const sealContext = (methodId: string): string => `mfa_method.secret:${methodId}`;

export const sealSecret = (host: ServiceHost, methodId: string, secret: string): Buffer =>
  signingSealer(host).seal(secret, sealContext(methodId));

/** HMAC with a server key, so that the short codes cannot be guessed from the table. Source: identity 7, rule 1. */
function hashOf({ config }: ServiceHost, userId: string, code: string): Buffer {
  const key = createHmac('sha256', Buffer.from(config.signingKek ?? '', 'base64'))
    .update('identity.backup_code')
    .digest();
  return createHmac('sha256', key)
    .update(`${userId}:${code.toLowerCase().replace(/[^a-z0-9]/g, '')}`)
    .digest();
}

const newCode = (): string => {
  const text = Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return `${text.slice(0, 4)}-${text.slice(4)}`;
};

/** Replaces a user's backup codes; the old ones are dead. */
export async function newBackupCodes(ctx: Context, userId: string): Promise<string[]> {
  const codes = Array.from({ length: CODES }, newCode);
  await ctx.sql('delete from identity.backup_code where user_id = $1', [userId]);
  for (const code of codes)
    await ctx.sql('insert into identity.backup_code (id, user_id, hash, generated_at) values ($1, $2, $3, $4)', [
      newId(),
      userId,
      hashOf(ctx.host, userId, code),
      ctx.now().toISOString(),
    ]);
  ctx.audit('backup_codes.generated', userId, { total: codes.length });
  return codes;
}

/** Uses a backup code up, by one conditional statement. Answers whether it was good. */
export async function spendBackupCode(ctx: Context, userId: string, code: string): Promise<boolean> {
  const rows = await ctx.sql(
    'update identity.backup_code set used_at = $3 where user_id = $1 and hash = $2 and used_at is null returning 1 as spent',
    [userId, hashOf(ctx.host, userId, code), ctx.now().toISOString()],
  );
  return rows.length > 0;
}

/** Takes a TOTP code once: only a step later than the last accepted one, by one conditional statement, so that of two at once one wins. */
export async function acceptTotp(ctx: Context, method: Pick<MfaMethod, 'id' | 'secretSealed'>, code: string): Promise<boolean> {
  const secret = signingSealer(ctx.host).open(method.secretSealed!, sealContext(method.id));
  const step = stepOf(secret, code, ctx.now().getTime());
  if (step === null) return false;
  const rows = await ctx.sql(
    'update identity.mfa_method set last_step = $2, last_used_at = $3 where id = $1 and (last_step is null or last_step < $2) returning 1 as accepted',
    [method.id, step, ctx.now().toISOString()],
  );
  return rows.length > 0;
}

/** Methods that are asked for at sign-in. */
export const activeMethods = (ctx: Context, userId: string): Promise<MfaMethod[]> =>
  ctx.em.find(MfaMethod, { userId, status: MfaMethodStatus.ACTIVE }, { orderBy: { createdAt: 'asc', id: 'asc' } });

/** Tells the user of a change to their security; no address, link or code. */
export function securityNotice(ctx: Context, userId: string, kind: string, about: string): void {
  ctx.emit(
    messageSendRequested,
    { request_id: newId(), template: 'security_notice', channels: ['email'], recipient_type: 'user', recipient_id: null, params: { kind }, dedupe_key: `${kind}:${about}`, send_after: null, category: 'transactional' },
    { userId },
  );
} // prettier-ignore
