import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { loadRow } from '../../../runtime/data/rows.js';
import { WorkflowRun } from '../entities/run.js';
import { READERS } from '../entities/enums.js';
import { CriticalAlert, LoopTick, User } from '../stubs.js';
import { runIdOf } from '../rules/run.js';
import { loadRunOfTick, loadRunsOfUser } from '../queries/run.js';

@Resolver(() => User)
export class UserRunsResolver {
  @Access(READERS)
  @FieldResolver(() => [WorkflowRun], { description: 'The newest 20 runs that concern the user.' })
  async workflowRuns(@Root() { id }: User, @Ctx() ctx: Context): Promise<WorkflowRun[]> {
    return isUuid(id) ? loadRunsOfUser(ctx, id) : [];
  }
}

@Resolver(() => CriticalAlert)
export class AlertRunResolver {
  @Access(READERS)
  @FieldResolver(() => WorkflowRun, { nullable: true, description: 'The run that escalates it.' })
  workflowRun(@Root() { id }: CriticalAlert, @Ctx() ctx: Context): Promise<WorkflowRun | null> {
    return loadRow(ctx, WorkflowRun, 'id', runIdOf('critical_lab_escalation', id.toLowerCase()));
  }
}

@Resolver(() => LoopTick)
export class TickRunResolver {
  @Access(READERS)
  @FieldResolver(() => WorkflowRun, { nullable: true, description: 'The run that asked for it.' })
  workflowRun(@Root() { id }: LoopTick, @Ctx() ctx: Context): Promise<WorkflowRun | null> {
    return loadRunOfTick(ctx, id);
  }
}
