import { retestExpired, retestPrompted } from '../../../events/catalogue/clinical.js';
import type { Context } from '../../../runtime/request/context.js';
import { internalRequest } from '../../../runtime/request/request.js';
import { SECOND_MS } from '../../../runtime/time/durations.js';
import { RetestCycleStatus as Status } from '../entities/retest-cycle.js';
import type { SweepRun } from '../entities/sweep-run.js';
import { type Candidate, nextPromptAt, type RetestSettings } from '../rules/retest-cycle.js';
import { NOT_COMPARABLE, QUALIFIES, recordStored } from './retest-outcome.js';

/** The statements of a transaction may not hold its cycles for longer. Source: clinical 7.1.4. */
const CYCLE_TIMEOUT_MS = 5 * SECOND_MS;
/** Failures in a row that raise the alarm. */
const ALARM_AFTER = 5;

/** An open cycle as a sweep reads it. */
export interface OpenCycle extends Candidate {
  id: string;
  patientId: string;
  brandId: string;
}

/** One sweep: who asked, its moment, the settings of each brand, and what it counted. */
export interface Sweep {
  ctx: Context;
  run: SweepRun;
  now: Date;
  settingsOf(brandId: string): RetestSettings;
  cycleFlag: boolean;
}

export type Change = 'record' | 'expire' | 'prompt';

interface Changed {
  id: string;
  patientId: string;
  brandId: string;
  from: Status;
  code: string;
  prompt_count: number;
}

/** What is wanted of a cycle, as the statement reads it. */
interface Wanted {
  id: string;
  prompt_count: number;
  last_prompted_at: string | null;
  next_prompt_at: string | null;
}

/** Only cycles that are still as they were read, and whose follow-up has not come meanwhile. Source: clinical 7.1.8, 7.1.9. */
const STILL = (schema: string): string => `c.status in ('baseline_set', 'prompted') and c.prompt_count = w.prompt_count
  and not exists (select from ${schema}.observation o where ${QUALIFIES})`;

/** The rows as they were, locked in one order, so that the audit rows can name the state before. */
const changeThem = (tx: Context, wanted: readonly Wanted[], guard: string, set: string, now: Date): Promise<Changed[]> =>
  tx.sql<Changed>(
    `with w as (select * from jsonb_to_recordset($1::jsonb) as w(id uuid, prompt_count int, last_prompted_at timestamptz, next_prompt_at timestamptz)),
     old as (select c.id, c.status, w.next_prompt_at from ${tx.schema}.retest_cycle c join w on w.id = c.id
       where ${STILL(tx.schema)} and ${guard} order by c.id for update of c)
     update ${tx.schema}.retest_cycle c set ${set}, failure_count = 0, last_error_class = null, version = c.version + 1
     from old where c.id = old.id
     returning c.id, c.patient_id as "patientId", c.brand_id as "brandId", old.status as "from", c.code, c.prompt_count`,
    [JSON.stringify(wanted), now.toISOString()],
  );

const isoOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** When the cycle is prompted again after this prompt. */
function promptAfter({ settingsOf, now }: Sweep, row: OpenCycle): Date | null {
  const due = { retestDueAt: new Date(row.retestDueAt), expiresAt: new Date(row.expiresAt) };
  return nextPromptAt({ ...due, promptCount: row.promptCount + 1, lastPromptedAt: now }, settingsOf(row.brandId));
}

const wantedOf = (row: OpenCycle, next: Date | null): Wanted => ({
  id: row.id,
  prompt_count: row.promptCount,
  last_prompted_at: isoOf(row.lastPromptedAt),
  next_prompt_at: next?.toISOString() ?? null,
});

const DUE = 'c.last_prompted_at is not distinct from w.last_prompted_at and c.expires_at >= $2::timestamptz';
const PROMPTED = `status = 'prompted', prompt_count = c.prompt_count + 1, last_prompted_at = $2::timestamptz, next_prompt_at = old.next_prompt_at`;

async function prompt(sweep: Sweep, tx: Context, rows: readonly OpenCycle[]): Promise<void> {
  const { run, now } = sweep;
  const wanted = rows.map(row => wantedOf(row, promptAfter(sweep, row)));
  const done = await changeThem(tx, wanted, DUE, PROMPTED, now);
  for (const { id, patientId: userId, brandId, from, code, prompt_count } of done) {
    tx.emit(retestPrompted, { code, prompt_count, prompted_at: now.toISOString() }, { userId, brandId });
    tx.audit('retest_cycle.prompted', id, { from, to: Status.PROMPTED, prompt_count, sweep: run.id });
  }
  tx.afterCommit(() => void (run.prompted += done.length));
}

