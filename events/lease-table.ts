import type pg from 'pg';
import type { HeldLease, LeaseRow, LeaseSet, LeaseTable, LeaseView } from './leases.js';

/** An instance's sign of life is a lease of its own. */
const LIVES = 'live:';
const lifeOf = (kind: string, holder: string): string => `${LIVES}${kind}:${holder}`;

const LOOK = `select name, holder, expires_at > clock_timestamp() as live from events.lease where name = any ($1) or name like any ($2)`;
const OBTAIN = `select name, epoch::float8 as epoch, crashed from events.lease($1::text[], $2, $3) where name not like '${LIVES}%'`;
const RELEASE = `update events.lease set holder = null, expires_at = '-infinity' where name = any ($1) and holder = $2`;
/** What crashed long ago goes as well. */
const LEAVE = `
delete from events.lease where name like '${LIVES}%' and ((name = any ($1) and holder = $2) or expires_at < clock_timestamp() - interval '1 hour')`;

/** `events.lease`: the leases of relays, replays and consumers. */
export class EventLeases implements LeaseTable {
  constructor(private readonly pool: pg.Pool) {}

  async look(sets: readonly LeaseSet[]): Promise<LeaseView> {
    const lives = sets.map(({ kind }) => `${lifeOf(kind, '').replaceAll('_', '\\_')}%`);
    const { rows } = await this.pool.query<LeaseRow>(LOOK, [sets.flatMap(set => set.names), lives]);
    return { leases: rows.filter(row => !row.name.startsWith(LIVES)), instances: rows.flatMap(instanceOf) };
  }

  async obtain(names: readonly string[], kinds: readonly string[], holder: string, leaseMs: number): Promise<HeldLease[]> {
    const all = [...kinds.map(kind => lifeOf(kind, holder)), ...names];
    return (await this.pool.query<HeldLease>(OBTAIN, [all, holder, leaseMs])).rows;
  }

  release(names: readonly string[], holder: string): Promise<unknown> {
    return this.pool.query(RELEASE, [names, holder]);
  }

  leave(kinds: readonly string[], holder: string): Promise<unknown> {
    return this.pool.query(LEAVE, [kinds.map(kind => lifeOf(kind, holder)), holder]);
  }
}

/** The live instance of a sign of life; none for a lease. */
function instanceOf({ name, holder, live }: LeaseRow): LeaseView['instances'] {
  if (!name.startsWith(LIVES) || !live || holder === null) return [];
  return [{ kind: name.slice(LIVES.length, -holder.length - 1), holder }];
}

/** Takes or renews one lease that nobody shares. Answers whether it is the holder's now. */
export async function takeLease(pool: pg.Pool, name: string, holder: string, leaseMs: number): Promise<boolean> {
  const { rowCount } = await pool.query('select from events.lease($1::text[], $2, $3)', [[name], holder, leaseMs]);
  return rowCount === 1;
}
