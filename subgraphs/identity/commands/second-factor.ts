import { randomInt } from 'node:crypto';
import { newId } from '../../../runtime/data/ids.js';
import type { ServiceHost, Context } from '../../../runtime/request/context.js';
import type { MfaMethod } from '../entities/mfa.js';
import { codeHash, signingSealer } from '../ports/keyring.js';
import { stepOf } from '../rules/second-factors.js';

/** Ten codes of 40 bits, without letters that look alike. Source: identity 4.14. */
const CODES = 10;
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz';

const sealContext = (methodId: string): string => `mfa_method.secret:${methodId}`;

export const sealSecret = (host: ServiceHost, methodId: string, secret: string): Buffer =>
  signingSealer(host).seal(secret, sealContext(methodId));

/** The secret of an authenticator app. */
export const openSecret = (host: ServiceHost, { id, secretSealed }: Pick<MfaMethod, 'id' | 'secretSealed'>): string =>
  signingSealer(host).open(secretSealed!, sealContext(id));

const hashOf = (host: ServiceHost, userId: string, code: string): Buffer =>
  codeHash(host, 'backup_code', `${userId}:${code.toLowerCase().replace(/[^a-z0-9]/g, '')}`);

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
  const step = stepOf(openSecret(ctx.host, method), code, ctx.now().getTime());
  if (step === null) return false;
  const rows = await ctx.sql(
    'update identity.mfa_method set last_step = $2, last_used_at = $3 where id = $1 and (last_step is null or last_step < $2) returning 1 as accepted',
    [method.id, step, ctx.now().toISOString()],
  );
  return rows.length > 0;
}
