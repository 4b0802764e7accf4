import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';

/**
 * Serialises what is written for one patient until the commit: repeated or parallel ingestion finds what the other stored, and a
 * cycle that begins while a result comes in is seen by one of the two. Source: clinical 4.1, 7.1.8.
 */
export const lockPatient = (ctx: Context, patientId: string): Promise<unknown> =>
  ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 17))', [`${ctx.schema}:patient:${patientId}`]);

/**
 * Whether the whole account was erased, not only its health data: the proof in the audit log remembers it, so nothing more is kept.
 * The patient is locked, so that an erasure is seen or waits. Source: clinical 7.1.11, 7.1.17.
 */
export async function isErased(ctx: Context, patientId: string): Promise<boolean> {
  const found = await ctx.sql(
    `select 1 from ${ctx.schema}.audit_log where target = $1 and action = 'user.erased' and details->>'scope' = 'full' limit 1`,
    [patientId],
  );
  return found.length > 0;
}

/** Nothing new is stored of an erased account, so nothing can prompt it. @throws Problem not_found. */
export async function requireNotErased(ctx: Context, patientId: string): Promise<void> {
  if (await isErased(ctx, patientId)) fail('not_found', 'The patient was not found');
}

/** Locks a patient of whom something new is to be stored. @throws Problem not_found. */
export async function lockUnerased(ctx: Context, patientId: string): Promise<void> {
  await lockPatient(ctx, patientId);
  await requireNotErased(ctx, patientId);
}

/** The person that a call concerns: the named one, else the token's own user; as PostgreSQL writes it. @throws Problem as {@link Context.subject}. */
export function patientOf(ctx: Context, named: string | null | undefined): string {
  const own = named == null && ctx.caller.kind === 'user' ? ctx.caller.userId : null;
  return (own ?? ctx.subject(named, '/input/userId')).toLowerCase();
}
