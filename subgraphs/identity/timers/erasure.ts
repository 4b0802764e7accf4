import { FOR_UPDATE } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { askAgain, lapse, start } from '../commands/erasure-steps.js';
import { ErasureRequest } from '../entities/erasure.js';
import { ASK_AGAIN_MS } from '../rules/erasure.js';
import { earliest } from './due.js';

interface Due {
  name: string;
  /** Selects `id` and `at` of what waits, `at` being when it is due. */
  waiting: string;
  act(ctx: Context, request: ErasureRequest): Promise<unknown>;
}

/** A timer over requests: the earliest first, one at a time, its row locked. */
const timerOf = ({ name, waiting, act }: Due): Timer<Context> => ({
  name: `identity.erasure_${name}`,
  next: ctx => earliest(ctx, `select min(at) as at from (${waiting}) as w`),
  async run(ctx, at) {
    const [row] = await ctx.sql<{ id: string }>(`select id from (${waiting}) as w where at <= $1 order by at, id limit 1`, [
      at.toISOString(),
    ]);
    const request = row && (await ctx.em.findOne(ErasureRequest, { id: row.id }, FOR_UPDATE));
    if (request) await act(ctx, request);
  },
});

/** Starts at its time, lapse at the deadline, and questions asked again. Source: identity 3. */
export const erasureTimers: readonly Timer<Context>[] = [
  timerOf({
    name: 'start',
    waiting: `select id, scheduled_for as at from identity.erasure_request where status = 'scheduled'`,
    act: start,
  }),
  timerOf({ name: 'due', waiting: `select id, due_by as at from identity.erasure_request where status = 'in_progress'`, act: lapse }),
  timerOf({
    name: 'ask_again',
    waiting: `select r.id, min(t.asked_at) + interval '${ASK_AGAIN_MS / 1000} seconds' as at from identity.erasure_request r
      join identity.erasure_task t on t.request_id = r.id
      where r.status = 'in_progress' and t.status <> 'confirmed' and t.service <> 'identity' group by r.id`,
    act: askAgain,
  }),
];
