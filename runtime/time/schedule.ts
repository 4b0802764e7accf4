import type { Timer } from './clock.js';
import type { Context } from '../request/context.js';

export interface Sweep {
  name: string;
  /** Distance of the slots, ms; slots lie on the UTC grid (multiples since 1970). */
  everyMs: number;
  /** Does the slot's work outside any transaction, opening its own through `ctx.host.transaction`. */
  run(ctx: Context, slot: Date): Promise<void>;
}

/** A claim that its process has not renewed for this long is taken over; it is renewed as every lease is. Database time. */
export const CLAIM_SECONDS = 60;
/** Claimed slots kept for operators. */
const KEPT_SLOTS = 400;

const gridBefore = (at: Date, everyMs: number): Date => new Date(Math.floor(at.getTime() / everyMs) * everyMs);

interface LastSlot {
  ms: string;
  finished: boolean;
  lapsed: boolean;
}

/** The last slot that has begun. */
async function lastSlot(ctx: Context, name: string): Promise<{ at: Date; finished: boolean; lapsed: boolean } | null> {
  const [row] = await ctx.sql<LastSlot>(
    `select extract(epoch from slot) * 1000 as ms, finished_at is not null as finished, claimed_at < clock_timestamp() - interval '${CLAIM_SECONDS} seconds' as lapsed
     from ${ctx.schema}.schedule_slot where name = $1 and slot <= $2 order by slot desc limit 1`,
    [name, ctx.now().toISOString()],
  );
  return row ? { at: new Date(Math.round(Number(row.ms))), finished: row.finished, lapsed: row.lapsed } : null;
}

async function nextSlot(ctx: Context, { name, everyMs }: Sweep): Promise<Date | null> {
  const last = await lastSlot(ctx, name);
  if (!last) return gridBefore(ctx.now(), everyMs);
  if (last.finished) return new Date(last.at.getTime() + everyMs);
  return last.lapsed ? last.at : null;
}

async function claim(ctx: Context, { name, everyMs }: Sweep, slot: Date): Promise<void> {
  await ctx.sql(
    `insert into ${ctx.schema}.schedule_slot (name, slot, claimed_at) values ($1, $2, clock_timestamp())
     on conflict (name, slot) do update set claimed_at = excluded.claimed_at`,
    [name, slot.toISOString()],
  );
  await ctx.sql(`delete from ${ctx.schema}.schedule_slot where name = $1 and slot < $2`, [
    name,
    new Date(slot.getTime() - everyMs * KEPT_SLOTS).toISOString(),
  ]);
}

const mark =
  (column: 'claimed_at' | 'finished_at', name: string) =>
  async (ctx: Context, slot: Date): Promise<void> =>
    void (await ctx.sql(`update ${ctx.schema}.schedule_slot set ${column} = clock_timestamp() where name = $1 and slot = $2`, [
      name,
      slot.toISOString(),
    ]));

/**
 * A timer over a fixed grid: a slot is claimed by one row (name, slot), so a sweep runs once however many processes there are;
 * slots missed while nothing ran are run one by one, and one that died half-way is taken over. Source: architecture 3.
 */
export const sweepTimer = (sweep: Sweep): Timer<Context> => ({
  name: sweep.name,
  next: ctx => nextSlot(ctx, sweep),
  run: (ctx, slot) => sweep.run(ctx, slot),
  claimed: {
    claim: (ctx, slot) => claim(ctx, sweep, slot),
    keep: mark('claimed_at', sweep.name),
    finish: mark('finished_at', sweep.name),
    running: async ctx => {
      const last = await lastSlot(ctx, sweep.name);
      return last !== null && !last.finished && !last.lapsed;
    },
  },
});
