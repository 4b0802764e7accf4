import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import type { EventDefinition } from '../../events/define.js';
import { appendEvents } from '../../events/outbox.js';
import { syncRegistry } from '../../events/registry.js';
import { retain } from '../../events/retention.js';
import { SLUGS, roleOf } from '../../events/slugs.js';
import { openPool } from '../../runtime/data/pool.js';
import { silent, sqlOn } from './support/host.js';
import { dropTemplate, events, newUser, pendingOf, until, World } from './support/world.js';

let world: World;

beforeEach(async () => {
  world = await World.open('embedded');
});

afterEach(() => world.close());
afterAll(dropTemplate);

const DAY_MS = 86_400_000;

/** The id of an event that was emitted so many days ago. */
const oldId = (days: number): string => {
  const time = (Date.now() - days * DAY_MS).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${newUser().slice(24)}`;
};

const as = (slug: 'clinical' | 'platform' | 'events') => sqlOn(world.pool(slug));

describe('append', () => {
  test.each([
    ['a type that is not registered', 'clinical', { type: 'test.unknown.v1' }],
    ['a source that does not own the type and is no declared emitter', 'clinical', { source: 'webhooks' }],
    ['the source of another service', 'clinical', { source: 'platform' }],
    ['a required user that is missing', 'clinical', { type: 'test.user.moved.v1', user_id: null, subject: 'x' }],
    ['a user where the type has none', 'clinical', { type: 'test.probe.sent.v1' }],
  ] as const)('refuses %s', async (_, slug, change) => {
    const event = { ...pendingOf('clinical', { userId: newUser() }, { n: 1 }), ...change };
    await expect(appendEvents(as(slug), [event as never], null)).rejects.toMatchObject({ code: '42501' });
    expect(await world.rows('select from events.outbox')).toEqual([]);
  });

  test('lets the events service publish in the name of an emitter', async () => {
    await appendEvents(as('events'), [pendingOf('clinical', { userId: newUser() }, { n: 1 })], null);
    expect(await world.rows('select source from events.outbox')).toEqual([{ source: 'clinical' }]);
  });

  test('refuses more than 2,000 events and more than 1,000 users in one transaction', async () => {
    const many = (events: number, users: number) => {
      const ids = Array.from({ length: users }, newUser);
      return Array.from({ length: events }, (_, n) => pendingOf('clinical', { userId: ids[n % users]! }, { n }));
    };
    await expect(appendEvents(as('clinical'), many(2_001, 1), null)).rejects.toMatchObject({ code: '54000' });
    await expect(appendEvents(as('clinical'), many(1_001, 1_001), null)).rejects.toMatchObject({ code: '54000' });
    await appendEvents(as('clinical'), many(2_000, 1_000), null);
    expect(await world.rows('select count(*)::int as n, count(distinct seq)::int as seqs from events.outbox')).toEqual([
      { n: 2_000, seqs: 2_000 },
    ]);
  });

  test('keeps the order of emission and the text of the data byte for byte', async () => {
    const user = newUser();
    const texts = ['{"n":1}', '{ "n" : 2.0 }', '{"n":3e0,"n2":12345678901234567890}'];
    await appendEvents(
      as('clinical'),
      texts.map(data => ({ ...pendingOf('clinical', { userId: user }, { n: 1 }), data })),
      null,
    );
    expect(await world.rows('select data::text as data, order_key from events.outbox order by seq')).toEqual(
      texts.map(data => ({ data, order_key: `u:${user}` })),
    );
  });

  test('orders an event without a user by its subject, else by its type', async () => {
    await appendEvents(as('clinical'), [pendingOf('clinical', { subject: 'brand:1' }, { n: 1 }, events.probeSent)], null);
    await appendEvents(as('clinical'), [pendingOf('clinical', {}, { n: 1 }, events.probeSent)], null);
    expect(await world.rows('select order_key from events.outbox order by seq')).toEqual([
      { order_key: 's:brand:1' },
      { order_key: 's:test.probe.sent.v1' },
    ]);
  });

  test('takes the time of the manual clock when there is one', async () => {
    const at = new Date('2031-05-06T07:08:09.010Z');
    await appendEvents(as('clinical'), [pendingOf('clinical', { userId: newUser() }, { n: 1 })], at);
    expect(await world.rows('select occurred_at from events.outbox')).toEqual([{ occurred_at: at }]);
  });

  test('gives up after 3 s when another transaction holds the order of the user', async () => {
    const user = newUser();
    const holder = await world.pool('platform').connect();
    await holder.query('begin');
    await appendEvents(sqlOn(holder), [pendingOf('platform', { userId: user }, { n: 1 })], null);
    await expect(appendEvents(as('clinical'), [pendingOf('clinical', { userId: user }, { n: 2 })], null)).rejects.toMatchObject({
      code: '55P03',
    });
    await holder.query('rollback');
    holder.release();
  });

  test('never deadlocks transactions that emit for the same users in different orders', async () => {
    const users = Array.from({ length: 10 }, newUser);
    const work = Array.from({ length: 40 }, (_, index) => {
      const order = index % 2 ? users : users.toReversed();
      return appendEvents(
        as(index % 3 ? 'clinical' : 'platform'),
        order.map(userId => pendingOf(index % 3 ? 'clinical' : 'platform', { userId }, { n: index })),
        null,
      );
    });
    await Promise.all(work);
    expect(await world.rows('select count(*)::int as n from events.outbox')).toEqual([{ n: 400 }]);
  });
});

describe('rights', () => {
  test('a service may execute append, lease, is_blocked, is_settled, park, settle and take, and reads no table', async () => {
    for (const slug of SLUGS.filter(one => one !== 'events')) {
      const [rights] = await world.asOwner<{ functions: string[]; tables: number }>(
        `select array(select p.proname::text from pg_proc p where p.pronamespace = 'events'::regnamespace and has_function_privilege($1, p.oid, 'execute') order by 1) as functions,
          (select count(*)::int from pg_class c where c.relnamespace = 'events'::regnamespace and c.relkind in ('r', 'p', 'v')
            and has_table_privilege($1, c.oid, 'select,insert,update,delete')) as tables`,
        [roleOf(slug)],
      );
      expect(rights).toEqual({ functions: ['append', 'is_blocked', 'is_settled', 'lease', 'park', 'settle', 'take'], tables: 0 });
    }
  });

  test('a service may not work on the consumers of another', async () => {
    await expect(as('platform')('select events.is_blocked($1, $2)', ['clinical.first', 'u:1'])).rejects.toMatchObject({ code: '42501' });
    await expect(as('platform')('select events.take($1, 1, 1, $2)', ['clinical.first', newUser()])).rejects.toMatchObject({
      code: '42501',
    });
  });

  test.each([
    'insert into events.outbox default values',
    'delete from events.outbox',
    `update events.outbox set data = '{}'`,
    'truncate events.outbox',
  ])('not even the events service may %s', async statement => {
    await expect(world.rows(statement)).rejects.toMatchObject({ code: '42501' });
  });

  test('the read-only role sees the safe views and nothing else', async () => {
    const tables = await world.asOwner(
      `select c.relname as name from pg_class c where c.relnamespace = 'events'::regnamespace and c.relkind in ('r', 'p', 'v') and has_table_privilege('platform_ro', c.oid, 'select') order by 1`,
    );
    expect(tables).toEqual([{ name: 'dead_letter_safe' }, { name: 'outbox_safe' }]);
  });
});

describe('the registry', () => {
  const catalogueOf = (event: EventDefinition) => new Map([[event.name, event]]);
  const sync = (event: EventDefinition): Promise<void> => syncRegistry(sqlOn(world.bus), catalogueOf(event));

  test('refuses to start on a newer revision and on another content of the same one', async () => {
    await sync({ ...userErasureRequested, revision: 2 });
    await expect(sync(userErasureRequested)).rejects.toThrow('user.erasure_requested.v1: revision 2 is newer (database 2, code 1)');
    await expect(sync({ ...events.stepTakenWithMore, revision: 1 })).rejects.toThrow(
      'test.step.taken.v1: revision 1 is another (database 1, code 1)',
    );
    await sync({ ...events.stepTakenWithMore, revision: 2 });
  });

  test('refuses to start on a revision that needs a new version', async () => {
    await expect(sync({ ...events.stepTakenWithLess, revision: 2 })).rejects.toThrow(
      'test.step.taken.v1: needs a new version: /data/n: removed',
    );
  });

  test('keeps every revision that ran', async () => {
    await sync({ ...events.stepTakenWithMore, revision: 2 });
    const kept = await world.rows<{ revision: number; fingerprint: string }>(
      `select revision, fingerprint from events.event_type_revision where name = 'test.step.taken.v1' order by revision`,
    );
    expect(kept.map(row => row.revision)).toEqual([1, 2]);
    expect(new Set(kept.map(row => row.fingerprint)).size).toBe(2);
    await expect(world.rows(`update events.event_type_revision set fingerprint = ''`)).rejects.toMatchObject({ code: '42501' });
  });

  test('takes a better description and a better example of the same revision', async () => {
    await sync({ ...events.stepTaken, when: 'A test takes one step.', examples: [{ n: 2 }] });
    expect(
      await world.rows(`select description, example->'data' as data from events.event_type where name = 'test.step.taken.v1'`),
    ).toEqual([{ description: 'A test takes one step.', data: { n: 2 } }]);
  });
});

describe('retention', () => {
  const partitions = async (): Promise<string[]> =>
    (
      await world.rows<{ name: string }>(
        `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events.outbox'::regclass order by 1`,
      )
    ).map(row => row.name);

  const insertOld = (days: number, published: boolean): Promise<unknown> =>
    world.asOwner(
      `insert into events.outbox (id, seq, order_key, slot, type, schema_rev, subject, source, occurred_at, data, actor, published_at)
       values ($1, nextval('events.outbox_seq'), 's:x', 1, 'test.probe.sent.v1', 1, 'x', 'clinical', now(), '{"n":1}', 'test', case when $2 then now() end)`,
      [oldId(days), published],
    );

  /** A day's partition as it was made when the day came. */
  const makePartition = (days: number): Promise<unknown> =>
    world.asOwner(
      `do $$ declare d date := timezone('utc', clock_timestamp())::date - ${days}; begin
         execute format('create table events.%I partition of events.outbox for values from (%L) to (%L)', 'outbox_p' || to_char(d, 'YYYYMMDD'), events.first_id(d), events.first_id(d + 1));
       end $$`,
    );

  test('today and the next three days have partitions, and a row that came before its partition moves into it', async () => {
    expect(await partitions()).toHaveLength(5);
    await world.asOwner(
      `do $$ begin execute 'drop table events.outbox_p' || to_char(timezone('utc', clock_timestamp()), 'YYYYMMDD'); end $$`,
    );
    await world.emit('clinical', { userId: newUser() }, [1]);
    await retain({ pool: world.bus, log: silent });
    expect(await world.rows('select tableoid::regclass::text like $1 as moved from events.outbox', ['events.outbox_p%'])).toEqual([
      { moved: true },
    ]);
    expect(await partitions()).toHaveLength(5);
  });

  test('a partition past its time goes, unless something in it still waits', async () => {
    for (const days of [31, 32, 33, 30]) await makePartition(days);
    await insertOld(31, true);
    await insertOld(32, false);
    await insertOld(30, true);
    const before = await partitions();
    await retain({ pool: world.bus, log: silent });
    const left = await partitions();
    expect(before.filter(name => !left.includes(name))).toHaveLength(2);
    expect(await world.rows('select count(*)::int as n from events.outbox')).toEqual([{ n: 2 }]);
  });

  test('an event with an open dead letter stays, resolved letters go after 90 days, and discarded ones not before their event', async () => {
    await makePartition(40);
    await insertOld(40, true);
    const [event] = await world.rows<{ id: string }>('select id from events.outbox');
    const letter = (id: string, status: string, days: number) =>
      world.rows(
        `insert into events.dead_letter (id, consumer, event_id, order_key, seq, type, status, reason, first_failed_at, last_failed_at, resolved_at)
         values ($1, 'clinical.first', $2, 's:x', 1, 'test.probe.sent.v1', $3, 'permanent', now(), now(), now() - $4 * interval '1 day')`,
        [newUser(), id, status, days],
      );
    await letter(event!.id, 'dead', 0);
    await letter(newUser(), 'resolved', 91);
    await letter(newUser(), 'discarded', 89);
    await letter(newUser(), 'discarded', 91);
    await letter(event!.id, 'discarded', 92);
    await retain({ pool: world.bus, log: silent });
    expect(await world.rows('select id from events.outbox')).toEqual([event]);
    expect(
      await world.rows(
        `select status, round(extract(epoch from now() - resolved_at) / 86400)::int as days from events.dead_letter order by resolved_at desc`,
      ),
    ).toEqual([
      { status: 'dead', days: 0 },
      { status: 'discarded', days: 89 },
      { status: 'discarded', days: 92 },
    ]);
  });
});

