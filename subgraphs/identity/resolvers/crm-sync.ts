import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { CrmSyncCandidate, CrmSyncCandidateConnection } from '../entities/crm-sync.js';
import { CrmSyncArgs } from '../inputs/user.js';
import { crmCandidates } from '../queries/crm-sync.js';

@Resolver()
export class CrmSyncResolver {
  @Access({ service: 'admin:identity' })
  @Query(() => CrmSyncCandidateConnection, {
    description: 'Users who have changed, one row each, the longest ago first; erased ones for 90 days.',
  })
  crmSyncCandidates(@Args(() => CrmSyncArgs) args: CrmSyncArgs, @Ctx() ctx: Context): Promise<Connection<CrmSyncCandidate>> {
    return crmCandidates(ctx, args);
  }
}
