import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { partnerAssertion, startPartnerSso, upsertPartner } from '../commands/partner-sso.js';
import { PartnerSsoTicket, SsoPartner } from '../entities/sso.js';
import { StartPartnerSsoInput, UpsertSsoPartnerInput } from '../inputs/sso.js';

@Resolver()
export class PartnerSsoResolver {
  @Access({ service: 'admin:identity|admin:capri' })
  @Prepare(partnerAssertion)
  @Mutation(() => PartnerSsoTicket, {
    description: "Turns a partner's signed assertion about a person into a ticket that signs the person in.",
  })
  startPartnerSso(@Arg('input', () => StartPartnerSsoInput) input: StartPartnerSsoInput, @Ctx() ctx: Context): Promise<PartnerSsoTicket> {
    return startPartnerSso(ctx, input);
  }

  @Access({ service: 'admin:identity' })
  @Mutation(() => SsoPartner, { description: 'Sets a partner up, or changes it. Clients are bound to it by their ssoPartner.' })
  upsertSsoPartner(@Arg('input', () => UpsertSsoPartnerInput) input: UpsertSsoPartnerInput, @Ctx() ctx: Context): Promise<SsoPartner> {
    return upsertPartner(ctx, input);
  }
}
