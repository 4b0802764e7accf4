import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import { Rule } from '../../../runtime/schema/constraints.js';
import { partnerAssertion, startPartnerSso, upsertPartner } from '../commands/partner-sso.js';
import { PartnerSsoTicket, SsoPartner } from '../entities/sso.js';
import { User } from '../entities/user.js';
import { StartPartnerSsoInput, UpsertSsoPartnerInput } from '../inputs/sso.js';
import { linkedUser } from '../queries/user.js';

@Resolver()
export class PartnerSsoResolver {
  @Access({ internal: 'partner' })
  @Query(() => User, {
    nullable: true,
    description: "The account that a partner's subject is linked to; null where there is none or it was erased.",
  })
  ssoUser(
    @Rule({ maxLength: 64 }) @Arg('partner', () => String) partner: string,
    @Rule({ maxLength: 255 }) @Arg('subject', () => String) subject: string,
    @Ctx() ctx: Context,
  ): Promise<User | null> {
    return linkedUser(ctx, partner, subject);
  }

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
