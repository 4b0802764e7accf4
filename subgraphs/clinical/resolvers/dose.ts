import { type FilterQuery, LockMode } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import { type Connection, page } from '../../../runtime/request/paging.js';
import { auditRead } from '../commands/read-audit.js';
import { DoseLog, DoseLogConnection, DoseLogStatus as Status, dosePlace } from '../entities/dose.js';
import { sealJson } from '../entities/sealed.js';
import { visibleRows } from '../entities/value-access.js';
import { DoseResult, DosesArgs, LogDoseInput, MyDosesArgs } from '../inputs/dose.js';
import { logDecision } from '../rules/dose.js';
import { takeFrom } from './vial.js';

async function listDoses(ctx: Context, userIds: readonly string[], { from, to, ...paging }: MyDosesArgs): Promise<Connection<DoseLog>> {
  const scheduledFor = { ...(from && { $gte: from }), ...(to && { $lte: to }) };
  const where = { patientId: { $in: [...userIds] }, ...(Object.keys(scheduledFor).length && { scheduledFor }) } as FilterQuery<DoseLog>;
  const found = await page<DoseLog>(ctx.em, DoseLog, where, paging, { time: 'scheduledFor' });
  await auditRead(ctx, 'doses', found.nodes);
  return found;
}

@Resolver(() => DoseLog)
export class DoseResolver {
  @Access({ user: 'read:protocols' })
  @Query(() => DoseLogConnection, { description: 'Own doses, the latest first.' })
  myDoses(@Args(() => MyDosesArgs) args: MyDosesArgs, @Ctx() ctx: Context): Promise<Connection<DoseLog>> {
    return listDoses(ctx, [ctx.caller.userId!], args);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', internal: ['patient-graph', 'jobs'] })
  @Query(() => DoseLogConnection, { description: 'Doses of up to 100 patients, the latest first.' })
  doses(@Args(() => DosesArgs) { userIds, ...args }: DosesArgs, @Ctx() ctx: Context): Promise<Connection<DoseLog>> {
    return listDoses(
      ctx,
      userIds.map(id => id.toLowerCase()),
      args,
    );
  }

  @Access({ service: 'admin:clinical', user: 'write:protocols' })
  @Mutation(() => DoseLog, { description: 'A dose was taken or skipped; taken twice is the same dose.' })
  async logDose(@Arg('input', () => LogDoseInput) input: LogDoseInput, @Ctx() ctx: Context): Promise<DoseLog> {
    const where = { id: input.id.toLowerCase(), ...visibleRows(ctx.caller) };
    const found = isUuid(input.id) ? await ctx.em.findOne(DoseLog, where, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
    const row = found ?? fail('not_found', 'Not found');
    const takenAt = input.takenAt ?? ctx.now();
    const { refusal, repeated, errors } = logDecision(row, { status: input.status, takenAt, quantity: input.quantity ?? null }, ctx.now());
    if (repeated) return row;
    requireValid(errors);
    if (refusal) fail('conflict', refusal);
    const taken = input.status === DoseResult.TAKEN;
    row.vialId = input.vialId?.toLowerCase() ?? row.vialId;
    if (taken && row.vialId) await takeFrom(ctx, row.vialId, row.patientId);
    const { quantity, note } = row.open(ctx);
    const details = { quantity: input.quantity ? { ...input.quantity } : quantity, note: input.note ?? note };
    Object.assign(row, {
      status: taken ? Status.TAKEN : Status.SKIPPED,
      takenAt: taken ? takenAt : null,
      site: input.site ?? null,
      detailsSealed: sealJson(ctx, details, dosePlace(row.id)),
    });
    ctx.audit('dose.logged', row.id, { status: row.status });
    return row;
  }
}
