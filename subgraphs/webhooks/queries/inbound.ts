import type { FilterQuery } from '@mikro-orm/postgresql';
import { findRow } from '../../../runtime/data/rows.js';
import type { Context } from '../../../runtime/request/context.js';
import { page, type Connection } from '../../../runtime/request/paging.js';
import { InboundReceipt, type InboundSource } from '../entities/inbound.js';
import type { InboundReceiptsArgs } from '../inputs/inbound.js';
import { inboundSecrets } from '../ports/inbound-verifier.js';
import { INBOUND_SOURCES, type InboundSourceName } from '../rules/inbound.js';
import { hintOf } from '../rules/wire.js';
import { checkUnbound } from './managed.js';

/** One receipt; null for none. @throws Problem forbidden. */
export async function findReceipt(ctx: Context, id: string): Promise<InboundReceipt | null> {
  await checkUnbound(ctx);
  return findRow(ctx, InboundReceipt, { id });
}

/** Vendor calls that were taken, newest first. @throws Problem forbidden. */
export async function listReceipts(ctx: Context, args: InboundReceiptsArgs): Promise<Connection<InboundReceipt>> {
  await checkUnbound(ctx);
  const { source, topic, externalId, from, to } = args;
  const conditions: FilterQuery<InboundReceipt>[] = [
    ...(source == null ? [] : [{ source }]),
    ...(topic == null ? [] : [{ topic }]),
    ...(externalId == null ? [] : [{ externalId }]),
    ...(from == null ? [] : [{ receivedAt: { $gte: from } }]),
    ...(to == null ? [] : [{ receivedAt: { $lt: to } }]),
  ];
  return page(ctx.em, InboundReceipt, { $and: conditions }, args, { time: 'receivedAt' });
}

const STATES = `
select n.name, (extract(epoch from s.last_received_at) * 1000)::float8 as last,
  coalesce((select sum(r.rejected) from webhooks.inbound_rejection r where r.source = n.name and r.hour > $2::timestamptz - interval '24 hours'), 0)::int as rejected
from unnest($1::text[]) as n(name) left join webhooks.inbound_source s on s.name = n.name`;

interface SourceState {
  name: InboundSourceName;
  /** ms. */
  last: number | null;
  rejected: number;
}

/** Vendors whose calls are taken. @throws Problem forbidden. */
export async function listSources(ctx: Context): Promise<InboundSource[]> {
  await checkUnbound(ctx);
  const names = Object.keys(INBOUND_SOURCES) as InboundSourceName[];
  const states = await ctx.sql<SourceState>(STATES, [names, ctx.now().toISOString()]);
  return names.map(name =>
    sourceOf(
      ctx,
      states.find(state => state.name === name)!,
    ),
  );
}

function sourceOf(ctx: Context, { name, last, rejected }: SourceState): InboundSource {
  const { scheme, headers, toleranceSeconds } = INBOUND_SOURCES[name];
  return {
    name,
    scheme,
    headerNames: Object.values(headers).filter(header => header !== null),
    toleranceSeconds,
    lastReceivedAt: last === null ? null : new Date(last),
    rejected24h: rejected,
    secrets: inboundSecrets(ctx.host.config, name).map(hintOf),
  };
}
