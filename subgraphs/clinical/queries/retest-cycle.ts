import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { RetestCycle } from '../entities/retest-cycle.js';
import { MyRetestCyclesArgs, RetestCyclesArgs } from '../inputs/retest-cycle.js';
import { among, between, given } from './conditions.js';
import { codeOf } from './dictionary.js';
import { pageOfPatient } from './pages.js';
import { auditRead, readPage } from './read-audit.js';

/** A patient's cycles, newest first; in the request's batch. */
export async function listCycles(ctx: Context, patientId: string, args: MyRetestCyclesArgs): Promise<Connection<RetestCycle>> {
  const where = given({ status: among(args.status) });
  const found = await pageOfPatient(ctx, { entity: RetestCycle, time: 'createdAt', where }, patientId, args);
  await auditRead(ctx, 'retest_cycles', found.nodes);
  return found;
}

/** Cycles of all patients that fit, newest first. */
export async function findCycles(ctx: Context, args: RetestCyclesArgs): Promise<Connection<RetestCycle>> {
  const { patientId, code, status, dueFrom, dueTo, ...paging } = args;
  const where = given({
    patientId,
    code: code && (await codeOf(ctx, code)),
    status: among(status),
    retestDueAt: between(dueFrom, dueTo),
  });
  return readPage(ctx, 'retest_cycles', RetestCycle, where, paging, 'createdAt');
}
