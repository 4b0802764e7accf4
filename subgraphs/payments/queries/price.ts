import type { Context } from '../../../runtime/request/context.js';
import { PriceSubjectKind } from '../../../runtime/schema/price-subjects.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { BillingPrice } from '../entities/price.js';

/** The prices for which some plans can be bought, in one statement. */
export async function pricesOfPlans(ctx: Context, planIds: readonly string[]): Promise<BillingPrice[][]> {
  const where = { subjectKind: PriceSubjectKind.MEMBERSHIP_PLAN, subjectId: { $in: planIds.filter(isUuid) }, active: true };
  const rows = await ctx.em.find(BillingPrice, where, { orderBy: { createdAt: 'asc', id: 'asc' } });
  return planIds.map(id => rows.filter(row => row.subjectId === id));
}
