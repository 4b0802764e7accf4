import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { changeFacts, changeIntervention, startFacts, startIntervention } from '../commands/intervention.js';
import { Intervention, InterventionConnection } from '../entities/intervention.js';
import { ChangeInterventionInput, InterventionsArgs, MyInterventionsArgs, StartInterventionInput } from '../inputs/intervention.js';
import { phaseOf } from '../queries/dictionary.js';
import { listInterventions } from '../queries/user-clinical.js';

@Resolver(() => Intervention)
export class InterventionResolver {
  @Access({ service: 'admin:clinical', staff: 'admin:clinical:read', internal: ['workflow'] })
  @Query(() => InterventionConnection, { description: "A patient's protocols and stacks, newest first." })
  interventions(
    @Args(() => InterventionsArgs) { userId, ...args }: InterventionsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<Intervention>> {
    return listInterventions(ctx, userId.toLowerCase(), args);
  }

  @Access({ user: 'read:protocols' })
  @Query(() => InterventionConnection, { description: 'Own protocols and stacks, newest first.' })
  myInterventions(@Args(() => MyInterventionsArgs) args: MyInterventionsArgs, @Ctx() ctx: Context): Promise<Connection<Intervention>> {
    return listInterventions(ctx, ctx.caller.userId!, args);
  }

  @FieldResolver(() => String, { nullable: true, description: 'Phase of the protocol that today lies in, while it runs.' })
  phase(@Root() one: Intervention, @Ctx() ctx: Context): Promise<string | null> {
    return phaseOf(ctx, one);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:protocols', user: 'write:protocols', self: true })
  @Prepare(startFacts)
  @Mutation(() => Intervention, {
    description: 'Starts a protocol or stack; one that staff starts is a proposal, one that needs a consult waits for it.',
  })
  startIntervention(@Arg('input', () => StartInterventionInput) input: StartInterventionInput, @Ctx() ctx: Context): Promise<Intervention> {
    return startIntervention(ctx, input, startFacts.of(ctx));
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:protocols', user: 'write:protocols' })
  @Prepare(changeFacts)
  @Mutation(() => Intervention, { description: 'Activates, pauses, resumes, stops or completes an intervention.' })
  changeIntervention(
    @Arg('input', () => ChangeInterventionInput) input: ChangeInterventionInput,
    @Ctx() ctx: Context,
  ): Promise<Intervention> {
    return changeIntervention(ctx, input, changeFacts.of(ctx));
  }
}
