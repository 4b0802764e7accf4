import type { Timer } from '../../../runtime/time/clock.js';
import type { Context } from '../../../runtime/request/context.js';
import { systemTime } from '../ports/clock.js';
import { nextRotation, rotateKeys } from '../ports/keyring.js';
import { unprovenAccounts } from '../commands/registration.js';
import { unusedFamilies } from './unused.js';

/** A new signing key every 90 days, a day before it signs; late if nothing ran meanwhile, but never published later than that. */
const signingKeys: Timer<Context> = {
  name: 'identity.signing_keys',
  next: nextRotation,
  run: ctx => rotateKeys(ctx, ctx.now()),
  everySeconds: 60,
};

const asDate = (ms: number | null | undefined): Date | null => (ms == null ? null : new Date(Math.round(ms)));

/**
 * What has run out is removed an hour later. The feed is judged by the system's clock by everybody else, so its rows stay until that
 * clock, too, has passed them.
 */
const PURGE = [
  { table: 'oauth_artifact', column: 'expires_at', condition: 'family_id is null' },
  { table: 'token_revocation', column: 'expires_at', condition: 'expires_at <= $2' },
  { table: 'failed_client_auth', column: 'window_ends_at', condition: 'true' },
  { table: 'auth_challenge', column: 'expires_at', condition: 'true' },
  { table: 'idp_auth_email', column: 'kept_until', condition: 'true' },
  { table: 'sign_in_limit', column: 'window_ends_at', condition: 'true' },
  { table: 'sso_assertion', column: 'expires_at', condition: 'true' },
  { table: 'sso_ticket', column: 'expires_at', condition: 'true' },
  { table: 'sign_in_progress', column: 'expires_at', condition: 'true' },
  { table: 'service_token_hour', column: 'hour', condition: 'true' },
] as const;
const LATER = `interval '1 hour'`;

const earliest = PURGE.map(
  ({ table, column, condition }) => `select min(${column}) as at from identity.${table} where ${condition.replace('$2', '$1')}`,
);

const expired: Timer<Context> = {
  name: 'identity.expired',
  async next(ctx) {
    const [row] = await ctx.sql<{ at: number | null }>(
      `select extract(epoch from min(at) + ${LATER})::float8 * 1000 as at from (${earliest.join(' union all ')}) as due where $1::timestamptz is not null`,
      [new Date(systemTime()).toISOString()],
    );
    return asDate(row?.at);
  },
  async run(ctx, at) {
    for (const { table, column, condition } of PURGE) {
      const text = `delete from identity.${table} where ${column} + ${LATER} <= $1 and ${condition} and $2::timestamptz is not null`;
      await ctx.sql(text, [at.toISOString(), new Date(systemTime()).toISOString()]);
    }
  },
  everySeconds: 60,
};

export const timers = [signingKeys, expired, unusedFamilies, unprovenAccounts];
