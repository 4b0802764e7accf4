import { type FilterQuery, LockMode } from '@mikro-orm/postgresql';
import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { inOrder } from '../../../runtime/data/loaders.js';
import { actorOf } from '../../../runtime/request/caller.js';
import { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { type Connection, page, PageArgs } from '../../../runtime/request/paging.js';
import { move } from '../../../runtime/request/states.js';
import { auditRead } from '../commands/read-audit.js';
import { RedFlag, RedFlagConnection, redFlagPlace, RedFlagRule, visibleAt } from '../entities/red-flag.js';
import { sealJson } from '../entities/sealed.js';
import { DismissRedFlagInput, RedFlagsArgs, ResolveRedFlagInput } from '../inputs/red-flag.js';
import { pageOfPatient } from '../queries/pages.js';
import { RED_FLAG_STATES, type RedFlagTrigger } from '../rules/red-flag.js';

/** A patient's flags, newest first; in the request's batch. A member's own ones only when they are visible. */
export async function listRedFlags(ctx: Context, patientId: string, args: PageArgs, all: boolean): Promise<Connection<RedFlag>> {
  const where = async (ids: readonly string[]) =>
    ({ patientId: { $in: [...ids] }, ...(all ? {} : visibleAt(ctx.now())) }) as FilterQuery<RedFlag>;
  const found = await pageOfPatient(ctx, { entity: RedFlag, time: 'detectedAt', name: `redFlags.${all}`, where }, patientId, args);
  await auditRead(ctx, 'red_flags', found.nodes);
  return found;
}

async function changed(ctx: Context, id: string, trigger: RedFlagTrigger): Promise<RedFlag> {
  const found = isUuid(id) ? await ctx.em.findOne(RedFlag, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE }) : null;
  const flag = found ?? fail('not_found', 'Not found');
  const from = flag.status;
  flag.status = move(RED_FLAG_STATES, 'red flag', from, trigger);
  ctx.audit(`red_flag.${trigger}`, flag.id, { from, to: flag.status });
  return flag;
}

function conclude(ctx: Context, flag: RedFlag, resolution: string): RedFlag {
  const detailsSealed = sealJson(ctx, { ...flag.open(ctx), resolution }, redFlagPlace(flag.id));
  return Object.assign(flag, { resolvedAt: ctx.now(), detailsSealed });
}

@Resolver(() => RedFlag)
export class RedFlagResolver {
  @Access({ user: 'read:red_flags' })
  @Query(() => RedFlagConnection, { description: 'Own red flags that are visible, newest first.' })
  myRedFlags(@Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<RedFlag>> {
    return listRedFlags(ctx, ctx.caller.userId!, args, false);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', internal: ['workflow'] })
  @Query(() => RedFlagConnection, { description: 'Red flags, newest first.' })
  async redFlags(
    @Args(() => RedFlagsArgs) { status, severity, userId, ...paging }: RedFlagsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<RedFlag>> {
    const where = {
      ...(status && { status: { $in: status } }),
      ...(severity && { severity: { $in: severity } }),
      ...(userId && { patientId: userId }),
    };
    const found = await page<RedFlag>(ctx.em, RedFlag, where as FilterQuery<RedFlag>, paging, { time: 'detectedAt' });
    await auditRead(ctx, 'red_flags', found.nodes);
    return found;
  }

  @FieldResolver(() => RedFlagRule)
  async rule(@Root() flag: RedFlag, @Ctx() ctx: Context): Promise<RedFlagRule> {
    const rule = await ctx.load('red_flag_rule', flag.ruleId, async ids =>
      inOrder(ids, await ctx.em.find(RedFlagRule, { id: { $in: [...ids] } }), row => row.id),
    );
    return rule!;
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:alerts' })
  @Mutation(() => RedFlag, { description: 'A clinician has seen it.' })
  async acknowledgeRedFlag(@Arg('id', () => String) id: string, @Ctx() ctx: Context): Promise<RedFlag> {
    return Object.assign(await changed(ctx, id, 'acknowledge'), { acknowledgedBy: actorOf(ctx.caller), acknowledgedAt: ctx.now() });
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:alerts' })
  @Mutation(() => RedFlag, { description: 'What was done about it.' })
  async resolveRedFlag(@Arg('input', () => ResolveRedFlagInput) input: ResolveRedFlagInput, @Ctx() ctx: Context): Promise<RedFlag> {
    return conclude(ctx, await changed(ctx, input.id, 'resolve'), input.resolution);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:alerts' })
  @Mutation(() => RedFlag, { description: 'It was no danger; the reason is kept.' })
  async dismissRedFlag(@Arg('input', () => DismissRedFlagInput) input: DismissRedFlagInput, @Ctx() ctx: Context): Promise<RedFlag> {
    return conclude(ctx, await changed(ctx, input.id, 'dismiss'), input.reason);
  }
}
