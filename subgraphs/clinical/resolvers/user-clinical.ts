import { Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { HealthScore } from '../entities/health-score.js';
import { Intervention, InterventionConnection } from '../entities/intervention.js';
import { BiomarkerObservation, ObservationConnection } from '../entities/observation.js';
import { RedFlag } from '../entities/red-flag.js';
import { RetestCycle, RetestCycleConnection } from '../entities/retest-cycle.js';
import { ClinicalGuard, GUARD_READERS, UserClinical } from '../entities/user-clinical.js';
import { hidesCritical, visibleRows } from '../entities/value-access.js';
import { MyInterventionsArgs } from '../inputs/intervention.js';
import { MyObservationsArgs } from '../inputs/observation.js';
import { MyRetestCyclesArgs } from '../inputs/retest-cycle.js';
import { newestScore } from '../queries/health-score.js';
import { listObservations } from '../queries/observation.js';
import { listCycles } from '../queries/retest-cycle.js';
import { listInterventions, listRedFlags, loadGuard } from '../queries/user-clinical.js';
import { User } from '../stubs.js';

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

@Resolver(() => User)
export class ClinicalGuardResolver {
  @Access(GUARD_READERS)
  @FieldResolver(() => ClinicalGuard, { nullable: true, description: 'What must stop a recommendation.' })
  clinicalGuard(@Root() user: User, @Ctx() ctx: Context): Promise<ClinicalGuard | null> {
    return loadGuard(ctx, user.id);
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

  @Access({ ...OF_STAFF_AND_SERVICES, user: 'read:clinical' })
  @FieldResolver(() => HealthScore, { description: 'The newest score.' })
  healthScore(@Root() { patientId }: UserClinical, @Ctx() ctx: Context): Promise<HealthScore> {
    return newestScore(ctx, patientId);
  }

  @Access({ ...OF_STAFF_AND_SERVICES, user: 'read:red_flags' })
  @FieldResolver(() => [RedFlag], { description: 'The 20 newest; for a member those that are visible.' })
  async redFlags(@Root() { patientId }: UserClinical, @Ctx() ctx: Context): Promise<RedFlag[]> {
    return (await listRedFlags(ctx, patientId, { first: 20 }, !hidesCritical(ctx.caller))).nodes;
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
