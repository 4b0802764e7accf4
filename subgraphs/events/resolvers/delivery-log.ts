import { Args, Ctx, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import { writeAudit } from '../../../runtime/data/audit.js';
import type { Context } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import type { Connection } from '../../../runtime/request/paging.js';
import { DeliveryLogEvent, DeliveryLogEventConnection } from '../entities/delivery-log.js';
import { DELIVERERS } from '../entities/enums.js';
import { DeliveryLogArgs } from '../inputs/lists.js';
import { instant, type Conditions } from '../queries/conditions.js';
import { cursorOf, placesOf, readLog, type LogPlace } from '../queries/log-order.js';

type Row = LogPlace & Omit<DeliveryLogEvent, 'occurredAt'> & { occurredAt: string };

const COLUMNS = `o.id, o.type, o.user_id as "userId", o.brand_id as "brandId", o.occurred_at as "occurredAt", o.seq::float8 as sequence, o.data::text as "dataText"`;

const toEvent = (row: Row): DeliveryLogEvent => Object.assign(new DeliveryLogEvent(), row, { occurredAt: instant(row.occurredAt) });

@Resolver(() => DeliveryLogEvent)
export class DeliveryLogResolver {
  @Access(DELIVERERS)
  @Query(() => DeliveryLogEventConnection, {
    description:
      'Relayed events with their payloads in the order of the relay, per user by sequence, without erased ones. Reading is audited.',
  })
  async deliveryLog(@Args(() => DeliveryLogArgs) args: DeliveryLogArgs, @Ctx() ctx: Context): Promise<Connection<DeliveryLogEvent>> {
    const { types, userIds, occurredFrom, occurredTo, first, after } = args;
    const read = {
      columns: COLUMNS,
      first,
      filter: (conditions: Conditions) =>
        conditions
          .add('o.type = any(?::text[])', types)
          .add('o.user_id = any(?::uuid[])', userIds?.filter(isUuid))
          .add('o.occurred_at >= ?', occurredFrom)
          .add('o.occurred_at < ?', occurredTo)
          .add('(o.erased_at is null) = ?', true),
    };
    const { rows, next, more } = await readLog<Row>(ctx, read, await placesOf(ctx, after));
    if (rows.length > 0) await noteReading(ctx, rows);
    return { nodes: rows.map(toEvent), pageInfo: { endCursor: cursorOf(next), hasNextPage: more } };
  }
}

/** One row per page: what was read is between two sequences. */
async function noteReading(ctx: Context, rows: readonly Row[]): Promise<void> {
  const details = { events: rows.length, from: rows[0]!.id, to: rows.at(-1)!.id, types: [...new Set(rows.map(({ type }) => type))] };
  await writeAudit(ctx.sql, ctx.schema, [{ action: 'delivery_log.read', target: null, details }], ctx.caller, ctx.request.id, ctx.now());
}
