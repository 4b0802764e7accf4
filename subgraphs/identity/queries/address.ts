import { isUuid } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { type Connection, decodeCursor, type PageArgs, toConnection } from '../../../runtime/request/paging.js';
import { UserAddress } from '../entities/address.js';
import type { User } from '../entities/user.js';
import { rowsOf } from './batches.js';
import { seesPart } from './viewer.js';

/** The address book's owner: `sub` of a user token, staff's too; a service names one. @throws Problem invalid_request, not_found. */
export function bookOwner({ caller }: Context, userId: string | null | undefined, pointer: string): string {
  if (userId != null && !isUuid(userId)) fail('not_found', 'Not found');
  if (caller.kind !== 'user')
    return userId ?? fail('invalid_request', 'The user is missing', { errors: [{ pointer, message: 'is required for a service token' }] });
  return userId == null || userId === caller.userId ? caller.userId! : fail('not_found', 'Not found');
}

const NEWEST_FIRST = { createdAt: 'desc', id: 'desc' } as const;

/** All entries of a user, newest first; twenty at most. */
export const addressBook = (ctx: Context, userId: string): Promise<UserAddress[]> =>
  ctx.em.find(UserAddress, { userId }, { orderBy: NEWEST_FIRST });

/** A page of what was loaded; a book has twenty entries at most, so that it is read whole. */
function pageOf(book: readonly UserAddress[], { first, after: cursor }: PageArgs): Connection<UserAddress> {
  const [at, id] = cursor ? decodeCursor(cursor, 2).map(String) : [];
  const isBeyond = ({ createdAt, id: own }: UserAddress): boolean =>
    at === undefined || createdAt.toISOString() < at || (createdAt.toISOString() === at && own < id!);
  return toConnection(book.filter(isBeyond).slice(0, first + 1), first, one => [one.createdAt.toISOString(), one.id]);
}

/** The book of whom the caller names. @throws Problem invalid_request, not_found. */
export const addressPage = async (ctx: Context, userId: string | null | undefined, args: PageArgs): Promise<Connection<UserAddress>> =>
  pageOf(await addressBook(ctx, bookOwner(ctx, userId, '/userId')), args);

/** The book of an account; null for callers whom it does not concern. */
export async function addressesOf(ctx: Context, user: User, args: PageArgs): Promise<Connection<UserAddress> | null> {
  if (!seesPart(ctx.caller, user, 'read:account')) return null;
  const load = (ids: readonly string[]) => rowsOf(ctx, UserAddress, 'userId', ids, { orderBy: NEWEST_FIRST });
  const book = isUuid(user.id) ? await ctx.load('identity.addresses', user.id, load) : [];
  return pageOf(book ?? [], args);
}
