import { roleOf, schemaOf, type Slug } from '../../events/slugs.js';
import type { Sql } from '../../events/outbox.js';
import { prepared } from '../../events/prepared.js';
import type { Context } from '../request/context.js';

/** Who may see an entry: every viewer of the stream, those with a part in it, or one user. */
export type Audience = 'PUBLIC' | 'TEAM' | 'USER';

/** What is added to a stream; `payload` in REST form, at most 16 KiB. */
export interface NewEntry {
  audience?: Audience;
  /** Of audience USER. */
  userId?: string | null;
  type: string;
  payload: object;
}

/** What is added to one of several streams. */
export interface Addition {
  id: string;
  entries: readonly NewEntry[];
}

/** An entry as it is written: `back` entries before the last one of its stream. */
interface EntryRow {
  id: string;
  back: number;
  audience: Audience;
  userId: string | null;
  type: string;
  /** Base64. */
  sealed: string;
}

/** One entry, its payload as one line of JSON. */
export interface Entry {
  seq: number;
  audience: Audience;
  userId: string | null;
  type: string;
  data: string;
}

/** Where a stream stands. */
export interface Head {
  /** Of the last entry; 0 before the first. */
  seq: number;
  /** Entries up to this one are pruned. */
  floor: number;
  /** Nothing will come any more. */
  over: boolean;
}

export const NEW_STREAM: Head = { seq: 0, floor: 0, over: false };

/** What streams are read from. */
export interface EntryReader {
  /** Of these streams, in one query; one without entries is absent. */
  heads(ids: readonly string[]): Promise<ReadonlyMap<string, Head>>;
  /** In order, all audiences, at most `limit`. */
  after(id: string, seq: number, limit: number): Promise<Entry[]>;
}

/** Longest payload, bytes of JSON. Source: live 2. */
const MAX_PAYLOAD = 16_384;

/**
 * Two tables in a service's schema, `<name>_head` and `<name>_entry`: entries are inserted in the transaction of the change, numbered under
 * the lock of the stream's head row, so that numbers have no gap and the order of commits. Payloads are sealed. Source: live 4.8.
 */
export class Feed {
  readonly #head: string;
  readonly #entry: string;

  /** @param name of both tables, for example `live_feed`. */
  constructor(
    readonly slug: Slug,
    readonly name: string,
  ) {
    this.#head = `${schemaOf(slug)}.${name}_head`;
    this.#entry = `${schemaOf(slug)}.${name}_entry`;
  }

  /** Statements of the migration that makes the tables. */
  tables(): string[] {
    return [
      `create table ${this.#head} (stream_id uuid primary key, seq int not null default 0, floor int not null default 0,
        over_at timestamptz(3), ticked_at timestamptz(3))`,
      `create table ${this.#entry} (stream_id uuid not null, seq int not null, audience text not null check (audience in ('PUBLIC', 'TEAM', 'USER')),
        user_id uuid, type text not null, payload bytea not null, at timestamptz(3) not null, primary key (stream_id, seq))`,
      `create index ${this.name}_head_over on ${this.#head} (over_at) where over_at is not null`,
      `create index ${this.name}_entry_user_id on ${this.#entry} (user_id) where user_id is not null`,
      `revoke truncate on ${this.#head}, ${this.#entry} from ${roleOf(this.slug)}`,
    ];
  }

  /** Channel key of a stream's hints. */
  keyOf(id: string): string {
    return `${this.slug}.${this.name}:${id}`;
  }

  /** Adds entries with this transaction; it holds the stream's lock from here to the commit, so it comes late. @returns the last number. */
  async append(ctx: Context, id: string, entries: readonly NewEntry[]): Promise<number> {
    return [...(await this.appendAll(ctx, [{ id, entries }])).values()][0]!;
  }

