import { Arg, Args, Ctx, FieldResolver, Mutation, Query, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { type Connection, page } from '../../../runtime/request/paging.js';
import { acknowledgeCriticalAlert, closeCriticalAlert, recordCriticalAlertContact } from '../commands/critical-alert.js';
import { ALERT_READERS, CriticalAlert, CriticalAlertConnection } from '../entities/critical-alert.js';
import { BiomarkerObservation } from '../entities/observation.js';
import { CloseCriticalAlertInput, CriticalAlertsArgs, RecordCriticalAlertContactInput } from '../inputs/critical-alert.js';
import { among, given } from '../queries/conditions.js';
import { readObservation } from '../queries/observation.js';

@Resolver(() => CriticalAlert)
export class CriticalAlertResolver {
  @Access(ALERT_READERS)
  @Query(() => CriticalAlertConnection, { description: 'Critical alerts, newest first.' })
  criticalAlerts(
    @Args(() => CriticalAlertsArgs) { status, observationId, userId, ...paging }: CriticalAlertsArgs,
    @Ctx() ctx: Context,
  ): Promise<Connection<CriticalAlert>> {
    const where = given({ status: among(status), observationId, patientId: userId });
    return page(ctx.em, CriticalAlert, where, paging, { time: 'createdAt' });
  }

  @FieldResolver(() => BiomarkerObservation, { nullable: true })
  observation(@Root() alert: CriticalAlert, @Ctx() ctx: Context): Promise<BiomarkerObservation | null> {
    return readObservation(ctx, alert.observationId);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:alerts' })
  @Mutation(() => CriticalAlert, { description: 'A clinician has seen it; from now on the member may see the value.' })
  acknowledgeCriticalAlert(@Arg('id', () => String) id: string, @Ctx() ctx: Context): Promise<CriticalAlert> {
    return acknowledgeCriticalAlert(ctx, id);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:alerts' })
  @Mutation(() => CriticalAlert, { description: 'Notes a try to reach the patient.' })
  recordCriticalAlertContact(
    @Arg('input', () => RecordCriticalAlertContactInput) input: RecordCriticalAlertContactInput,
    @Ctx() ctx: Context,
  ): Promise<CriticalAlert> {
    return recordCriticalAlertContact(ctx, input);
  }

  @Access({ service: 'admin:clinical', staff: 'admin:clinical:alerts' })
  @Mutation(() => CriticalAlert, { description: 'Ends an acknowledged alert.' })
  closeCriticalAlert(
    @Arg('input', () => CloseCriticalAlertInput) input: CloseCriticalAlertInput,
    @Ctx() ctx: Context,
  ): Promise<CriticalAlert> {
    return closeCriticalAlert(ctx, input);
  }
}
