import { raw, type EntityClass, type FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { page, toConnection, type Connection } from '../../../runtime/request/paging.js';

/** A list that every patient has. */
interface PatientList<Row> {
  entity: EntityClass<Row>;
  /** Property that orders it, newest first, with the id. */
  time: keyof Row & string;
  /** Part of the batch's name. */
  name: string;
  /** What belongs to the list, for one patient or many. */
  where(patientIds: readonly string[]): Promise<FilterQuery<Row>>;
}

interface Owned {
  id: string;
  patientId: string;
}

const column = (property: string): string => property.replace(/[A-Z]/g, capital => `_${capital.toLowerCase()}`);

/** The first rows of each of many patients: two statements, whatever their number. */
async function firstPages<Row extends Owned>(
  ctx: Context,
  list: PatientList<Row>,
  patientIds: readonly string[],
  first: number,
): Promise<Connection<Row>[]> {
  const place = raw(`row_number() over (partition by r.patient_id order by r.${column(list.time)} desc, r.id desc) as place`);
  const ranked = ctx.em
    .createQueryBuilder(list.entity, 'r')
    .select([raw('r.id'), place] as never)
    .where((await list.where(patientIds)) as never);
  const ids = await ctx.sql<{ id: string }>(`select id from (${ranked.getFormattedQuery()}) ranked where place <= $1`, [first + 1]);
  const rows = await ctx.em.find<Row>(list.entity, { id: { $in: ids.map(row => row.id) } } as never, {
    orderBy: { [list.time]: 'desc', id: 'desc' } as never,
  });
  return patientIds.map(id =>
    toConnection(rows.filter(row => row.patientId === id) as Row[], first, row => [(row[list.time] as Date).toISOString(), row.id]),
  );
}

/** One page of a patient's list. First pages of many patients share a batch, so that a list of users costs no statement per user. */
export async function pageOfPatient<Row extends Owned>(
  ctx: Context,
  list: PatientList<Row>,
  patientId: string,
  args: { first: number; after?: string | null },
): Promise<Connection<Row>> {
  const { entity, time, name } = list;
  if (args.after) return page<Row>(ctx.em, entity, await list.where([patientId]), args, { time });
  const batched = await ctx.load(`patient.${name}:${JSON.stringify(args)}`, patientId, async ids =>
    ids.length > 1 ? firstPages(ctx, list, ids, args.first) : [await page<Row>(ctx.em, entity, await list.where(ids), args, { time })],
  );
  return batched!;
}