  /**
   * The same for many streams, each named once, in one statement; they are locked in the order given. @param tells whether their listeners
   * are told at the commit: not where the transaction adds more to all of them. @returns the last numbers.
   */
  async appendAll(ctx: Context, streams: readonly Addition[], tells = true): Promise<Map<string, number>> {
    const rows = streams.flatMap(({ id, entries }) => entries.map((entry, at) => this.#row(ctx, id, entry, entries.length - 1 - at)));
    const column = <Name extends keyof EntryRow>(name: Name): EntryRow[Name][] => rows.map(row => row[name]);
    const last = await ctx.sql<{ id: string; seq: number }>(prepared(this.#insert()), [
      streams.map(({ id }) => id),
      streams.map(({ entries }) => entries.length),
      column('id'),
      column('back'),
      column('audience'),
      column('userId'),
      column('type'),
      column('sealed'),
      ctx.now().toISOString(),
    ]);
    if (tells) for (const { id, seq } of last) this.#announce(ctx, id, seq);
    return new Map(last.map(({ id, seq }) => [id, seq]));
  }

  #row(ctx: Context, id: string, { audience = 'PUBLIC', userId = null, type, payload }: NewEntry, back: number): EntryRow {
    return { id, back, audience, userId, type, sealed: this.#seal(ctx, id, payload).toString('base64') };
  }

  #seal(ctx: Context, id: string, payload: object): Buffer {
    const text = JSON.stringify(payload);
    if (Buffer.byteLength(text) > MAX_PAYLOAD) throw new Error(`an entry of ${this.name} is too long`);
    return ctx.host.sealer.seal(text, this.#contextOf(id));
  }

  #contextOf(id: string): string {
    return `${this.#entry}.payload:${id}`;
  }

  #insert(): string {
    return `
with head as (
  insert into ${this.#head} as h (stream_id, seq) select s.id, s.more from unnest($1::uuid[], $2::int[]) with ordinality s (id, more, place) order by place
  on conflict (stream_id) do update set seq = h.seq + excluded.seq returning stream_id, seq
), added as (
  insert into ${this.#entry} (stream_id, seq, audience, user_id, type, payload, at)
  select head.stream_id, head.seq - e.back, e.audience, e.user_id, e.type, decode(e.payload, 'base64'), $9
  from unnest($3::uuid[], $4::int[], $5::text[], $6::uuid[], $7::text[], $8::text[]) e (stream_id, back, audience, user_id, type, payload)
  join head using (stream_id)
)
select stream_id as id, seq from head`;
  }

  #announce(ctx: Context, id: string, seq: number): void {
    ctx.afterCommit(() => ctx.host.transport.hint('realtime', this.keyOf(id), { seq }));
  }

  /** Ends a stream for good, with the entries that it has. */
  async end(ctx: Context, id: string): Promise<void> {
    const text = `insert into ${this.#head} as h (stream_id, over_at) values ($1, $2)
      on conflict (stream_id) do update set over_at = coalesce(h.over_at, excluded.over_at) returning seq`;
    const [head] = await ctx.sql<{ seq: number }>(text, [id, ctx.now().toISOString()]);
    this.#announce(ctx, id, head!.seq);
  }

  /**
   * Claims the next gathered entry of a stream, at most once in so many milliseconds of the database's clock, in all processes. It takes the
   * stream's lock. @returns 0, or in how many milliseconds the next one may be claimed.
   */
  async claimTick(ctx: Context, id: string, everyMs: number): Promise<number> {
    const text = `with claimed as (insert into ${this.#head} as h (stream_id, ticked_at) values ($1, clock_timestamp())
      on conflict (stream_id) do update set ticked_at = clock_timestamp()
      where h.ticked_at is null or h.ticked_at <= clock_timestamp() - $2::int * interval '1 millisecond' returning 1)
      select case when exists (select from claimed) then 0 else greatest(1, coalesce((
        select ceil(extract(epoch from ticked_at - clock_timestamp()) * 1000) from ${this.#head} where stream_id = $1), 0) + $2)::int end as wait`;
    const [row] = await ctx.sql<{ wait: number }>(text, [id, everyMs]);
    return row!.wait;
  }

  /** Deletes entries of streams that were over by `until`; who comes back with an older number is told to begin anew. */
  async prune(ctx: Context, until: Date): Promise<void> {
    const text = `with gone as (
        update ${this.#head} set floor = seq where over_at <= $1 and floor < seq returning stream_id
      ) delete from ${this.#entry} e using gone where e.stream_id = gone.stream_id`;
    await ctx.sql(text, [until.toISOString()]);
  }

  /** The instant of the oldest end whose entries still stand; null for none. */
  async oldestEnd(ctx: Context): Promise<Date | null> {
    const [row] = await ctx.sql<{ at: string | null }>(
      `select min(over_at)::text as at from ${this.#head} where over_at is not null and floor < seq`,
    );
    return row?.at ? new Date(row.at) : null;
  }

  /** Takes a user's own entries away. @returns how many. */
  async forget(ctx: Context, userId: string): Promise<number> {
    const cleared = `update ${this.#entry} set user_id = null, audience = 'TEAM', type = 'erased', payload = decode('', 'hex') where user_id = $1 returning 1`;
    return (await ctx.sql(cleared, [userId])).length;
  }

  async heads(sql: Sql, ids: readonly string[]): Promise<Map<string, Head>> {
    const text = `select stream_id as id, seq, floor, over_at is not null as over from ${this.#head} where stream_id = any($1::uuid[])`;
    const rows = await sql<Head & { id: string }>(text, [ids]);
    return new Map(rows.map(({ id, ...head }) => [id, head]));
  }

  async after(ctx: Context, id: string, seq: number, limit: number): Promise<Entry[]> {
    const text = `select seq, audience, user_id as "userId", type, payload from ${this.#entry} where stream_id = $1 and seq > $2 order by seq limit $3`;
    const rows = await ctx.sql<Omit<Entry, 'data'> & { payload: Buffer }>(text, [id, seq, limit]);
    return rows.map(({ payload, ...entry }) => ({
      ...entry,
      data: payload.length ? ctx.host.sealer.open(payload, this.#contextOf(id)) : '{}',
    }));
  }
}
