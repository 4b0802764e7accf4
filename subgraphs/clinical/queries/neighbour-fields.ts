import { isUuid } from '../../../runtime/data/ids.js';
import { rowsBy } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { Consult, CONSULT_READERS, ConsultStatus } from '../entities/consult.js';
import { BiomarkerObservation } from '../entities/observation.js';
import { heldBack, visibleRows } from '../entities/value-access.js';
import { STANDING } from './observation.js';
import { auditRead } from './read-audit.js';

/** Which results belong to which thing of a neighbour: `owner` is the thing's id, `id` the result's. */
interface Belonging {
  owner: string;
  id: string;
}

/** Results of a draw that was made for the order: labs' specimens are clinical's draws. */
const OF_LAB_ORDERS = (schema: string): string => `
select d.lab_order_id as owner, o.id from ${schema}.lab_order_draw d join ${schema}.observation o on o.patient_id = d.patient_id and o.draw_id = d.draw_id
where d.lab_order_id = any($1)`;

/** Results that were drawn in the 24 h from the beginning of the encounter. */
const OF_ENCOUNTERS = (schema: string): string => `
select e.encounter_id as owner, o.id from ${schema}.encounter_period e join ${schema}.observation o on o.patient_id = e.patient_id
  and o.collected_at >= e.starts_at and o.collected_at < e.starts_at + interval '24 hours'
where e.encounter_id = any($1)`;

/** Standing results of things of neighbours that the caller may see, newest draw first; two statements, whatever their number. */
async function resultsOf(ctx: Context, name: string, ownerId: string, select: string): Promise<BiomarkerObservation[]> {
  const found = await ctx.load(`${name}.observations`, ownerId.toLowerCase(), async ids => {
    const pairs = await ctx.sql<Belonging>(select, [ids.filter(isUuid)]);
    const visible = { id: { $in: pairs.map(pair => pair.id) }, ...STANDING, ...visibleRows(ctx.caller), ...heldBack(ctx) };
    const rows = await ctx.em.find(BiomarkerObservation, visible, { orderBy: { collectedAt: 'desc', id: 'desc' } });
    await auditRead(ctx, 'observations', rows);
    return ids.map(id => rows.filter(row => pairs.some(pair => pair.owner === id && pair.id === row.id)));
  });
  return found ?? [];
}

export const resultsOfEncounter = (ctx: Context, id: string): Promise<BiomarkerObservation[]> =>
  resultsOf(ctx, 'encounter', id, OF_ENCOUNTERS(ctx.schema));

export const resultsOfLabOrder = (ctx: Context, id: string): Promise<BiomarkerObservation[]> =>
  resultsOf(ctx, 'lab_order', id, OF_LAB_ORDERS(ctx.schema));

/** The consult that a visit is for, in the request's batch; null where the caller may not see it. */
export const consultOfVisit = (ctx: Context, visitId: string): Promise<Consult | null> =>
  ctx.load('visit.consult', visitId.toLowerCase(), async ids => {
    const where = { status: { $ne: ConsultStatus.CANCELLED }, ...visibleRows(ctx.caller, CONSULT_READERS.staff) };
    const rows = await rowsBy(ctx, Consult, 'visitId', ids, where);
    await auditRead(
      ctx,
      'consults',
      rows.flatMap(row => row ?? []),
    );
    return rows;
  });
