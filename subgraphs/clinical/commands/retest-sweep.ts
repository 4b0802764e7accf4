import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { internalRequest } from '../../../runtime/request/request.js';
import { SweepRun, SweepRunTrigger } from '../entities/sweep-run.js';
import { settingsOf, settingsOfBrands } from '../ports/retest-settings.js';
import { RETEST_FLAG, sweepAction, type SweepAction } from '../rules/retest-cycle.js';
import { QUALIFIES } from './retest-outcome.js';
import { applyTogether, type Change, type OpenCycle, type Sweep } from './retest-sweep-change.js';
import { withSweepLock } from './retest-sweep-lock.js';

/** Gates the prompt alone, asked per (brand, user) at each prompt. Source: spec 1, Re-test cycle 6. */
const PROMPT_FLAG = 'feature.clinical.retest-prompt';
/** Cycles per page: one statement, about 1 MB. */
const PAGE = 2000;
/** Cycles per commit: a commit of one cycle costs 3 to 27 ms, most of it waiting, one of fifty little more. */
const TOGETHER: Readonly<Record<Change, number>> = { prompt: 50, expire: 50, record: 1 };

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

function decide({ ctx, now, settingsOf: settings, cycleFlag }: Sweep, row: OpenCycle): SweepAction {
  const prompt = (): boolean => ctx.flags.boolean(PROMPT_FLAG, { brandId: row.brandId, userId: row.patientId });
  return sweepAction(row, now.getTime(), settings(row.brandId), { cycle: cycleFlag, prompt });
}

/** What counts the cycles that a sweep leaves alone, and why. */
const SKIPPED = {
  skip_flag: 'skippedFlag',
  skip_limit: 'skippedLimit',
  skip_lab: 'skippedLabInProgress',
} as const satisfies Partial<Record<SweepAction, keyof SweepRun>>;

function countSkip(run: SweepRun, action: SweepAction): void {
  if (action in SKIPPED) run[SKIPPED[action as keyof typeof SKIPPED]]++;
}

/** Works a list off, several at once. */
async function concurrently<T>(items: readonly T[], workers: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const one = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: workers }, one));
}

interface Group {
  change: Change;
  rows: OpenCycle[];
}

const inChunks = <T>(items: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size));

/** The rows of each change, in groups that share a commit. */
const groupsOf = (decided: readonly { row: OpenCycle; action: SweepAction }[]): Group[] =>
  (['record', 'expire', 'prompt'] as const).flatMap(change => {
    const rows = decided.filter(one => one.action === change).map(one => one.row);
    return inChunks(rows, TOGETHER[change]).map(together => ({ change, rows: together }));
  });

async function sweepPage(sweep: Sweep, rows: readonly OpenCycle[]): Promise<void> {
  const decided = rows.map(row => ({ row, action: decide(sweep, row) }));
  for (const { action } of decided) countSkip(sweep.run, action);
  const workers = Math.max(1, sweep.ctx.host.config.poolMax - 1); // one connection holds the sweep's lock
  await concurrently(groupsOf(decided), workers, ({ rows: together, change }) => applyTogether(sweep, together, change));
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

/** Looks at all open cycles, by keyset on their id. */
async function sweepAll(sweep: Sweep): Promise<void> {
  const { ctx, run, now } = sweep;
  for (let last = NOTHING, more = true; more;) {
    const rows = await ctx.sql<OpenCycle>(CANDIDATES(ctx.schema), [last, PAGE, now.toISOString()]);
    await sweepPage(sweep, rows);
    run.scanned += rows.length;
    last = rows.at(-1)?.id ?? last;
    more = rows.length === PAGE;
  }
}

/**
 * One pass over all open cycles: what is decided for each cycle is pure, what changes repeats the guard in SQL. The caller holds the
 * sweep's lock. Source: clinical 7.1.2-7.1.4, 7.1.9.
 */
async function runSweep(ctx: Context, trigger: SweepRunTrigger): Promise<SweepRun> {
  const now = ctx.now();
  const run = Object.assign(new SweepRun(), { trigger, startedAt: now });
  const settings = await settingsOfBrands(ctx, settingsOf(ctx));
  const sweep: Sweep = { ctx, run, now, settingsOf: settings, cycleFlag: ctx.flags.boolean(RETEST_FLAG) };
  await sweepAll(sweep);
  await finish(sweep);
  return run;
}

/** Runs a sweep now. @throws Problem conflict while another one runs. */
export async function sweepRetestCycles(ctx: Context): Promise<SweepRun> {
  const run = await withSweepLock(ctx.host, () => runSweep(ctx, SweepRunTrigger.MANUAL));
  return run ?? fail('conflict', 'a sweep is running', { reason: 'sweep_running' });
}

/** A timer's sweep that finds another one running waits for it, looking so often. */
const LOOK_AGAIN_MS = 250;
const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

/** The sweep of a timer's slot is never left out: it waits while a manual one runs. */
export async function sweepSlot(ctx: Context): Promise<void> {
  const ran = () => withSweepLock(ctx.host, async () => (await runSweep(ctx, SweepRunTrigger.TIMER), true));
  while (!(await ran())) await pause(LOOK_AGAIN_MS);
}