test('a batch of which a part was published before leaves no gap between places, nor queues anything twice', async () => {
  await world.asOwner(`insert into events.consumer (name, service, types, partitions, generation)
    select 'clinical.marking', 'clinical', array_agg(name), 4, 1 from events.event_type`);
  const user = newUser();
  await appendEvents(
    as('clinical'),
    [1, 2, 3, 4].map(n => pendingOf('clinical', { userId: user }, { n })),
    null,
  );
  const [log] = await world.rows<{ ids: string[]; group: number }>(
    'select array_agg(id order by seq) as ids, min(slot >> 3)::int as "group" from events.outbox',
  );
  const mark = (ids: string[]) => as('events')('select events.mark_published($1, null, $2::uuid[], true)', [log!.group, ids]);
  await mark([log!.ids[1]!]);
  await mark(log!.ids);
  const places = await world.rows('select position::int as place from events.outbox order by seq');
  expect(places.map(row => row.place)).toEqual([2, 1, 3, 4]);
  expect(await world.rows("select position::int as place from events.lease where name = 'relay:' || $1", [log!.group])).toEqual([
    { place: 4 },
  ]);
  expect(await world.rows('select count(*)::int as queued from events.queue')).toEqual([{ queued: 4 }]);
});

test('an event older than the inbox horizon is refused and not run blindly', async () => {
  const { Handling } = await import('../../events/handling.js');
  const handling = new Handling({ handlers: new Map(), host: {} } as never);
  expect(handling.refusalOf({ event: { id: oldId(36), type: 'x' } as never, malformed: null })).toEqual({
    status: 'dead',
    reason: 'too_old',
  });
  expect(handling.refusalOf({ event: { id: oldId(34), type: 'x' } as never, malformed: null })).toEqual({
    status: 'dead',
    reason: 'unknown_type',
  });
});

test('the relay and its transport get along with one connection', async () => {
  const pool = openPool('events', world.url, 1);
  world.onClose(() => pool.end()); // ends run backwards: after the relay's
  const transport = world.transport();
  await world.relay(transport, { pool });
  await world.emit('clinical', { userId: newUser() }, [1]);
  await until('published', async () => (await world.rows('select from events.outbox where published_at is not null')).length === 1);
});
