import { databaseProblem } from '../data/transaction.js';
import type { Context, ServiceHost } from '../request/context.js';
import { Problem } from '../request/errors.js';
import type { RequestInfo } from '../request/request.js';
import { toSnake } from '../schema/wire-names.js';
import type { BulkRow } from './rows.js';

export type RowOutcome = 'created' | 'updated' | 'unchanged';

/** What is wrong with a row. `pointer` is into the row. */
interface RowError {
  row: number;
  pointer: string;
  message: string;
}

/** What became of the rows of an import. */
export interface ImportReport {
  rows: number;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
  errors: RowError[];
}

/** Takes a row over; whoever refuses it throws a Problem, and nothing of that row is left. */
export type TakeRow = (ctx: Context, value: Record<string, unknown>) => Promise<RowOutcome>;

/** Ends the transaction of a trial. */
class Trial extends Error {}

/** `/input/subscriptionOffers/0/discountBps` of a command is `/subscription_offers/0/discount_bps` of the row. */
const inRow = (pointer: string): string =>
  pointer
    .replace(/^\/input(?=\/|$)/, '')
    .split('/')
    .map(toSnake)
    .join('/');

function errorsOf(row: number, cause: unknown): RowError[] {
  const error = databaseProblem(cause);
  if (!(error instanceof Problem) || error.status >= 500) throw error;
  const errors = error.options.errors ?? [];
  if (errors.length === 0) return [{ row, pointer: '', message: error.message }];
  return errors.map(({ pointer, message }) => ({ row, pointer: inRow(pointer), message }));
}

async function takeOne(ctx: Context, { number, value }: BulkRow, take: TakeRow, report: ImportReport): Promise<void> {
  if (value === null) {
    report.failed += 1;
    report.errors.push({ row: number, pointer: '', message: 'is no object of JSON, or has a cell that is no JSON' });
    return;
  }
  try {
    const outcome = await ctx.savepoint(() => take(ctx, value));
    report[outcome] += 1;
  } catch (error) {
    report.errors.push(...errorsOf(number, error));
    report.failed += 1;
  }
}

/**
 * Takes rows over in one transaction: a row that is refused is listed and stops no other, what fails otherwise leaves nothing of any.
 * @param isTrial the same answer, and nothing written.
 */
export async function importRows(
  host: ServiceHost,
  request: RequestInfo,
  { rows, isTrial }: { rows: readonly BulkRow[]; isTrial: boolean },
  take: TakeRow,
): Promise<ImportReport> {
  const report: ImportReport = { rows: rows.length, created: 0, updated: 0, unchanged: 0, failed: 0, errors: [] };
  const work = host.transaction(async ctx => {
    for (const row of rows) await takeOne(ctx, row, take, report);
    if (isTrial) throw new Trial();
  }, request);
  await work.catch(error => {
    if (!(error instanceof Trial)) throw error;
  });
  return report;
}
