import { userErasureRequested } from './catalogue/identity.js';
import { handle, type Consumer, type Envelope } from './consumer.js';
import type { DataOf } from './define.js';
import type { Sql } from './outbox.js';

/** What the erasure of a user's events needs of its service's context. */
interface ErasureContext {
  sql: Sql;
  now(): Date;
}

type ErasureRequested = Envelope<DataOf<typeof userErasureRequested>>;

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

/**
 * The consumer `events.erasure`. The request comes after everything that it concerns in the user's order, so nothing is still unpublished.
 * @param confirm tells identity the outcome, in the same transaction; it writes a job or an event, it does no outside I/O.
 */
export const erasureConsumer = <Ctx extends ErasureContext>(
  confirm: (ctx: Ctx, event: ErasureRequested, erased: number) => Promise<void> = async () => undefined,
): Consumer<Ctx> => ({
  name: 'events.erasure',
  on: [
    handle(userErasureRequested, async (ctx: Ctx, event) => {
      const erased = await eraseUserEvents(ctx.sql, event.user_id!, event.seq, `${event.type}:${event.id}`, ctx.now());
      await confirm(ctx, event, erased);
    }),
  ],
});
