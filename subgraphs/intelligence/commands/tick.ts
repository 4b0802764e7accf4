import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { internalRequest } from '../../../runtime/request/request.js';
import { LoopPhase, LoopTickStatus, LoopTickTrigger } from '../entities/enums.js';
import { LoopTick, type LoopTickPhase } from '../entities/loop.js';
import { analyze } from './analyze.js';
import { monitor } from './monitor.js';
import { propose } from './propose.js';
import { withTickLock } from './tick-lock.js';
import { checkAlarms } from './watchdog.js';

/** Counts of a tick that has nothing to do. */
const NOTHING: Record<LoopPhase, Record<string, number>> = {
  [LoopPhase.MONITOR]: { expired_unjoined: 0, discarded: 0 },
  [LoopPhase.ANALYZE]: { metrics: 0 },
  [LoopPhase.PROPOSE]: { tripped: 0, raised: 0 },
};

/** A transaction of the tick, audited as its caller's. */
const inTick = <T>(ctx: Context, work: (tx: Context) => Promise<T>): Promise<T> =>
  ctx.host.transaction(work, internalRequest(ctx.caller, ctx.request.id));

/** The phases, in this order: a later one does not run when an earlier one fails. Source: spec 1, Intelligence loop 1. */
const PHASES: Record<LoopPhase, (ctx: Context, tick: LoopTick) => Promise<Record<string, number>>> = {
  [LoopPhase.MONITOR]: (ctx, tick) => monitor(ctx, tick.startedAt, tick.id),
  [LoopPhase.ANALYZE]: (ctx, tick) => inTick(ctx, tx => analyze(tx, tick.id)),
  [LoopPhase.PROPOSE]: (ctx, tick) => inTick(ctx, tx => propose(tx, tick.id)),
};

function newTick(ctx: Context): LoopTick {
  const { serviceSlug, clientId } = ctx.caller;
  const trigger = serviceSlug === 'workflow' ? LoopTickTrigger.SCHEDULED : LoopTickTrigger.MANUAL;
  return Object.assign(new LoopTick(), { trigger, clientId, idempotencyKey: ctx.request.idempotencyKey, startedAt: ctx.now() });
}

const insert = (ctx: Context, tick: LoopTick): Promise<unknown> => ctx.host.transaction(tx => tx.em.insert(LoopTick, { ...tick }));

/** Writes how a tick stands; a failed one gives its key back, so that the caller can try again. */
async function save(ctx: Context, tick: LoopTick, change: Partial<LoopTick>): Promise<void> {
  Object.assign(tick, change);
  const { status, phases, finishedAt, errorClass, idempotencyKey } = tick;
  await inTick(ctx, async tx => {
    await tx.em.nativeUpdate(LoopTick, { id: tick.id }, { status, phases, finishedAt, errorClass, idempotencyKey });
    if (finishedAt) tx.audit('loop_tick.run', tick.id, { trigger: tick.trigger, status });
  });
}

/** What is left of a tick whose process died: the lock is free, so nobody works on it. */
async function endAbandoned(ctx: Context): Promise<void> {
  await ctx.host.transaction(tx =>
    tx.em.nativeUpdate(
      LoopTick,
      { status: LoopTickStatus.RUNNING },
      { status: LoopTickStatus.FAILED, errorClass: 'abandoned', finishedAt: ctx.now(), idempotencyKey: null },
    ),
  );
}

const isEmptyLedger = async (ctx: Context): Promise<boolean> =>
  (await ctx.sql(`select 1 from ${ctx.schema}.decision limit 1`)).length === 0;

/** Over an empty ledger nothing is written but the tick's own row, as a sign of life. Source: spec 1, Intelligence loop 5. */
async function emptyTick(ctx: Context, tick: LoopTick): Promise<LoopTick> {
  const phases = Object.values(LoopPhase).map(phase => ({
    phase,
    status: LoopTickStatus.COMPLETED,
    counts: NOTHING[phase],
    durationMs: 0,
  }));
  await insert(ctx, Object.assign(tick, { status: LoopTickStatus.EMPTY, phases, finishedAt: ctx.now() }));
  return tick;
}

async function runPhase(ctx: Context, tick: LoopTick, phase: LoopPhase): Promise<void> {
  const began = performance.now();
  const done = (status: LoopTickStatus, counts: Record<string, number>): LoopTickPhase[] => [
    ...tick.phases,
    { phase, status, counts, durationMs: Math.round(performance.now() - began) },
  ];
  try {
    ctx.host.fault('loop.phase', phase);
    const counts = await PHASES[phase](ctx, tick);
    await save(ctx, tick, { phases: done(LoopTickStatus.COMPLETED, counts) });
  } catch (error) {
    const errorClass = error instanceof Error ? error.name : 'error';
    await save(ctx, tick, {
      phases: done(LoopTickStatus.FAILED, {}),
      status: LoopTickStatus.FAILED,
      errorClass,
      finishedAt: ctx.now(),
      idempotencyKey: null,
    });
    throw error;
  }
}

async function runTick(ctx: Context): Promise<LoopTick> {
  const tick = newTick(ctx);
  await endAbandoned(ctx);
  if (await isEmptyLedger(ctx)) return emptyTick(ctx, tick);
  await insert(ctx, tick);
  for (const phase of Object.values(LoopPhase)) await runPhase(ctx, tick, phase);
  await save(ctx, tick, { status: LoopTickStatus.COMPLETED, finishedAt: ctx.now() });
  await inTick(ctx, checkAlarms);
  return tick;
}

/** The answer of an earlier call with the same key. Source: intelligence 7.3.3. */
async function earlier(ctx: Context): Promise<LoopTick | null> {
  const { idempotencyKey } = ctx.request;
  return idempotencyKey === null ? null : ctx.em.findOne(LoopTick, { clientId: ctx.caller.clientId, idempotencyKey }, { refresh: true });
}

const running = (): never => fail('conflict', 'a tick is running', { reason: 'tick_running' });

/** Runs Monitor, Analyze and Propose, in this order; one tick at a time. @throws Problem conflict while another one runs. */
export async function runLoopTick(ctx: Context): Promise<LoopTick> {
  const before = await earlier(ctx);
  if (before) return before.status === LoopTickStatus.RUNNING ? running() : before;
  const tick = await withTickLock(ctx.host, async () => (await earlier(ctx)) ?? runTick(ctx));
  return tick ?? running();
}
