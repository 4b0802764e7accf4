import type { Sql } from './outbox.js';

/**
 * Empties the payloads of a user's events before `beforeSeq` and discards the dead letters about them, as `platform_events`.
 * Ids, types, times and order stay. Answers how many events were emptied. Source: event-machinery 10.
 */
export async function eraseUserEvents(sql: Sql, userId: string, beforeSeq: number, by: string, now: Date): Promise<number> {
  const [row] = await sql<{ erased: number }>('select events.erase_user($1::uuid, $2::bigint, $3, $4::timestamptz) as erased', [
    userId,
    beforeSeq,
    by,
    now.toISOString(),
  ]);
  return row!.erased;
}
