import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { IdentityAuditConnection, IdentityAuditEntry } from '../entities/audit.js';
import { IdentityAuditArgs } from '../inputs/audit.js';
import { auditPage } from '../queries/audit.js';

@Resolver()
export class AuditResolver {
  @Access({ service: 'admin:identity', staff: 'admin:identity:read' })
  @Query(() => IdentityAuditConnection, { description: 'What was done to accounts, apps, consents and tokens, newest first.' })
  identityAudit(@Args(() => IdentityAuditArgs) args: IdentityAuditArgs, @Ctx() ctx: Context): Promise<Connection<IdentityAuditEntry>> {
    return auditPage(ctx, args);
  }
}
