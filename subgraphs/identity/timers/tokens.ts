import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { expireAgreement } from '../commands/client-agreement.js';
import { tellDueGrants } from '../commands/due-grants.js';
import { endUnusedFamilies, UNUSED } from '../commands/unused-families.js';
import { systemTime } from '../ports/clock.js';
import { nextRotation, rotateKeys } from '../ports/keyring.js';
import { earliest } from './due.js';

/** A new signing key every 90 days, a day before it signs; late if nothing ran meanwhile, but never published later than that. */
const signingKeys: Timer<Context> = {
  name: 'identity.signing_keys',
  next: nextRotation,
  run: ctx => rotateKeys(ctx, ctx.now()),
  everySeconds: 60,
};

/**
 * What has run out is removed an hour later. The feed is judged by the system's clock by everybody else, so its rows stay until that
 * clock, $1, has passed them, too.
 */
const PURGE = [
  { table: 'oauth_artifact', column: 'expires_at', condition: 'family_id is null' },
  { table: 'token_revocation', column: 'expires_at', condition: 'expires_at <= $1' },
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

const EXPIRIES = PURGE.map(({ table, column, condition }) => `select min(${column}) as at from identity.${table} where ${condition}`);

const systemNow = (): string => new Date(systemTime()).toISOString();

const expired: Timer<Context> = {
  name: 'identity.expired',
  next: ctx =>
    earliest(ctx, `select min(at) + ${LATER} as at from (${EXPIRIES.join(' union all ')}) as ends where $1::timestamptz is not null`, [
      systemNow(),
    ]),
  async run(ctx, at) {
    for (const { table, column, condition } of PURGE) {
      const text = `delete from identity.${table} where ${column} + ${LATER} <= $2 and ${condition} and $1::timestamptz is not null`;
      await ctx.sql(text, [systemNow(), at.toISOString()]);
    }
  },
  everySeconds: 60,
};

/** Families whose refresh token went unused for 90 days end. The instant is rounded up, so that they are due at it. */
const unusedFamilies: Timer<Context> = {
  name: 'identity.unused_families',
  async next(ctx) {
    const [row] = await ctx.sql<{ at: number | null }>(
      `select extract(epoch from min(last_used_at) + ${UNUSED})::float8 * 1000 as at from identity.token_family where ended_at is null`,
    );
    return row?.at == null ? null : new Date(Math.ceil(row.at));
  },
  run: endUnusedFamilies,
  everySeconds: 60,
};

/** Agreements that have run out end like those that are ended. Source: identity A9. */
const agreements: Timer<Context> = {
  name: 'identity.agreements',
  next: ctx =>
    earliest(ctx, 'select min(expires_at) as at from identity.oauth_client_agreement where ended_at is null and expires_at is not null'),
  run: expireAgreement,
  everySeconds: 10,
};

/** Grants that have changed with their client and are still to be told. */
const dueGrants: Timer<Context> = {
  name: 'identity.due_grants',
  next: ctx => earliest(ctx, 'select min(announce_due_at) as at from identity.oauth_grant where announce_due_at is not null'),
  run: tellDueGrants,
  everySeconds: 5,
};

export const tokenTimers: readonly Timer<Context>[] = [signingKeys, expired, unusedFamilies, agreements, dueGrants];
