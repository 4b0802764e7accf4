import { OUTBOX_COLUMNS, type OutboxRow } from './envelope.js';
import type { Sql } from './outbox.js';
import { GROUPS } from './relay-group.js';

/** Which events of the log a replay sends again; a key that is absent or null lets all through. Instants are RFC 3339, sequences inclusive. */
export interface ReplayFilter {
  types?: readonly string[] | null;
  user_id?: string | null;
  /** Inclusive. */
  occurred_from?: string | null;
  /** Exclusive. */
  occurred_to?: string | null;
  sequence_from?: number | null;
  sequence_to?: number | null;
  /** Ids from it on suffice for `occurred_from`, so that whole days need not be read. */
  id_from?: string | null;
}

/** A row of the log on its way to be replayed. */
export interface ReplayRow extends OutboxRow {
  /** In its group; of a replay of one user's events the sequence. */
  position: number;
  erased: boolean;
}

/** Where a replay stands; `group` 8 is the end. */
export interface ReplayPosition {
  group: number;
  position: number;
}

/** A replay may not send more. Source: events 4, POST /v1/replays. */
export const MAX_REPLAYED = 1_000_000;

const END = GROUPS.length;

/** Relayed events only: what waits for the relay reaches the consumer anyway, and may not overtake what its user has before it. */
function conditions(filter: ReplayFilter, first: number): { sql: string; values: unknown[] } {
  const parts: [string, unknown][] = [
    ['o.type = any(?::text[])', filter.types],
    ['o.user_id = ?::uuid', filter.user_id],
    ['o.occurred_at >= ?::timestamptz', filter.occurred_from],
    ['o.occurred_at < ?::timestamptz', filter.occurred_to],
    ['o.seq >= ?::bigint', filter.sequence_from],
    ['o.seq <= ?::bigint', filter.sequence_to],
    ['o.id >= ?::uuid', filter.id_from],
  ];
  const given = parts.filter(([, value]) => value !== undefined && value !== null);
  return {
    sql: given.map(([text], index) => ` and ${text.replace('?', `$${first + index}`)}`).join(''),
    values: given.map(([, value]) => value),
  };
}

/** How many events a replay would walk through; at most one more than it may. */
export async function countReplay(sql: Sql, filter: ReplayFilter): Promise<number> {
  const { sql: where, values } = conditions(filter, 2);
  const [row] = await sql<{ total: number }>(
    `select count(*)::float8 as total from (select from events.outbox o where o.position is not null${where} limit $1) matching`,
    [MAX_REPLAYED + 1, ...values],
  );
  return row!.total;
}

/**
 * The next rows of a replay and where it then stands. One user's events all lie in one group and are found by the user; all others are walked
 * through by position, group after group, so that events of a key keep their order.
 */
export async function readReplay(
  sql: Sql,
  filter: ReplayFilter,
  upto: readonly number[],
  { group, position }: ReplayPosition,
  limit: number,
): Promise<{ rows: ReplayRow[]; next: ReplayPosition }> {
  const key = filter.user_id ? 'o.seq' : 'o.position';
  const { sql: where, values } = conditions(filter, 5);
  const rows = await sql<ReplayRow>(
    `select ${key}::float8 as position, o.erased_at is not null as erased, ${OUTBOX_COLUMNS} from events.outbox o
     where (o.slot >> 3) = $1 and o.position <= $2 and ${key} > $3${where} order by ${key} limit $4`,
    [group, upto[group], position, limit, ...values],
  );
  const next = rows.length === limit ? { group, position: rows.at(-1)!.position } : { group: group + 1, position: 0 };
  return { rows, next };
}

export const isAtEnd = ({ group }: ReplayPosition): boolean => group >= END;
