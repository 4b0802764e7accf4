import type { Context } from '../../../runtime/request/context.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { BiomarkerObservation } from '../entities/observation.js';

/** A result by id for what is shown with it, in the request's batch; who may see it is decided by what leads there. */
export const loadObservation = (ctx: Context, id: string): Promise<BiomarkerObservation | null> =>
  ctx.load('observation', id, async ids => inOrder(ids, await ctx.em.find(BiomarkerObservation, { id: { $in: [...ids] } }), row => row.id));

/** Rows that a result replaced, newest first, in the request's batch: one recursive statement and one for the rows. */
export const loadHistory = (ctx: Context, id: string): Promise<BiomarkerObservation[] | null> =>
  ctx.load('observation.history', id, async ids => {
    const chain = await ctx.sql<{ start: string; id: string; place: number }>(
      `with recursive chain as (
         select id as start, supersedes as id, 1 as place from ${ctx.schema}.observation where id = any($1) and supersedes is not null
         union all select c.start, o.supersedes, c.place + 1 from chain c join ${ctx.schema}.observation o on o.id = c.id where o.supersedes is not null)
       select start, id, place from chain order by start, place`,
      [ids],
    );
    const rows = await ctx.em.find(BiomarkerObservation, { id: { $in: chain.map(one => one.id) } });
    const byId = new Map(rows.map(row => [row.id, row]));
    return ids.map(start => chain.filter(one => one.start === start).flatMap(one => byId.get(one.id) ?? []));
  });
