import { labsVendorOrderStatusChanged } from '../../../events/catalogue/integrations.js';
import { type Consumer, handle } from '../../../events/consumer.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Timer } from '../../../runtime/time/clock.js';
import { LabOrderDraw, LabOrderMarker, LabOrderProgress } from '../entities/lab-order.js';
import { contentsOf, type LabOrderContents } from '../ports/labs.js';
import { askAgainAt, isOver, underWayUntil } from '../rules/lab-order.js';

/** An answer of labs that has not been stored by then is asked for again, ms. */
const LEASE_MS = 60_000;

/** The markers of an order that is over are prompted for again; those of one that goes on are not for a while. */
async function markAlong(ctx: Context, { labOrderId, status, changedAt }: LabOrderProgress): Promise<void> {
  if (isOver(status)) await ctx.em.nativeDelete(LabOrderMarker, { labOrderId });
  else await ctx.em.nativeUpdate(LabOrderMarker, { labOrderId }, { until: underWayUntil(changedAt) });
}

/** Notes how far an order has come; a status that is known already, or an older one that comes late, changes nothing. */
const statusChanged = handle(labsVendorOrderStatusChanged, async (ctx: Context, event) => {
  const { lab_order_id: labOrderId, to: status, changed_at: at } = event.data;
  const changedAt = new Date(at);
  const known = await ctx.em.findOne(LabOrderProgress, { labOrderId });
  if (known && (known.status === status || known.changedAt > changedAt)) return;
  const progress = known ?? Object.assign(new LabOrderProgress(), { labOrderId, patientId: event.user_id! });
  Object.assign(progress, { status, changedAt, askAt: ctx.now(), attempts: 0 });
  ctx.em.persist(progress);
  await markAlong(ctx, progress);
  ctx.audit('lab_order.followed', labOrderId, { status });
});

/** Lab orders under way, from the laboratories' own words. Source: clinical 5, 7.1.11. */
export const labOrders: Consumer<Context> = { name: 'clinical.lab_orders', on: [statusChanged] };

async function keep(ctx: Context, labOrderId: string, contents: LabOrderContents | null): Promise<void> {
  const progress = await ctx.em.findOne(LabOrderProgress, { labOrderId });
  if (!progress) return; // erased meanwhile
  progress.askAt = null;
  const { patientId, status, changedAt } = progress;
  const { codes, drawIds } = contents ?? { codes: [], drawIds: [] };
  if (drawIds.length)
    await ctx.em.upsertMany(
      LabOrderDraw,
      drawIds.map(drawId => ({ labOrderId, drawId, patientId })),
    );
  if (isOver(status) || codes.length === 0) return;
  const until = underWayUntil(changedAt);
  await ctx.em.upsertMany(
    LabOrderMarker,
    codes.map(code => ({ labOrderId, code, patientId, until })),
  );
}

async function wait(ctx: Context, labOrderId: string): Promise<void> {
  const progress = await ctx.em.findOne(LabOrderProgress, { labOrderId });
  if (!progress) return;
  progress.askAt = askAgainAt(ctx.now(), progress.attempts, progress.changedAt);
  progress.attempts += 1;
}

async function ask(ctx: Context, labOrderId: string): Promise<void> {
  try {
    const contents = await contentsOf(ctx, labOrderId);
    await ctx.host.transaction(tx => keep(tx, labOrderId, contents));
  } catch (error) {
    ctx.log.debug({ err: (error as Error).name, lab_order: labOrderId }, 'labs could not be asked');
    await ctx.host.transaction(tx => wait(tx, labOrderId));
  }
}

/** Asks labs what is measured for an order: the worker that the handler leaves it to, outside any transaction. Source: clinical 5. */
export const labOrderTimer: Timer<Context> = {
  name: 'lab_order.ask',
  everySeconds: 5,
  next: async ctx => {
    const [row] = await ctx.sql<{ due: number | null }>(
      `select (extract(epoch from min(ask_at)) * 1000)::float8 as due from ${ctx.schema}.lab_order_progress where ask_at is not null`,
    );
    return row?.due == null ? null : new Date(row.due);
  },
  run: async (ctx, at) => {
    const claimed = await ctx.em.find(LabOrderProgress, { askAt: new Date(at.getTime() + LEASE_MS) }, { limit: 20 });
    for (const { labOrderId } of claimed) await ask(ctx, labOrderId);
  },
  claimed: {
    claim: async (ctx, at) => {
      await ctx.sql(
        `update ${ctx.schema}.lab_order_progress set ask_at = $2 where lab_order_id in
           (select lab_order_id from ${ctx.schema}.lab_order_progress where ask_at <= $1 order by ask_at limit 20 for update skip locked)`,
        [at.toISOString(), new Date(at.getTime() + LEASE_MS).toISOString()],
      );
    },
    keep: async () => undefined,
    finish: async () => undefined,
  },
};
