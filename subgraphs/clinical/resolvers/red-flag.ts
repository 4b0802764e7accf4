import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { Context } from '../../../runtime/request/context.js';
import { type Connection, PageArgs } from '../../../runtime/request/paging.js';
import { acknowledgeRedFlag, endFlag } from '../commands/red-flag.js';
import { RedFlag, RedFlagConnection, RedFlagRule } from '../entities/red-flag.js';
import { DismissRedFlagInput, RedFlagsArgs, ResolveRedFlagInput } from '../inputs/red-flag.js';
import { among, given } from '../queries/conditions.js';
import { readPage } from '../queries/read-audit.js';
import { listRedFlags } from '../queries/user-clinical.js';

@Resolver(() => RedFlag)
export class RedFlagResolver {
  @Access({ user: 'read:red_flags' })
  @Query(() => RedFlagConnection, { description: 'Own red flags that are visible, newest first.' })
  myRedFlags(@Args(() => PageArgs) args: PageArgs, @Ctx() ctx: Context): Promise<Connection<RedFlag>> {
    return listRedFlags(ctx, ctx.caller.userId!, args, false);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', internal: ['workflow', 'comms'] })
  @Query(() => RedFlagConnection, { description: 'Red flags, newest first.' })
  redFlags(
    @Args(() => RedFlagsArgs) { status, severity, userId, ...paging }: RedFlagsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<RedFlag>> {
    const where = given({ status: among(status), severity: among(severity), patientId: userId });
    return readPage(ctx, 'red_flags', RedFlag, where, paging, 'detectedAt');
  }

  @FieldResolver(() => RedFlagRule)
  rule(@Root() flag: RedFlag, @Ctx() ctx: Context): Promise<RedFlagRule | null> {
    return loadRow(ctx, RedFlagRule, 'id', flag.ruleId);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:alerts' })
  @Mutation(() => RedFlag, { description: 'A clinician has seen it.' })
  acknowledgeRedFlag(@Arg('id', () => String) id: string, @Ctx() ctx: Context): Promise<RedFlag> {
    return acknowledgeRedFlag(ctx, id);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:alerts' })
  @Mutation(() => RedFlag, { description: 'What was done about it.' })
  resolveRedFlag(@Arg('input', () => ResolveRedFlagInput) input: ResolveRedFlagInput, @Ctx() ctx: Context): Promise<RedFlag> {
    return endFlag(ctx, input.id, 'resolve', input.resolution);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:alerts' })
  @Mutation(() => RedFlag, { description: 'It was no danger; the reason is kept.' })
  dismissRedFlag(@Arg('input', () => DismissRedFlagInput) input: DismissRedFlagInput, @Ctx() ctx: Context): Promise<RedFlag> {
    return endFlag(ctx, input.id, 'dismiss', input.reason);
  }
}
