import type { Context } from '../../../runtime/request/context.js';
import { LabOrderDraw, LabOrderMarker, LabOrderProgress } from '../entities/lab-order.js';
import { contentsOf, type LabOrderContents } from '../ports/labs.js';
import { askAgainAt, isOver, underWayUntil } from '../rules/lab-order.js';

/** How far an order has come, by its laboratory. */
interface OrderStatus {
  labOrderId: string;
  patientId: string;
  status: string;
  changedAt: Date;
}

/** The markers of an order that is over are prompted for again; those of one that goes on are not for a while. */
async function markAlong(ctx: Context, { labOrderId, status, changedAt }: LabOrderProgress): Promise<void> {
  if (isOver(status)) await ctx.em.nativeDelete(LabOrderMarker, { labOrderId });
  else await ctx.em.nativeUpdate(LabOrderMarker, { labOrderId }, { until: underWayUntil(changedAt) });
}

/** Notes how far an order has come; a status that is known already, or an older one that comes late, changes nothing. */
export async function followOrder(ctx: Context, { labOrderId, patientId, status, changedAt }: OrderStatus): Promise<void> {
  const known = await ctx.em.findOne(LabOrderProgress, { labOrderId });
  if (known && (known.status === status || known.changedAt > changedAt)) return;
  const progress = known ?? Object.assign(new LabOrderProgress(), { labOrderId, patientId });
  Object.assign(progress, { status, changedAt, askAt: ctx.now(), attempts: 0 });
  ctx.em.persist(progress);
  await markAlong(ctx, progress);
  ctx.audit('lab_order.followed', labOrderId, { status });
}

async function keep(ctx: Context, labOrderId: string, contents: LabOrderContents | null): Promise<void> {
  const progress = await ctx.em.findOne(LabOrderProgress, { labOrderId });
  if (!progress) return; // erased meanwhile
  progress.askAt = null;
  const { patientId, status, changedAt } = progress;
  const { codes, drawIds } = contents ?? { codes: [], drawIds: [] };
  const draws = drawIds.map(drawId => ({ labOrderId, drawId, patientId }));
  if (draws.length) await ctx.em.upsertMany(LabOrderDraw, draws);
  if (isOver(status) || codes.length === 0) return;
  const until = underWayUntil(changedAt);
  const markers = codes.map(code => ({ labOrderId, code, patientId, until }));
  await ctx.em.upsertMany(LabOrderMarker, markers);
}

async function wait(ctx: Context, labOrderId: string): Promise<void> {
  const progress = await ctx.em.findOne(LabOrderProgress, { labOrderId });
  if (!progress) return;
  progress.askAt = askAgainAt(ctx.now(), progress.attempts, progress.changedAt);
  progress.attempts += 1;
}

/** Asks labs for the markers and draws of an order that was claimed, outside any transaction; later again where labs cannot answer. */
export async function askLabs(ctx: Context, { labOrderId }: LabOrderProgress): Promise<void> {
  try {
    const contents = await contentsOf(ctx, labOrderId);
    await ctx.host.transaction(tx => keep(tx, labOrderId, contents));
  } catch (error) {
    ctx.log.debug({ err: (error as Error).name, lab_order: labOrderId }, 'labs could not be asked');
    await ctx.host.transaction(tx => wait(tx, labOrderId));
  }
}
