import { retestExpired, retestPrompted } from '../../../events/catalogue/clinical.js';
import type { Context } from '../../../runtime/context.js';
import { internalRequest } from '../../../runtime/request.js';
import { RetestCycleStatus as Status } from '../entities/retest-cycle.js';
import { SweepRun, type SweepRunTrigger } from '../entities/sweep-run.js';
import { nextPromptAt, sweepAction, type Candidate, type RetestSettings, type SweepAction } from '../rules/retest.js';
import { NOT_COMPARABLE, QUALIFIES, recordStored } from './outcome.js';
import { RETEST_FLAG, settingsOf } from './retest-cycle.js';

/** Gates the nudge alone, asked per (brand, user) at each prompt. Source: spec 1, Re-test cycle 6. */
const PROMPT_FLAG = 'feature.clinical.retest-prompt';
/** Cycles per page: one statement, about 1 MB. */
const PAGE = 2000;
/** A cycle's statements may not hold its row for longer, ms. Source: clinical 7.1.4. */
const CYCLE_TIMEOUT_MS = 5000;
/** Failures in a row that raise the alarm. */
const ALARM_AFTER = 5;

interface Row extends Candidate {
  id: string;
  patientId: string;
  brandId: string;
}

const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;

/** A page of open cycles with all that decides about them. */
const CANDIDATES = (schema: string): string => `
select c.id, c.patient_id as "patientId", c.brand_id as "brandId", ${ms('c.retest_due_at')} as "retestDueAt", ${ms('c.expires_at')} as "expiresAt",
  c.prompt_count as "promptCount", ${ms('c.last_prompted_at')} as "lastPromptedAt", i.status as "interventionStatus",
  exists (select from ${schema}.observation o where ${QUALIFIES}) as "followUp",
  exists (select from ${schema}.lab_order_marker m where m.patient_id = c.patient_id and m.code = c.code and m.until > $3) as "labInProgress"
from ${schema}.retest_cycle c left join ${schema}.intervention i on i.id = c.intervention_id
where c.status in ('baseline_set', 'prompted') and c.id > $1 order by c.id limit $2`;

const NOTHING = '00000000-0000-0000-0000-000000000000';

/** One sweep: who asked, its moment, and what it counted. */
interface Sweep {
  ctx: Context;
  run: SweepRun;
  now: Date;
  settings: RetestSettings;
  cycleFlag: boolean;
}

type Change = 'record' | 'expire' | 'prompt';
const CHANGES: readonly SweepAction[] = ['record', 'expire', 'prompt'];

function decide({ ctx, now, settings, cycleFlag }: Sweep, row: Row): SweepAction {
  const prompt = (): boolean => ctx.flags.boolean(PROMPT_FLAG, { brandId: row.brandId, userId: row.patientId });
  return sweepAction(row, now.getTime(), settings, { cycle: cycleFlag, prompt });
}

function countSkip(run: SweepRun, action: SweepAction): void {
  if (action === 'skip_flag') run.skippedFlag++;
  else if (action === 'skip_limit') run.skippedLimit++;
  else if (action === 'skip_lab') run.skippedLabInProgress++;
}

interface Changed {
  from: Status;
  code: string;
  prompt_count: number;
}

/** Only a cycle that is still as it was read, and whose follow-up has not come meanwhile. Source: clinical 7.1.8, 7.1.9. */
const STILL = (schema: string): string => `c.id = $1 and c.status in ('baseline_set', 'prompted') and c.prompt_count = $2
  and not exists (select from ${schema}.observation o where ${QUALIFIES})`;

