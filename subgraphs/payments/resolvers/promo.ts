import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { Context } from '../../../runtime/request/context.js';
import { Prepare } from '../../../runtime/request/operation.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { createPromo, updatePromo } from '../commands/promo-admin.js';
import { commitOrderPromo, releaseOrderPromo, reserveOrderPromo } from '../commands/promo-hold.js';
import { promoTry, validatePromo } from '../commands/promo-validation.js';
import { SERVICES_ONLY, staffWith } from '../entities/access.js';
import { PromoHold, PromoValidation } from '../entities/promo-answer.js';
import { Promo, PromoConnection } from '../entities/promo.js';
import { CreatePromoInput, PromosArgs, ReservePromoInput, UpdatePromoInput, ValidatePromoInput } from '../inputs/promo.js';
import { promoBrand } from '../ports/default-brand.js';
import { promosPage } from '../queries/promo.js';

/** Whoever may buy may try a code. Source: payments 4.1. */
const ANY_TOKEN = { service: '*', user: '*', staff: '*', self: true } as const;

@Resolver(() => Promo)
export class PromoResolver {
  @Access(staffWith('promo:read'))
  @Query(() => PromoConnection, { description: 'Promos, newest first.' })
  promos(@Args(() => PromosArgs) args: PromosArgs, @Ctx() ctx: Context): Promise<Connection<Promo>> {
    return promosPage(ctx, args);
  }

  @Access(staffWith('promo:write'))
  @Prepare(promoBrand)
  @Mutation(() => Promo, { description: 'Makes a promo; without a start it is good at once.' })
  createPromo(@Arg('input', () => CreatePromoInput) input: CreatePromoInput, @Ctx() ctx: Context): Promise<Promo> {
    return createPromo(ctx, input, promoBrand.of(ctx));
  }

  @Access(staffWith('promo:write'))
  @Mutation(() => Promo, { description: 'Disables a promo for good, or moves its end and its limits.' })
  updatePromo(@Arg('input', () => UpdatePromoInput) input: UpdatePromoInput, @Ctx() ctx: Context): Promise<Promo> {
    return updatePromo(ctx, input);
  }

  @Access(ANY_TOKEN)
  @Prepare(promoTry)
  @Mutation(() => PromoValidation, { description: 'What a code would do. A refused one is an answer, too; nothing is reserved.' })
  validatePromo(@Arg('input', () => ValidatePromoInput) input: ValidatePromoInput, @Ctx() ctx: Context): Promise<PromoValidation> {
    return validatePromo(ctx, input);
  }

  @Access(SERVICES_ONLY)
  @Mutation(() => PromoHold, { description: 'Holds a code for an order until it is committed or released. Again: the same hold.' })
  reservePromo(@Arg('input', () => ReservePromoInput) input: ReservePromoInput, @Ctx() ctx: Context): Promise<PromoHold> {
    return reserveOrderPromo(ctx, input);
  }

  @Access(SERVICES_ONLY)
  @Mutation(() => PromoHold, { description: 'The order is paid. After a release it is counted, never refused.' })
  commitPromoRedemption(@Arg('orderId', () => ID) orderId: string, @Ctx() ctx: Context): Promise<PromoHold> {
    return commitOrderPromo(ctx, orderId);
  }

  @Access(SERVICES_ONLY)
  @Mutation(() => PromoHold, { description: 'The order is not going to be paid.' })
  releasePromoRedemption(@Arg('orderId', () => ID) orderId: string, @Ctx() ctx: Context): Promise<PromoHold> {
    return releaseOrderPromo(ctx, orderId);
  }
}
