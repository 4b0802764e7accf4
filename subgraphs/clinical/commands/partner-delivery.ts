import type { Context } from '../../../runtime/request/context.js';
import { protocolOf } from '../commands/intervention-life.js';
import type { PartnerFacts } from '../commands/partner-treatment.js';
import { Intervention } from '../entities/intervention.js';
import { DEFAULT_STABILITY_DAYS, Vial } from '../entities/vial.js';
import { dateIn, plusDays } from '../rules/intervention.js';
import { productsOf } from '../rules/partner.js';
import { DELIVERED_KEEPS_DAYS, dosesOfDelivery } from '../rules/vial.js';
import { newVial } from './vial.js';

/** The intervention that an order of the partner is for; null where partner knows none. */
async function interventionOf(ctx: Context, patientId: string, orderRef: string, { treatments }: PartnerFacts): Promise<Intervention | null> {
  const treatment = treatments.find(one => one.orders.some(order => order.orderRef === orderRef));
  return treatment ? ctx.em.findOne(Intervention, { patientId, partnerTreatmentRef: treatment.treatmentRef }) : null;
}

/** What was delivered of a partner's order. */
interface Delivery {
  orderRef: string;
  at: Date;
}

/**
 * Registers a vial of each product of the treatment that an order was for, once per order. A treatment without doses of ours brings
 * one of the program itself. Source: clinical 5, consumed.
 */
export async function deliverVials(ctx: Context, patientId: string, { orderRef, at }: Delivery, facts: PartnerFacts): Promise<void> {
  const one = await interventionOf(ctx, patientId, orderRef, facts);
  if (!one) return ctx.log.warn({ order: orderRef }, 'a delivery of the partner belongs to no treatment that is known here');
  const phases = (await protocolOf(ctx, one))?.phases ?? [];
  const products = productsOf(phases);
  const expiresOn = plusDays(dateIn(one.timeZone, at), DELIVERED_KEEPS_DAYS);
  const common = { patientId, expiresOn, stabilityDays: DEFAULT_STABILITY_DAYS, interventionId: one.id };
  for (const productCode of products.length ? products : [one.key]) {
    const sourceRef = `partner:${orderRef}:${productCode}`;
    if (await ctx.em.count(Vial, { sourceRef })) continue;
    newVial(ctx, { ...common, productCode, dosesPlanned: dosesOfDelivery(phases, productCode), sourceRef });
  }
}