/** The row as it was, locked, so that the audit row can tell where it came from. */
async function change(tx: Context, row: Row, guard: string, set: string, params: readonly unknown[]): Promise<Changed | undefined> {
  const [changed] = await tx.sql<Changed>(
    `with old as (select c.id, c.status from ${tx.schema}.retest_cycle c where ${STILL(tx.schema)} and ${guard} for update of c)
     update ${tx.schema}.retest_cycle c set ${set}, failure_count = 0, last_error_class = null, version = c.version + 1
     from old where c.id = old.id returning old.status as "from", c.code, c.prompt_count`,
    [row.id, row.promptCount, ...params],
  );
  return changed;
}

async function prompt({ run, now, settings }: Sweep, tx: Context, row: Row): Promise<void> {
  const due = { retestDueAt: new Date(row.retestDueAt), expiresAt: new Date(row.expiresAt) };
  const next = nextPromptAt({ ...due, promptCount: row.promptCount + 1, lastPromptedAt: now }, settings);
  const done = await change(
    tx,
    row,
    'c.last_prompted_at is not distinct from $3::timestamptz and c.expires_at >= $4::timestamptz',
    `status = 'prompted', prompt_count = c.prompt_count + 1, last_prompted_at = $4::timestamptz, next_prompt_at = $5::timestamptz`,
    [row.lastPromptedAt === null ? null : new Date(row.lastPromptedAt).toISOString(), now.toISOString(), next?.toISOString() ?? null],
  );
  if (!done) return;
  const { code, prompt_count } = done;
  tx.emit(retestPrompted, { code, prompt_count, prompted_at: now.toISOString() }, { userId: row.patientId, brandId: row.brandId });
  tx.audit('retest_cycle.prompted', row.id, { from: done.from, to: Status.PROMPTED, prompt_count, sweep: run.id });
  tx.afterCommit(() => void run.prompted++);
}

async function expire({ run, now }: Sweep, tx: Context, row: Row): Promise<void> {
  const done = await change(
    tx,
    row,
    'c.expires_at < $3::timestamptz',
    `status = 'expired', closed_at = $3::timestamptz, next_prompt_at = null`,
    [now.toISOString()],
  );
  if (!done) return;
  const { code, prompt_count } = done;
  tx.emit(retestExpired, { code, prompt_count, expired_at: now.toISOString() }, { userId: row.patientId, brandId: row.brandId });
  tx.audit('retest_cycle.expired', row.id, { from: done.from, to: Status.EXPIRED, prompt_count, sweep: run.id });
  tx.afterCommit(() => void run.expired++);
}

async function record({ ctx, run }: Sweep, tx: Context, row: Row): Promise<void> {
  const outcome = await recordStored(tx, row.id, { sweep: run.id });
  if (outcome === 'recorded') tx.afterCommit(() => void run.recorded++);
  if (outcome !== 'not_comparable') return;
  tx.afterCommit(() => void run.failed++);
  tx.afterCommit(() => alarm(ctx, row.id, NOT_COMPARABLE));
}

const CHANGE = { record, expire, prompt } as const satisfies Record<Change, (sweep: Sweep, tx: Context, row: Row) => Promise<void>>;

/** Tells operators of a cycle that fails again and again; it is still tried. Source: clinical 7.1.4. */
async function alarm(ctx: Context, cycleId: string, errorClass: string): Promise<void> {
  const [row] = await ctx.sql<{ failures: number }>(`select failure_count as failures from ${ctx.schema}.retest_cycle where id = $1`, [
    cycleId,
  ]);
  if (row && row.failures >= ALARM_AFTER)
    ctx.log.error(
      { alarm: 'retest_cycle_failing', cycle: cycleId, failures: row.failures, error_class: errorClass },
      'a re-test cycle fails again and again',
    );
}

/** SQLSTATE or class of an error: what went wrong without what was in it. */
const classOf = (error: unknown): string =>
  String((error as { code?: unknown }).code ?? (error as Error | null)?.name ?? 'error').slice(0, 100);

