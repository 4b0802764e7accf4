import type { EntityClass, FilterQuery } from '@mikro-orm/postgresql';
import { writeAudit } from '../../../runtime/data/audit.js';
import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { type Connection, page } from '../../../runtime/request/paging.js';
import { seesValues } from '../entities/value-access.js';

/** Kinds of health data whose reading by staff and services leaves a trace. */
export type HealthKind =
  'observations' | 'retest_cycles' | 'red_flags' | 'lab_reports' | 'health_scores' | 'consults' | 'check_ins' | 'doses' | 'fhir_export';

interface Owned {
  id: string;
  patientId: string;
}

interface Paging {
  first: number;
  after?: string | null;
}

/**
 * Leaves who read whose health values of what kind, once per read: for services and staff, who see values of others. The owner's
 * own reading is not audited. Source: clinical 7.3.7, must-not-happen 25.
 */
export async function auditRead(ctx: Context, kind: HealthKind, rows: readonly { patientId: string }[]): Promise<void> {
  const seen = rows.filter(row => row.patientId !== ctx.caller.userId && seesValues(ctx.caller, row.patientId));
  const owners = [...new Set(seen.map(row => row.patientId))];
  const audits = owners.map(owner => ({
    action: `${kind}.read`,
    target: owner,
    details: { kind, rows: seen.filter(row => row.patientId === owner).length },
  }));
  if (ctx.inTransaction) audits.forEach(row => ctx.audit(row.action, row.target, row.details));
  else await writeAudit(ctx, audits);
}

/** One row of those that the caller may see, its reading audited; null: there is none, or it is another's. */
export async function readRow<Row extends Owned>(
  ctx: Context,
  kind: HealthKind,
  entity: EntityClass<Row>,
  where: FilterQuery<NoInfer<Row>>,
): Promise<Row | null> {
  const row = await findRow(ctx, entity, where);
  if (row) await auditRead(ctx, kind, [row]);
  return row;
}

/** One page of a table, its reading audited. */
export async function readPage<Row extends Owned>(
  ctx: Context,
  kind: HealthKind,
  entity: EntityClass<Row>,
  where: FilterQuery<NoInfer<Row>>,
  args: Paging,
  time: keyof Row & string,
): Promise<Connection<Row>> {
  const found = await page(ctx.em, entity, where, args, { time });
  await auditRead(ctx, kind, found.nodes);
  return found;
}