const OVER = 'c.expires_at < $2::timestamptz';
const EXPIRED = `status = 'expired', closed_at = $2::timestamptz, next_prompt_at = null`;

async function expire({ run, now }: Sweep, tx: Context, rows: readonly OpenCycle[]): Promise<void> {
  const done = await changeThem(
    tx,
    rows.map(row => wantedOf(row, null)),
    OVER,
    EXPIRED,
    now,
  );
  for (const { id, patientId: userId, brandId, from, code, prompt_count } of done) {
    tx.emit(retestExpired, { code, prompt_count, expired_at: now.toISOString() }, { userId, brandId });
    tx.audit('retest_cycle.expired', id, { from, to: Status.EXPIRED, prompt_count, sweep: run.id });
  }
  tx.afterCommit(() => void (run.expired += done.length));
}

async function record({ ctx, run }: Sweep, tx: Context, [row]: readonly OpenCycle[]): Promise<void> {
  const { id } = row!;
  const outcome = await recordStored(tx, id, { sweep: run.id });
  if (outcome === 'recorded') tx.afterCommit(() => void run.recorded++);
  if (outcome !== 'not_comparable') return;
  tx.afterCommit(() => void run.failed++);
  tx.afterCommit(() => alarm(ctx, id, NOT_COMPARABLE));
}

const CHANGE = { record, expire, prompt } as const satisfies Record<
  Change,
  (sweep: Sweep, tx: Context, rows: readonly OpenCycle[]) => Promise<void>
>;

/** Alerts operators to a cycle that fails again and again; it is still tried. Source: clinical 7.1.4. */
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

async function writeFailure({ ctx, run }: Sweep, row: OpenCycle, error: unknown): Promise<void> {
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

const noteFailure = (sweep: Sweep, row: OpenCycle, error: unknown): Promise<void> =>
  writeFailure(sweep, row, error).catch(other =>
    sweep.ctx.log.error({ cycle: row.id, error_class: classOf(other) }, 'a failure could not be noted'),
  );

/** Changes cycles in one transaction. */
const changeTogether = (sweep: Sweep, rows: readonly OpenCycle[], change: Change): Promise<void> =>
  sweep.ctx.host.transaction(
    async tx => {
      await tx.sql(`select set_config('statement_timeout', $1, true)`, [String(CYCLE_TIMEOUT_MS)]);
      await CHANGE[change](sweep, tx, rows);
    },
    internalRequest(sweep.ctx.caller, sweep.ctx.request.id),
  );

const changeAlone = (sweep: Sweep, row: OpenCycle, change: Change): Promise<void> =>
  changeTogether(sweep, [row], change).catch(error => noteFailure(sweep, row, error));

/** Where a test has asked for a fault of a cycle, it fails before the others are changed. */
async function withoutFaulty(sweep: Sweep, rows: readonly OpenCycle[]): Promise<OpenCycle[]> {
  const sound: OpenCycle[] = [];
  for (const row of rows)
    try {
      sweep.ctx.host.fault('retest.sweep.cycle', row.id);
      sound.push(row);
    } catch (error) {
      await noteFailure(sweep, row, error);
    }
  return sound;
}

/**
 * Changes cycles, several to a commit. When that fails, all of it is rolled back and each is changed in a transaction of its own, so
 * that a failure takes back one cycle and no other, is written to it, and the batch goes on. Source: spec 1, Re-test cycle 5.
 */
export async function applyTogether(sweep: Sweep, rows: readonly OpenCycle[], change: Change): Promise<void> {
  const sound = await withoutFaulty(sweep, rows);
  if (sound.length === 0) return;
  if (sound.length === 1) return changeAlone(sweep, sound[0]!, change);
  try {
    await changeTogether(sweep, sound, change);
  } catch (error) {
    sweep.ctx.log.warn({ cycles: sound.length, error_class: classOf(error) }, 're-test cycles failed together; each is tried alone');
    for (const row of sound) await changeAlone(sweep, row, change);
  }
}
