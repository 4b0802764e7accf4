import { sha256 } from '../../../runtime/data/crypto.js';
import type { Context } from '../../../runtime/request/context.js';

/** How far a sign-in has come: the first factor is proved. */
export interface SignInProgress {
  userId: string;
  amr: string[];
  /** Codes that may still be tried. */
  attemptsLeft: number;
  /** The method that is being set up in this sign-in. */
  enrolling: string | null;
}

/** Time for the second factor. */
const PROGRESS_MS = 10 * 60_000;

const COLUMNS = 'user_id as "userId", amr, attempts_left as "attemptsLeft", enrolling';
const LIVE = 'interaction_hash = $1 and expires_at > $2';

const BEGIN = `
insert into identity.sign_in_progress (interaction_hash, user_id, amr, enrolling, created_at, expires_at) values ($1, $2, $3, $4, $5, $6)
on conflict (interaction_hash) do update set user_id = excluded.user_id, amr = excluded.amr, enrolling = excluded.enrolling,
  attempts_left = excluded.attempts_left, created_at = excluded.created_at, expires_at = excluded.expires_at`;

/** Remembers the first factor; whatever the interaction knew before is over. */
export async function beginProgress(ctx: Context, uid: string, progress: Omit<SignInProgress, 'attemptsLeft'>): Promise<void> {
  const now = ctx.now();
  const end = new Date(now.getTime() + PROGRESS_MS);
  const { userId, amr, enrolling } = progress;
  await ctx.sql(BEGIN, [sha256(uid), userId, amr, enrolling, now.toISOString(), end.toISOString()]);
}

export async function progressOf(ctx: Context, uid: string): Promise<SignInProgress | null> {
  const text = `select ${COLUMNS} from identity.sign_in_progress where ${LIVE}`;
  return (await ctx.sql<SignInProgress>(text, [sha256(uid), ctx.now().toISOString()]))[0] ?? null;
}

/** Counts a code before it is judged, and keeps others of the same sign-in waiting. Null: there is nothing left to try. */
export async function spendAttempt(ctx: Context, uid: string): Promise<SignInProgress | null> {
  const text = `update identity.sign_in_progress set attempts_left = attempts_left - 1 where ${LIVE} and attempts_left > 0 returning ${COLUMNS}`;
  return (await ctx.sql<SignInProgress>(text, [sha256(uid), ctx.now().toISOString()]))[0] ?? null;
}

/** A further factor is proved; the sign-in waits for the person to go on. */
export async function proveFurther(ctx: Context, uid: string, amr: readonly string[]): Promise<void> {
  await ctx.sql('update identity.sign_in_progress set amr = $2, enrolling = null where interaction_hash = $1', [sha256(uid), [...amr]]);
}

/** Ends it, once. @returns false when it had ended before. */
export async function endProgress(ctx: Context, uid: string): Promise<boolean> {
  const ended = await ctx.sql('delete from identity.sign_in_progress where interaction_hash = $1 returning 1 as ended', [sha256(uid)]);
  return ended.length > 0;
}
