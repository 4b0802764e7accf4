import { defineEvent } from '../define.js';
import { bool, code, cur, data, id, int, list, minor, ref, ts } from '../payload.js';

const owner = 'commerce' as const;

export const cartMerged = defineEvent('commerce.cart.merged.v1',
  data({ cart_id: id(), guest_cart_id: id(), brand_id: id(), items_moved: int(2), items_summed: int(), items_capped: int(0), items_dropped: int(0) }),
  { owner, when: "A guest cart joins the member's at sign-in.", user: 'required', scope: null },
);

export const orderPlaced = defineEvent('order.placed.v1',
  data({
    order_id: id(), order_number: code('acme-00000042'), brand_id: id(), source: code('storefront'), currency: cur(), subtotal_amount: minor(4900),
    discount_amount: minor(0), shipping_amount: minor(0), tax_amount: minor(0), total_amount: minor(4900), item_count: int(2),
    items: list(data({ product_id: id(), variant_id: id(), quantity: int(), total_amount: minor(4900) })), promo_id: id().nullable(),
    affiliate_code: ref('JANE10').nullable(), subscription_id: id().nullable(), first_order: bool(), placed_at: ts(),
  }),
  {
    owner, when: 'An order becomes PLACED; the user is null for a guest or channel order.', user: 'optional', scope: null,
    consumers: ['comms', 'entitlements', 'labs', 'membership', 'payments'],
  },
);
