import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import type { GiftDelivery } from '../entities/gift-answer.js';
import { Gift } from '../entities/gift.js';
import { opened } from '../entities/sealed.js';
import { groupedCode, isRedeemable } from '../rules/gift.js';

/** As its purchaser reads it; null to everybody else, and once it is worth nothing. */
export const codeFor = (ctx: Context, gift: Gift): string | null => {
  if (ctx.caller.kind !== 'user' || ctx.caller.userId !== gift.purchaserId || gift.redeemedById !== null) return null;
  const code = opened<string>(ctx, gift.codeSealed, 'gift_code', gift.id);
  return code && groupedCode(code);
};

/** What a user has given and got, newest first; one statement for many users. */
export async function giftsOf(ctx: Context, userIds: readonly string[]): Promise<Gift[][]> {
  const ids = [...userIds];
  const rows = await ctx.em.find(
    Gift,
    { $or: [{ purchaserId: { $in: ids } }, { redeemedById: { $in: ids } }] },
    { orderBy: { createdAt: 'desc', id: 'desc' } },
  );
  return userIds.map(id => rows.filter(gift => gift.purchaserId === id || gift.redeemedById === id));
}

/** Address and code of a gift that is to be brought. @throws Problem not_found unless it is on its way. */
export async function deliveryOf(ctx: Context, giftId: string): Promise<GiftDelivery> {
  const gift = await findRow(ctx, Gift, { id: giftId });
  if (!gift || !isRedeemable(gift.status) || !gift.codeSealed || !gift.recipientEmailSealed) fail('not_found', 'No gift is on its way');
  return {
    email: opened<string>(ctx, gift.recipientEmailSealed, 'gift_recipient_email', gift.id)!,
    name: opened<string>(ctx, gift.recipientNameSealed, 'gift_recipient_name', gift.id),
    code: groupedCode(opened<string>(ctx, gift.codeSealed, 'gift_code', gift.id)!),
    message: opened<string>(ctx, gift.messageSealed, 'gift_message', gift.id),
  };
}
