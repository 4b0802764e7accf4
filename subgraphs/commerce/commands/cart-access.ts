import { randomBytes } from 'node:crypto';
import type { FilterQuery } from '@mikro-orm/postgresql';
import { sha256 } from '../../../runtime/data/crypto.js';
import { findRow, lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { Cart } from '../entities/cart.js';
import { CartStatus } from '../entities/enums.js';

const TOKEN_BYTES = 32;

/** A token of a guest cart, and what of it is stored. */
export function newGuestToken(): { token: string; hash: Buffer } {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, hash: sha256(token) };
}

export const isCommerce = ({ caller }: Context): boolean =>
  caller.kind === 'system' || (caller.kind === 'service' && caller.scopes.has('admin:commerce'));

/**
 * Which carts a caller may reach: services all, a member the own ones, whoever bears a token the guest cart of that token. A wrong
 * token, an unknown id and another's cart find the same nothing. Source: commerce 7.12.
 */
function reachable(ctx: Context, id: string, guestToken: string | null | undefined): FilterQuery<Cart> {
  if (isCommerce(ctx)) return { id };
  const token = guestToken ?? ctx.request.guestToken;
  if (token != null) return { id, userId: null, guestTokenHash: sha256(token) };
  return { id, userId: ctx.caller.userId ?? '00000000-0000-0000-0000-000000000000' };
}

export const findCart = (ctx: Context, id: string, guestToken: string | null | undefined): Promise<Cart | null> =>
  findRow(ctx, Cart, reachable(ctx, id.toLowerCase(), guestToken));

/** @throws Problem not_found. */
export const reachCart = async (ctx: Context, id: string, guestToken: string | null | undefined): Promise<Cart> =>
  (await findCart(ctx, id, guestToken)) ?? fail('not_found', 'No such cart');

/** A cart, locked. @throws Problem not_found; conflict where it is no longer open, or was changed meanwhile. */
export async function openCart(ctx: Context, id: string, guestToken?: string | null, expectedVersion?: number | null): Promise<Cart> {
  const cart = await lockRow(ctx, Cart, reachable(ctx, id.toLowerCase(), guestToken), 'No such cart');
  requireOpen(ctx, cart);
  if (expectedVersion != null && expectedVersion !== cart.version)
    fail('conflict', 'The cart was changed meanwhile', { reason: 'cart_changed' });
  return cart;
}

/** @throws Problem conflict `cart_not_active`. */
export function requireOpen(ctx: Context, { status, expiresAt }: Cart): void {
  const isOver = status === CartStatus.ACTIVE && expiresAt <= ctx.now();
  if (status !== CartStatus.ACTIVE || isOver)
    fail('conflict', `a cart that is ${isOver ? 'expired' : status.replace('_', ' ')} cannot be changed`, { reason: 'cart_not_active' });
}
