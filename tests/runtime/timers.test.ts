import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Context } from '../../runtime/request/context.js';
import type { Timer } from '../../runtime/time/clock.js';
import { earliest } from '../../runtime/time/due.js';
import { leasedRows } from '../../runtime/time/leased-rows.js';
import { startTimers } from '../../runtime/time/timers.js';
import { service } from '../../runtime/service.js';
import { listen } from '../support/statements.js';
import { until } from '../support/until.js';
import { startService, type Started } from './support/service.js';

/** A timer that counts how often it is asked and run. */
class Counted implements Timer<Context> {
  everySeconds = 0.02;
  asked = 0;
  ran = 0;

  constructor(
    readonly name: string,
    private readonly due: (one: Counted) => Date | null,
    private readonly work: () => Promise<void> = async () => undefined,
  ) {}

  async next(): Promise<Date | null> {
    this.asked++;
    return this.due(this);
  }

  async run(): Promise<void> {
    this.ran++;
    await this.work();
  }
}

@Entity({ tableName: 'task' })
class Task {
  @PrimaryKey({ type: 'integer' })
  id: number;

  @Property({ type: 'datetime', length: 3, nullable: true })
  dueAt: Date | null;
}

const declaration = service({
  slug: 'payments',
  purpose: 'Timers, for tests of the runtime.',
  entities: [Task],
  resolvers: [],
  erase: 'nothing_held',
});

let started: Started;
beforeAll(async () => {
  started = await startService(declaration, ['create table payments.task (id int primary key, due_at timestamptz(3))']);
});

/** Runs timers until something holds. */
async function during(timers: readonly Timer<Context>[], what: string, holds: () => boolean): Promise<void> {
  const host = Object.assign(started.host, { timers });
  const running = startTimers(host);
  try {
    await until(what, async () => null, holds);
  } finally {
    await running.stop();
  }
}

const never = (): null => null;
/** Long due; an instant that moves with the clock would stay behind the look that found it. */
const SINCE = new Date('2026-01-01T00:00:00Z');
const once = (one: Counted): Date | null => (one.ran === 0 ? SINCE : null);

describe('timers', () => {
  test('that have nothing due are asked without a transaction, and keep no other process out', async () => {
    const [first, second] = [new Counted('first', never), new Counted('second', never)];
    const { asked, stop } = listen({ env: { DATABASE_URL: started.host.databaseUrl } });
    await during([first, second], 'both to be asked', () => first.asked > 3 && second.asked > 3);
    const texts = asked().map(({ text }) => text);
    stop();
    expect(texts.filter(text => /advisory_xact_lock/.test(text))).toEqual([]);
    expect([first.ran, second.ran]).toEqual([0, 0]);
  });

  /** Asked by a query for the instant that is told. */
  const asking = (name: string, at: (one: Counted) => string, from = ''): Counted => {
    const one: Counted = new Counted(name, never);
    return Object.assign(one, { next: earliest(`select $1::timestamptz as at ${from}`, () => [at(one)]) });
  };
  const [LATER, MUCH_LATER] = ['2998-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z'];
  const onceAsked = (one: Counted): string => (one.ran === 0 ? SINCE.toISOString() : LATER);

  test('that look equally often and have a query are asked by one statement, and one that is due runs', async () => {
    const timers = [asking('later', () => MUCH_LATER), asking('none', () => SINCE.toISOString(), 'where false'), asking('due', onceAsked)];
    const { asked, stop } = listen({ env: { DATABASE_URL: started.host.databaseUrl } });
    await during(timers, 'the one that is due to run', () => timers[2]!.ran > 0);
    const looks = asked().filter(({ text }) => text.includes('$1::timestamptz'));
    stop();
    expect(looks[0]!.values).toEqual([MUCH_LATER, SINCE.toISOString(), SINCE.toISOString()]);
    expect(looks.filter(({ values }) => values.length === 1 && values[0] === MUCH_LATER)).toEqual([]); // nobody was asked alone
    expect(timers.map(({ ran }) => ran)).toEqual([0, 0, 1]);
  });

  test('of which one has a query that fails are asked one by one: it alone is said to have failed', async () => {
    const [broken, due] = [asking('broken', onceAsked, 'from payments.nowhere'), asking('due', onceAsked)];
    const log = vi.spyOn(started.host.log, 'error');
    await during([broken, due], 'the other one to run', () => due.ran > 0 && log.mock.calls.length > 0);
    expect(log.mock.calls[0]).toMatchObject([{ timer: 'broken' }, 'a timer failed; it is tried again']);
    log.mockRestore();
  });

  test('that have something due run once', async () => {
    const due = new Counted('due', once);
    await during([due, new Counted('other', never)], 'the timer to be asked again', () => due.ran > 0 && due.asked > 6);
    expect(due.ran).toBe(1);
  });

  test('that cannot say when they are due hold up nobody else, and are said to have failed', async () => {
    const broken = new Counted('broken', () => {
      throw new Error('unknown column');
    });
    const due = new Counted('due', once);
    const log = vi.spyOn(started.host.log, 'error');
    await during([broken, due], 'the other one to run', () => due.ran > 0 && log.mock.calls.length > 0);
    expect(log.mock.calls[0]).toMatchObject([{ timer: 'broken' }, 'a timer failed; it is tried again']);
    log.mockRestore();
  });

  test('that work are not asked meanwhile, the others are; the stop waits for them', async () => {
    const gate = Promise.withResolvers<void>();
    let ended = false;
    const slow = new Counted('slow', once, async () => {
      await gate.promise;
      ended = true;
    });
    const other = new Counted('other', never);
    const seen = { slow: 0, other: 0 };
    const running = startTimers(Object.assign(started.host, { timers: [slow, other] }));
    await until(
      'the slow one to work',
      async () => null,
      () => slow.ran > 0,
    );
    Object.assign(seen, { slow: slow.asked, other: other.asked });
    await until(
      'the other one to be asked',
      async () => null,
      () => other.asked > seen.other + 3,
    );
    expect(slow.asked).toBe(seen.slow);
    const stopped = running.stop().then(() => expect(ended).toBe(true));
    for (let turn = 0; turn < 20; turn++) await started.sql('select 1'); // longer than any look at timers takes
    gate.resolve();
    await stopped;
  });
});

test('rows that are due at one instant are each worked on by one of the processes that claim them', async () => {
  await started.sql(`insert into payments.task select n, '${SINCE.toISOString()}' from generate_series(1, 30) n`);
  const [worked, gate] = [[] as number[], Promise.withResolvers<void>()];
  const work = async (ctx: Context, { id }: Task): Promise<void> => {
    worked.push(id);
    await gate.promise;
    await ctx.host.transaction(own => own.sql('update payments.task set due_at = null where id = $1', [id]));
  };
  const rows = { name: 'tasks', everySeconds: 0.02, entity: Task, due: 'dueAt', waiting: 'due_at is not null' } as const;
  const host = Object.assign(started.host, { timers: [leasedRows<Task>({ ...rows, most: 20, leaseMs: 1e12, work })] });
  const processes = [startTimers(host), startTimers(host)];
  await until(
    'both to work',
    async () => worked.length,
    many => many === 2,
  );
  gate.resolve();
  await until(
    'all to be done',
    () => started.sql('select from payments.task where due_at is not null'),
    left => left.length === 0,
  );
  await Promise.all(processes.map(one => one.stop()));
  expect(worked.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
});
