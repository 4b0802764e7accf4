import type { Context } from '../../../runtime/request/context.js';
import type { PersonalData } from '../entities/cart.js';

/** Seals snapshots of a row, bound to its table and id; null where nothing is in them. Source: commerce 2, mark E. */
export function sealPersonal(ctx: Context, data: PersonalData | null, table: string, id: string): Buffer | null {
  if (!data || Object.values(data).every(one => one === null)) return null;
  return ctx.host.sealer.seal(JSON.stringify(data), `${table}:${id}`);
}

export const NOBODY: PersonalData = { shippingAddress: null, billingAddress: null, recipientName: null, phone: null };
