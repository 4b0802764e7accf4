import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Consumer, Envelope } from '../../events/consumer.js';
import { handle, Permanent } from '../../events/consumer.js';
import { isLastOfTransaction } from '../../events/prepared.js';
import type { RunningConsumer } from '../../events/running-consumer.js';
import { saveRoundTrips, type PgClient } from '../../runtime/data/round-trips.js';
import { noting, numbers, type Run } from './support/consumers.js';
import { sqlOn, type TestContext } from './support/host.js';
import { dropTemplate, events, kinds, newUser, until, World } from './support/world.js';

const CONSUMER = 'clinical.first';
type Step = Envelope<{ n: number }>;
/** As an operator leaves a dead letter that he discards. */
const GIVEN_UP = `
insert into events.dead_letter (id, consumer, event_id, order_key, seq, type, status, reason, first_failed_at, last_failed_at, resolved_at)
select gen_random_uuid(), $1, o.id, o.order_key, o.seq, o.type, 'discarded', 'permanent', now(), now(), now() from events.outbox o where o.id = $2`;

afterAll(dropTemplate);

/** Events that their handlers have nothing to do with, at hand at the same time. Source: event-machinery 7. */
describe.each(kinds)('%s transport', kind => {
  let world: World;
  let texts: string[];

  beforeEach(async () => {
    world = await World.open(kind);
    texts = [];
    world.pool('clinical').on('connect', client => {
      const query = client.query.bind(client) as PgClient['query'];
      const noted = (...args: any[]) => (texts.push((args[0] as { text?: string }).text ?? (args[0] as string)), query(...args));
      saveRoundTrips(Object.assign(client, { query: noted }) as unknown as PgClient);
    });
  });

  afterEach(() => world.close());

  /** Holds whatever is taken up until it is opened. */
  function gate() {
    const { promise, resolve: open } = Promise.withResolvers<void>();
    const waiting: Step[] = [];
    const prepare = (_ctx: TestContext, event: Step): Promise<void> => (waiting.push(event), promise);
    return { prepare, open, all: (count: number) => until(`${count} at hand`, async () => waiting.length === count) };
  }
  const only = (condition: string) => ({
    passOver: (_ctx: TestContext, { data }: Step) => ({ text: condition, types: { n: 'int' }, values: [data.n] }),
  });
  const start = (options: Partial<Consumer<TestContext>>, run?: Run): Promise<RunningConsumer> => {
    const transport = world.transport();
    return world.consumer(transport, noting(CONSUMER, run, options) as Consumer<TestContext>).then(async consumer => {
      await world.relay(transport);
      return consumer;
    });
  };
  const emitEach = async (steps: readonly (readonly [string, number])[]): Promise<string[]> =>
    (await Promise.all(steps.map(([userId, n]) => world.emit('clinical', { userId }, [n])))).flat();
  const inbox = (): Promise<unknown[]> => sqlOn(world.pool('clinical'))('select from clinical.inbox');
  const inserts = (): string[] => texts.filter(text => text.startsWith('insert into clinical.inbox'));
  const ran = async (): Promise<number[]> => (await world.effects(CONSUMER)).map(({ n }) => n).sort((a, b) => a - b);
  const letters = (): Promise<{ id: string; n: number; status: string }[]> =>
    world.rows(
      `select d.id, (o.data->>'n')::int as n, d.status from events.dead_letter d join events.outbox o on o.id = d.event_id order by n`,
    );

  test('are noted in one statement with its commit', async () => {
    const { prepare, open, all } = gate();
    await start({ prepare, ...only('own.n > 0') });
    await emitEach(numbers(1, 30).map(n => [newUser(), n]));
    await all(30);
    open();
    await until('all are noted', async () => (await inbox()).length === 30);
    expect(inserts().map(isLastOfTransaction)).toEqual([true]);
    expect(await ran()).toEqual([]);
    await until('the queue is empty', async () => (await world.rows('select from events.queue')).length === 0);
  });

  test('have each an answer of its own: noted, handled, done already, given up, behind a dead letter', async () => {
    const [blocked, ...users] = numbers(1, 11).map(newUser);
    const { prepare, open, all } = gate();
    const options = { prepare: (ctx: TestContext, event: Step) => (event.data.n < 0 ? Promise.resolve() : prepare(ctx, event)) };
    await start({ ...options, ...only('own.n % 2 = 0') }, async (_ctx, { data }) => {
      if (data.n < 0) throw new Permanent('the step is impossible');
    });
    await emitEach([[blocked!, -1]]);
    await until('a dead letter', async () => (await letters()).length === 1);
    texts = [];
    const ids = await emitEach([[blocked!, 100], ...users.map((user, at): [string, number] => [user, at + 1])]);
    await all(11);
    await sqlOn(world.pool('clinical'))('insert into clinical.inbox (consumer, event_id) values ($1, $2)', [CONSUMER, ids[2]]);
    await world.asOwner(GIVEN_UP, [CONSUMER, ids[4]]);
    open();
    await until('all are settled', async () => (await inbox()).length === 9 && (await letters()).length === 3);
    await until('the queue is empty', async () => (await world.rows('select from events.queue')).length === 0);
    expect(inserts().filter(isLastOfTransaction)).toHaveLength(1);
    expect(await ran()).toEqual([1, 3, 5, 7, 9]);
    expect((await letters()).map(({ n, status }) => [n, status])).toEqual([
      [-1, 'dead'],
      [4, 'discarded'],
      [100, 'parked'],
    ]);
    expect(await sqlOn(world.pool('clinical'))('select from clinical.inbox where event_id = any ($1)', [[ids[0], ids[4]]])).toEqual([]);
  });

  test('do not wait for one whose key is locked elsewhere', async () => {
    const [locked, ...others] = numbers(1, 10).map(newUser);
    const { prepare, open, all } = gate();
    const elsewhere = await world.pool('clinical').connect();
    world.onClose(async () => elsewhere.release(true));
    await elsewhere.query('begin');
    await elsewhere.query('select events.is_blocked($1, $2)', [CONSUMER, `u:${locked}`]);
    await start({ prepare, ...only('true') });
    const [id] = await emitEach([locked!, ...others].map((user, n) => [user, n]));
    await all(10);
    open();
    await until('the others are noted', async () => (await inbox()).length === 9);
    await emitEach(others.map((user, n) => [user, n]));
    await until('their next ones are noted', async () => (await inbox()).length === 18);
    expect(await sqlOn(world.pool('clinical'))('select from clinical.inbox where event_id = $1', [id])).toEqual([]);
    await elsewhere.query('rollback');
    await until('all are noted', async () => (await inbox()).length === 19);
    expect(await ran()).toEqual([]);
  });

  test('fail each by itself', async () => {
    const { prepare, open, all } = gate();
    const broken = newUser();
    let isBroken = true;
    const passOver = (_ctx: TestContext, { user_id }: Step) => ({
      text: '1 / own.n > 0',
      types: { n: 'int' },
      values: [user_id === broken && isBroken ? 0 : 1],
    });
    await start({ prepare, passOver });
    const users = [broken, ...numbers(1, 9).map(newUser)];
    await emitEach(users.map((user, n) => [user, n]));
    await all(10);
    open();
    await until('the others are noted', async () => (await inbox()).length === 9);
    await emitEach([[broken, 11]]);
    await until('all but one are at hand', async () => (await inbox()).length === 9);
    isBroken = false;
    await until('all are noted', async () => (await inbox()).length === 11);
    expect([await ran(), await letters()]).toEqual([[], []]);
  });

  const thrown = (): never => {
    throw new TypeError('the step has no such thing');
  };
  test.each([
    ['whether a handler is concerned', { on: [handle(events.stepTaken, async () => undefined, thrown)] }],
    ['when the handler has nothing to do', { passOver: thrown }],
    ['what the handler reads first', { read: thrown }],
  ])('are dead letters, as of a handler that throws, where it throws to say %s', async (_what, options) => {
    await start({ ...options, retrySeconds: [600] });
    await emitEach([[newUser(), 1]]);
    const filed = () => world.rows('select status, reason, error_class from events.dead_letter');
    await until('a letter', async () => (await filed()).length === 1);
    expect(await filed()).toEqual([{ status: 'retrying', reason: 'handler_error', error_class: 'TypeError' }]);
    expect(await inbox()).toEqual([]);
  });

  test('are given back by a consumer that stops, and noted by its successor', async () => {
    const { prepare, open, all } = gate();
    const consumer = await start({ prepare, ...only('true') });
    await emitEach(numbers(1, 10).map(n => [newUser(), n]));
    await all(10);
    await consumer.stop();
    open();
    const successor = gate();
    await world.consumer(
      world.transport(),
      noting(CONSUMER, undefined, { prepare: successor.prepare, ...only('true') }) as Consumer<TestContext>,
    );
    await successor.all(10);
    successor.open();
    await until('all are noted', async () => (await inbox()).length === 10);
    expect(await ran()).toEqual([]);
  });

  test('are settled once and in the order of their key, in two processes and beside what handlers run for', async () => {
    const users = numbers(1, 40).map(newUser);
    const options = only('own.n % 3 > 0');
    await start(options);
    await world.consumer(world.transport(), noting(CONSUMER, undefined, options) as Consumer<TestContext>);
    await Promise.all(users.map(userId => world.emit('clinical', { userId }, numbers(1, 15))));
    await until('all are settled', async () => (await inbox()).length === 600);
    const effects = await world.effects(CONSUMER);
    for (const user of users) expect(effects.filter(one => one.order_key === `u:${user}`).map(({ n }) => n)).toEqual([3, 6, 9, 12, 15]);
    const [order] = await world.asOwner(`
      select count(*) filter (where processed_at < before)::int as disordered from (
        select i.processed_at, lag(i.processed_at) over (partition by o.order_key order by o.seq) as before
        from clinical.inbox i join events.outbox o on o.id = i.event_id) e`);
    expect(order).toEqual({ disordered: 0 });
    expect(inserts().filter(isLastOfTransaction).length).toBeLessThan(400);
  });
});
