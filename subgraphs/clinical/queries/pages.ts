import { raw, type EntityClass, type FilterQuery } from '@mikro-orm/postgresql';
import type { Context } from '../../../runtime/request/context.js';
import { page, toConnection, type Connection } from '../../../runtime/request/paging.js';

/** A list that every patient has. */
interface PatientList<Row> {
  entity: EntityClass<Row>;
  /** Property that orders it, newest first, with the id. */
  time: keyof Row & string;
  /** Tells batches apart that differ in more than their arguments; default the entity's name. */
  name?: string;
  /** What belongs to the list besides the owner; a function where that takes a question of its own. */
  where: FilterQuery<Row> | ((patientIds: readonly string[]) => Promise<FilterQuery<Row>>);
}

interface Owned {
  id: string;
  patientId: string;
}

interface Paging {
  first: number;
  after?: string | null;
}

async function filterOf<Row>({ where }: PatientList<Row>, patientIds: readonly string[]): Promise<FilterQuery<Row>> {
  if (typeof where === 'function') return (where as (ids: readonly string[]) => Promise<FilterQuery<Row>>)(patientIds);
  return { ...(where as object), patientId: { $in: [...patientIds] } } as unknown as FilterQuery<Row>;
}

const column = (property: string): string => property.replace(/[A-Z]/g, capital => `_${capital.toLowerCase()}`);

/** The first rows of each of many patients: two statements, whatever their number. */
async function firstPages<Row extends Owned>(
  ctx: Context,
  list: PatientList<Row>,
  patientIds: readonly string[],
  first: number,
): Promise<Connection<Row>[]> {
  const { entity, time } = list;
  const rank = raw(`row_number() over (partition by r.patient_id order by r.${column(time)} desc, r.id desc) as rank`);
  const ranked = ctx.em
    .createQueryBuilder(entity, 'r')
    .select([raw('r.id'), rank] as never)
    .where((await filterOf(list, patientIds)) as never);
  const ids = await ctx.sql<{ id: string }>(`select id from (${ranked.getFormattedQuery()}) ranked where rank <= $1`, [first + 1]);
  const rows = await ctx.em.find<Row>(entity, { id: { $in: ids.map(row => row.id) } } as never, {
    orderBy: { [time]: 'desc', id: 'desc' } as never,
  });
  return patientIds.map(id =>
    toConnection(rows.filter(row => row.patientId === id) as Row[], first, row => [(row[time] as Date).toISOString(), row.id]),
  );
}

/** One page of a patient's list. First pages of many patients share a batch, so that a list of users costs no statement per user. */
export async function pageOfPatient<Row extends Owned>(
  ctx: Context,
  list: PatientList<Row>,
  patientId: string,
  args: Paging,
): Promise<Connection<Row>> {
  const { entity, time, name = entity.name } = list;
  const pageOf = async (ids: readonly string[]) => page<Row>(ctx.em, entity, await filterOf(list, ids), args, { time });
  if (args.after) return pageOf([patientId]);
  const batch = `patient.${name}:${JSON.stringify(args)}`;
  const batched = await ctx.load(batch, patientId, async ids =>
    ids.length > 1 ? firstPages(ctx, list, ids, args.first) : [await pageOf(ids)],
  );
  return batched!;
}
