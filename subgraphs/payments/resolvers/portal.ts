import { Arg, Ctx, FieldResolver, Mutation, Resolver, Root } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { Url } from '../../../runtime/schema/scalars.js';
import { openPortal, portalFacts } from '../commands/portal.js';
import { BUYERS } from '../entities/access.js';
import { portalUrl } from '../entities/hosted.js';
import { PortalSession } from '../entities/portal-session.js';
import { CreatePortalSessionInput } from '../inputs/portal.js';

@Resolver(() => PortalSession)
export class PortalResolver {
  @Access(BUYERS)
  @Prepare(portalFacts)
  @Mutation(() => PortalSession, { description: 'A way into the billing pages, to be used once within 15 minutes.' })
  createPortalSession(
    @Arg('input', () => CreatePortalSessionInput) input: CreatePortalSessionInput,
    @Ctx() ctx: Context,
  ): Promise<PortalSession> {
    return openPortal(ctx, input);
  }

  @FieldResolver(() => Url)
  url(@Root() session: PortalSession, @Ctx() ctx: Context): string {
    return portalUrl(ctx, session);
  }
}
