import { Args, Ctx, FieldResolver, ObjectType, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access.js';
import { Context } from '../../../runtime/context.js';
import type { Connection } from '../../../runtime/page.js';
import { BiomarkerObservation } from '../entities/observation.js';
import { Intervention } from '../entities/intervention.js';
import { RetestCycle } from '../entities/retest-cycle.js';
import { visibleRows } from '../entities/value-access.js';
import { MyInterventionsArgs } from '../inputs/intervention.js';
import { MyObservationsArgs } from '../inputs/observation.js';
import { MyRetestCyclesArgs } from '../inputs/retest-cycle.js';
import { User } from '../references/types.js';
import { InterventionConnection, listInterventions } from './intervention.js';
import { listObservations, ObservationConnection } from './observation.js';
import { listCycles, RetestCycleConnection } from './retest-cycle.js';

/** A user's part in this service; each list has its own rule. */
@ObjectType({ description: 'What the clinical service holds about a user.' })
export class UserClinical {
  patientId: string;
}

const OF_STAFF_AND_SERVICES = { service: 'admin:clinical', staff: 'admin:clinical:read' } as const;

/** `User.clinical`: services and clinicians for anybody, a member for itself. */
@Resolver(() => User)
export class UserResolver {
  @Access({ ...OF_STAFF_AND_SERVICES, user: '*' })
  @FieldResolver(() => UserClinical, { nullable: true, description: 'Clinical data; null for another user.' })
  clinical(@Root() user: User, @Ctx() ctx: Context): UserClinical | null {
    const { patientId = user.id } = visibleRows(ctx.caller);
    return patientId === user.id ? { patientId } : null;
  }
}

@Resolver(() => UserClinical)
export class UserClinicalResolver {
  @Access({ ...OF_STAFF_AND_SERVICES, user: 'read:biomarkers' })
  @FieldResolver(() => ObservationConnection, { description: 'Results, newest draw first.' })
  observations(
    @Root() { patientId }: UserClinical,
    @Args(() => MyObservationsArgs) args: MyObservationsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<BiomarkerObservation>> {
    return listObservations(ctx, patientId, args);
  }

  @Access({ ...OF_STAFF_AND_SERVICES, user: 'read:protocols' })
  @FieldResolver(() => InterventionConnection, { description: 'Protocols and stacks, newest first.' })
  interventions(
    @Root() { patientId }: UserClinical,
    @Args(() => MyInterventionsArgs) args: MyInterventionsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<Intervention>> {
    return listInterventions(ctx, patientId, args);
  }

  @Access({ ...OF_STAFF_AND_SERVICES, user: 'read:my_outcomes' })
  @FieldResolver(() => RetestCycleConnection, { description: 'Re-test cycles, newest first.' })
  retestCycles(
    @Root() { patientId }: UserClinical,
    @Args(() => MyRetestCyclesArgs) args: MyRetestCyclesArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<RetestCycle>> {
    return listCycles(ctx, patientId, args);
  }
}
