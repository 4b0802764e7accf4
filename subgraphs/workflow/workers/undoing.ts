import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { errorCodeOf } from '../../../runtime/jobs/redact.js';
import { alarm } from '../commands/notices.js';
import { isFirst } from '../commands/records.js';
import { DEFAULT_RETRY, delayMs, isFinal } from './retry.js';
import { FinalFailure, type StepContext, type WorkflowDefinitionCode } from '../ports/workflow.js';

/** A run that was cancelled. */
export interface CancelledRun {
  id: string;
  definition_key: string;
  user_id: string | null;
}

interface CompensationRow {
  idx: number;
  name: string;
  args: Record<string, unknown>;
  attempts: number;
}

/** A run with nothing to do now is left out: part of it is tried again later. `retry_at` is taken away by the timekeeper. */
export const DUE_TO_CANCEL = `cancel_pending and not exists (
  select 1 from workflow.compensation c where c.run_id = r.id and c.done_at is null and c.retry_at is not null)`;

/** What a run registered and neither did nor gave up, last first. */
const open = (host: ServiceHost, id: string): Promise<CompensationRow[]> =>
  host.read(ctx =>
    ctx.sql<CompensationRow>(
      'select idx, name, args, attempts from workflow.compensation where run_id = $1 and done_at is null and failed_at is null order by idx desc',
      [id],
    ),
  );

/**
 * Undoes what a cancelled run registered, in reverse order. One that fails is tried again with the delays of a step; what is before it
 * waits. One that is given up raises an alarm, and the others are undone all the same. True when nothing is left to do.
 */
export async function undo(
  host: ServiceHost,
  definitions: ReadonlyMap<string, WorkflowDefinitionCode>,
  run: CancelledRun,
): Promise<boolean> {
  const { compensations = {} } = definitions.get(run.definition_key) ?? {};
  for (const row of await open(host, run.id)) {
    try {
      const work = compensations[row.name] ?? unknown;
      await work(stepContext(host, run, row.idx), row.args);
      await host.transaction(ctx => mark(ctx, run, row, `done_at = $3`));
    } catch (error) {
      if (!(await host.transaction(ctx => giveUp(ctx, run, row, error)))) return false;
    }
  }
  return true;
}

async function unknown(): Promise<never> {
  throw new FinalFailure('unknown_compensation');
}

function stepContext(host: ServiceHost, { id: runId, user_id: userId }: CancelledRun, idx: number): StepContext {
  const idempotencyKey = `${runId}:cancel:${idx}`;
  const once: StepContext['once'] = work =>
    host.transaction(async ctx => {
      if (await isFirst(ctx, idempotencyKey, runId)) await work(ctx);
    });
  return { host, runId, userId, idempotencyKey, once };
}

const mark = (ctx: Context, { id }: CancelledRun, { idx }: CompensationRow, change: string, at = ctx.now(), ...more: unknown[]) =>
  ctx.sql(`update workflow.compensation set ${change} where run_id = $1 and idx = $2`, [id, idx, at.toISOString(), ...more]);

/** True when it is the last failure that counts; otherwise it has a time to try again. */
async function giveUp(ctx: Context, run: CancelledRun, row: CompensationRow, error: unknown): Promise<boolean> {
  const code = error instanceof FinalFailure ? error.code : errorCodeOf(error);
  const delay = isFinal(error) ? undefined : DEFAULT_RETRY.delays[row.attempts];
  if (delay !== undefined) {
    const at = new Date(ctx.now().getTime() + delayMs(delay, DEFAULT_RETRY));
    await mark(ctx, run, row, 'attempts = attempts + 1, retry_at = $3, error_code = $4', at, code);
    return false;
  }
  await mark(ctx, run, row, 'attempts = attempts + 1, failed_at = $3, error_code = $4', undefined, code);
  const about = { definition: run.definition_key, run_id: run.id, compensation: row.name, error_code: code };
  ctx.audit('workflow_run.compensation_failed', run.id, about);
  alarm(ctx, 'workflow_compensation_failed', about);
  ctx.afterCommit(() =>
    ctx.log.error({ alarm: 'workflow_compensation_failed', ...about, attempts: row.attempts + 1 }, 'a compensation was given up'),
  );
  return true;
}
