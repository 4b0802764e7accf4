import type { FilterQuery } from '@mikro-orm/postgresql';
import { isUuid } from '../../../runtime/data/ids.js';
import { lockRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { type Connection, decodeCursor, toConnection } from '../../../runtime/request/paging.js';
import type { ClientOrigins } from '../entities/client-origins.js';
import { OAuthClient, OAuthClientStatus } from '../entities/client.js';
import type { OAuthClientFilter, OAuthClientListArgs } from '../inputs/client.js';
import { beginning, holding } from './search.js';

function whereOf({ kind, status, brandId, firstParty, q }: OAuthClientFilter): FilterQuery<OAuthClient> {
  if (brandId && !isUuid(brandId)) return { id: [] };
  const conditions: FilterQuery<OAuthClient>[] = [{ status: status?.length ? { $in: status } : { $ne: OAuthClientStatus.DELETED } }];
  if (kind?.length) conditions.push({ kind: { $in: kind } });
  if (brandId) conditions.push({ brandId });
  if (firstParty != null) conditions.push({ firstParty });
  if (q) conditions.push({ $or: [{ id: { $like: beginning(q.toLowerCase()) } }, { name: { $ilike: holding(q) } }] });
  return { $and: conditions } as FilterQuery<OAuthClient>;
}

/** OAuth clients by client_id; deleted ones only when asked for. */
export async function listClients(ctx: Context, { filter, first, after: cursor }: OAuthClientListArgs): Promise<Connection<OAuthClient>> {
  const where = whereOf(filter ?? {});
  const beyond = cursor ? { $and: [where, { id: { $gt: String(decodeCursor(cursor, 1)[0]) } }] } : where;
  const rows = await ctx.em.find(OAuthClient, beyond as FilterQuery<OAuthClient>, { orderBy: { id: 'asc' }, limit: first + 1 });
  return toConnection(rows, first, row => [row.id]);
}

/** A client that is not deleted, locked. @throws Problem not_found. */
export const lockedClient = (ctx: Context, id: string): Promise<OAuthClient> =>
  lockRow(ctx, OAuthClient, { id, status: { $ne: OAuthClientStatus.DELETED } });

const ORIGINS = `
select id as "clientId", allowed_origins as origins from identity.oauth_client where status = 'active' and cardinality(allowed_origins) > 0 order by id`;

/** Web origins of active clients. */
export const activeOrigins = (ctx: Context): Promise<ClientOrigins[]> => ctx.sql<ClientOrigins>(ORIGINS);
