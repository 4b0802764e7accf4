import { type FilterQuery, LockMode } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { Context } from '../../../runtime/request/context.js';
import { fail, requireValid } from '../../../runtime/request/errors.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { move } from '../../../runtime/request/states.js';
import { detect } from '../commands/red-flag-detect.js';
import { CheckIn, CheckInConnection, checkInPlace, CheckInTemplate } from '../entities/check-in.js';
import { RedFlagSource } from '../entities/red-flag.js';
import { sealJson } from '../entities/sealed.js';
import { visibleRows } from '../entities/value-access.js';
import { MyCheckInsArgs, SubmitCheckInInput } from '../inputs/check-in.js';
import { pageOfPatient } from '../queries/pages.js';
import { lockPatient } from '../queries/patient.js';
import { CHECK_IN_STATES, violationsOfAnswers } from '../rules/check-in.js';

const loadTemplate = (ctx: Context, id: string): Promise<CheckInTemplate | null> =>
  ctx.load('check_in_template', id, async ids =>
    inOrder(ids, await ctx.em.find(CheckInTemplate, { id: { $in: [...ids] } }), row => row.id),
  );

function checkedAnswers(template: CheckInTemplate, answers: object | null | undefined): Record<string, unknown> {
  const given = (answers ?? {}) as Record<string, unknown>;
  const errors = Array.isArray(given)
    ? [{ pointer: '/input/answers', message: 'must be an object' }]
    : violationsOfAnswers(template.questions, given);
  requireValid(errors);
  return given;
}

@Resolver(() => CheckIn)
export class CheckInResolver {
  @Access({ user: 'read:check_ins' })
  @Query(() => CheckInConnection, { description: 'Own check-ins, newest first.' })
  myCheckIns(@Args(() => MyCheckInsArgs) args: MyCheckInsArgs, @Ctx() ctx: Context): Promise<Connection<CheckIn>> {
    const where = async (ids: readonly string[]) =>
      ({ patientId: { $in: [...ids] }, ...(args.status && { status: { $in: args.status } }) }) as FilterQuery<CheckIn>;
    return pageOfPatient(ctx, { entity: CheckIn, time: 'dueAt', name: 'checkIns', where }, ctx.caller.userId!, args);
  }

  @FieldResolver(() => CheckInTemplate)
  async template(@Root() checkIn: CheckIn, @Ctx() ctx: Context): Promise<CheckInTemplate> {
    return (await loadTemplate(ctx, checkIn.templateId))!;
  }

  @Access({ service: 'admin:clinical', user: 'write:check_ins' })
  @Mutation(() => CheckIn, { description: 'Answers a check-in that is due, or skips it.' })
  async submitCheckIn(@Arg('input', () => SubmitCheckInInput) input: SubmitCheckInInput, @Ctx() ctx: Context): Promise<CheckIn> {
    const where = { id: input.id.toLowerCase(), ...visibleRows(ctx.caller) };
    const found = isUuid(input.id) ? await ctx.em.findOne(CheckIn, where, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
    const row = found ?? fail('not_found', 'Not found');
    await lockPatient(ctx, row.patientId);
    const from = row.status;
    row.status = move(CHECK_IN_STATES, 'check-in', from, input.skip ? 'skip' : 'submit');
    if (!input.skip) {
      const answers = checkedAnswers((await loadTemplate(ctx, row.templateId))!, input.answers);
      Object.assign(row, { submittedAt: ctx.now(), answersSealed: sealJson(ctx, answers, checkInPlace(row.id)) });
      await detect(ctx, row.patientId, RedFlagSource.CHECK_IN, { template: row.templateKey, answers }, [row.id]);
    }
    ctx.audit('check_in.submitted', row.id, { from, to: row.status });
    return row;
  }
}
