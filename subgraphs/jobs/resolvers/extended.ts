import { Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { Job } from '../entities/job.js';
import { JobQueue } from '../entities/queue.js';
import { READERS } from '../entities/enums.js';
import { PlatformService, User } from '../stubs.js';
import { loadJobsOfUser } from '../queries/job.js';
import { loadQueuesOfService } from '../queries/queue.js';

@Resolver(() => User)
export class UserJobsResolver {
  @Access(READERS)
  @FieldResolver(() => [Job], { description: 'The newest 20 jobs that concern the user.' })
  async jobs(@Root() { id }: User, @Ctx() ctx: Context): Promise<Job[]> {
    return isUuid(id) ? loadJobsOfUser(ctx, id) : [];
  }
}

@Resolver(() => PlatformService)
export class ServiceQueuesResolver {
  @Access(READERS)
  @FieldResolver(() => [JobQueue], { description: 'Queues that the service works.' })
  jobQueues(@Root() { slug }: PlatformService, @Ctx() ctx: Context): Promise<JobQueue[]> {
    return loadQueuesOfService(ctx, slug);
  }
}
