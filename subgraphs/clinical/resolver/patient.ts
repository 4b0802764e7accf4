import type { Context } from '../../../runtime/context.js';

/**
 * Serialises what is written for one patient until the commit: repeated or parallel ingestion finds what the other stored, and a
 * cycle that begins while a result comes in is seen by one of the two. Source: clinical 4.1, 7.1.8.
 */
export const lockPatient = (ctx: Context, patientId: string): Promise<unknown> =>
  ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 17))', [`${ctx.schema}:patient:${patientId}`]);

/** The person that a call concerns: the named one, else the token's own user; as PostgreSQL writes it. @throws Problem as {@link Context.subject}. */
export function patientOf(ctx: Context, named: string | null | undefined): string {
  const own = named == null && ctx.caller.kind === 'user' ? ctx.caller.userId : null;
  return (own ?? ctx.subject(named, '/input/userId')).toLowerCase();
}