async function noteFailure({ ctx, run }: Sweep, row: Row, error: unknown): Promise<void> {
  run.failed++;
  const errorClass = classOf(error);
  ctx.log.warn({ cycle: row.id, error_class: errorClass }, 'a re-test cycle failed; the next sweep tries it again');
  await ctx.host.transaction(tx =>
    tx.sql(`update ${tx.schema}.retest_cycle set failure_count = failure_count + 1, last_error_class = $2 where id = $1`, [
      row.id,
      errorClass,
    ]),
  );
  await alarm(ctx, row.id, errorClass);
}

/** A cycle's own transaction: its failure rolls back nothing else, and the batch goes on. Source: spec 1, Re-test cycle 5. */
async function apply(sweep: Sweep, row: Row, action: Change): Promise<void> {
  const { ctx } = sweep;
  try {
    await ctx.host.transaction(
      async tx => {
        await tx.sql(`select set_config('statement_timeout', $1, true)`, [String(CYCLE_TIMEOUT_MS)]);
        ctx.host.fault('retest.sweep.cycle', row.id);
        await CHANGE[action](sweep, tx, row);
      },
      internalRequest(ctx.caller, ctx.request.id),
    );
  } catch (error) {
    await noteFailure(sweep, row, error).catch(other =>
      ctx.log.error({ cycle: row.id, error_class: classOf(other) }, 'a failure could not be noted'),
    );
  }
}

/** Works a list off, several at once. */
async function concurrently<T>(items: readonly T[], workers: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const one = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: workers }, one));
}

async function sweepPage(sweep: Sweep, rows: readonly Row[]): Promise<void> {
  const decided = rows.map(row => ({ row, action: decide(sweep, row) }));
  for (const { action } of decided) countSkip(sweep.run, action);
  const changes = decided.filter((one): one is { row: Row; action: Change } => CHANGES.includes(one.action));
  const workers = Math.max(1, sweep.ctx.host.config.poolMax - 1); // one connection holds the sweep's lock
  await concurrently(changes, workers, ({ row, action }) => apply(sweep, row, action));
}

/** Folds the kept counts together: one row per group, none that is empty. */
const FOLD = (schema: string): string => `with gone as (delete from ${schema}.retest_tally returning *)
insert into ${schema}.retest_tally (brand_id, code, intervention_key, status, cycles, days, organic, late)
select brand_id, code, intervention_key, status, sum(cycles), sum(days), sum(organic), sum(late) from gone
group by brand_id, code, intervention_key, status having sum(cycles) <> 0`;

/** The run's row, written once it is known what became of it. */
async function finish({ ctx, run }: Sweep): Promise<void> {
  await ctx.host.transaction(
    async tx => {
      run.finishedAt = tx.now();
      await tx.em.insert(SweepRun, { ...run });
      await tx.sql(FOLD(tx.schema));
      const { trigger, scanned, prompted, expired, recorded, failed } = run;
      tx.audit('retest_sweep.run', run.id, { trigger, scanned, prompted, expired, recorded, failed });
    },
    internalRequest(ctx.caller, ctx.request.id),
  );
}

/**
 * One pass over all open cycles, by keyset on their id: what is decided for each cycle is pure, what changes is one transaction
 * per cycle. The caller holds the sweep's lock. Source: clinical 7.1.2-7.1.4, 7.1.9.
 */
export async function runSweep(ctx: Context, trigger: SweepRunTrigger): Promise<SweepRun> {
  const now = ctx.now();
  const run = Object.assign(new SweepRun(), { trigger, startedAt: now });
  const sweep: Sweep = { ctx, run, now, settings: settingsOf(ctx), cycleFlag: ctx.flags.boolean(RETEST_FLAG) };
  for (let after = NOTHING, more = true; more;) {
    const rows = await ctx.sql<Row>(CANDIDATES(ctx.schema), [after, PAGE, now.toISOString()]);
    await sweepPage(sweep, rows);
    run.scanned += rows.length;
    after = rows.at(-1)?.id ?? after;
    more = rows.length === PAGE;
  }
  await finish(sweep);
  return run;
}
