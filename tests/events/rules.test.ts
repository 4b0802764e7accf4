import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as define from '../../events/define.js';
import { data, int } from '../../events/payload.js';
import { bodyOf, parseBody, timeOfId } from '../../events/envelope.js';
import { describe as describeError, Permanent, redact } from '../../events/failure.js';
import { KeyScheduler } from '../../events/key-scheduler.js';
import { Limiter } from '../../events/limiter.js';
import { createEventMetrics } from '../../events/metrics.js';
import { OrderWatch } from '../../events/order-watch.js';
import { prepareEvent } from '../../events/outbox.js';
import { partitionOf } from '../../events/transport/port.js';
import { definitions } from './support/definitions.js';

const { stepTaken, userMoved, probeSent } = definitions(define);
const user = '0190b3a0-0000-7000-8000-0000000000a1';
const meta = { source: 'clinical', requestId: null, causationId: null, actor: 'service:clinical', traceparent: null } as const;

describe('prepareEvent', () => {
  test.each([
    [
      'an emitter that is not declared',
      () => prepareEvent(stepTaken, { n: 1 }, { userId: user }, { ...meta, source: 'webhooks' }),
      'is not emitted by webhooks',
    ],
    ['a required user that is missing', () => prepareEvent(userMoved, { n: 1 }, {}, meta), 'needs a user'],
    ['a user where there is none', () => prepareEvent(probeSent, { n: 1 }, { userId: user }, meta), 'has no user'],
    [
      'an unknown key',
      () => prepareEvent(stepTaken, { n: 1, foo: 2 } as never, { userId: user }, meta),
      'data is invalid at / (unrecognized_keys)',
    ],
    [
      'a wrong type, without its value',
      () => prepareEvent(stepTaken, { n: 'LDL 160' } as never, { userId: user }, meta),
      'data is invalid at /n (invalid_type)',
    ],
    [
      'a subject of more than 128 characters',
      () => prepareEvent(probeSent, { n: 1 }, { subject: 'x'.repeat(129) }, meta),
      'a subject has 1 to 128 characters',
    ],
  ])('refuses %s', (_, emit, message) => {
    expect(emit).toThrow(message);
    expect(emit).not.toThrow('LDL');
  });

  test('refuses data of more than 64 KiB', () => {
    const long = { ...stepTaken, schema: data({ n: int(), pad: z.string() }) } as never;
    expect(() => prepareEvent(long, { n: 1, pad: 'x'.repeat(65_536) } as never, { userId: user }, meta)).toThrow('longer than 65536 bytes');
  });

  test('names the subject after the type where neither user nor subject is given', () => {
    expect(prepareEvent(probeSent, { n: 1 }, {}, meta)).toMatchObject({
      user_id: null,
      subject: 'test.probe.sent.v1',
      data: '{"n":1}',
      schema_rev: 1,
    });
    expect(prepareEvent(stepTaken, { n: 1 }, { userId: user, subject: 'ignored' }, meta)).toMatchObject({ user_id: user, subject: null });
  });
});

describe('a kept error', () => {
  test.each([
    ['cannot parse "LDL 160 mg/dL" of maria@example.com', 'cannot parse … of …'],
    ["Unexpected token 'x', at position 17", 'Unexpected token …, at position #'],
    ['no user 0190b3a0-0000-7000-8000-0000000000a1', 'no user #'],
    ['Key (email)=(maria@example.com) already exists.', 'Key … already exists.'],
    ['born 1980-05-06 10:20', 'born # #'],
  ])('%j has no value in it', (text, kept) => {
    expect(redact(text)).toBe(kept);
  });

  test('is at most 500 characters long', () => {
    expect(redact('x'.repeat(2_000))).toHaveLength(500);
  });

  test('of the database is its state and constraint', () => {
    const error = Object.assign(new Error('duplicate key value violates unique constraint, Key (email)=(a@b.c)'), {
      code: '23505',
      constraint: 'member_email_key',
    });
    expect(describeError(error)).toEqual({
      errorClass: 'Error',
      errorMessage: 'SQLSTATE 23505, constraint member_email_key',
      permanent: false,
    });
    expect(describeError(new Error('conflict', { cause: error })).errorMessage).toBe('SQLSTATE 23505, constraint member_email_key');
  });

  test('says whether it is for good', () => {
    expect(describeError(new Permanent('the step is impossible')).permanent).toBe(true);
    expect(describeError(new Error('later')).permanent).toBe(false);
  });
});

describe('the scheduler', () => {
  const gate = () => {
    let [open, fail] = [() => {}, () => {}];
    const promise = new Promise<void>((resolve, reject) => ([open, fail] = [resolve, () => reject(new Error('failed'))]));
    return { promise, open, fail };
  };

  test('runs the tasks of one key one after the other and those of others side by side', async () => {
    const scheduler = new KeyScheduler();
    const order: string[] = [];
    const [first, other] = [gate(), gate()];
    const task =
      (name: string, wait: Promise<void> = Promise.resolve()) =>
      async () => {
        order.push(`${name}>`);
        await wait;
        order.push(`<${name}`);
      };
    const all = [
      scheduler.run('a', task('a1', first.promise)),
      scheduler.run('a', task('a2')),
      scheduler.run('b', task('b1', other.promise)),
    ];
    expect(order).toEqual(['a1>', 'b1>']);
    other.open();
    await all[2];
    first.open();
    await Promise.all(all);
    expect(order).toEqual(['a1>', 'b1>', '<b1', '<a1', 'a2>', '<a2']);
  });

  test('goes on with a key after a task that failed', async () => {
    const scheduler = new KeyScheduler();
    const first = gate();
    const failing = scheduler.run('a', () => first.promise);
    const next = scheduler.run('a', async () => 'done');
    first.fail();
    await expect(failing).rejects.toThrow('failed');
    expect(await next).toBe('done');
  });

  test('the limiter runs so many at once, the others in the order of their arrival, and a failure frees its place', async () => {
    const limiter = new Limiter(2);
    const gates = [gate(), gate(), gate()];
    const started: number[] = [];
    const runs = gates.map(({ promise }, index) => limiter.run(() => (started.push(index), promise)).catch(() => undefined));
    await Promise.resolve();
    expect(started).toEqual([0, 1]);
    gates[0]!.fail();
    await runs[0];
    expect(started).toEqual([0, 1, 2]);
    gates.forEach(one => one.open());
    await Promise.all(runs);
  });
});

test('a body keeps the data byte for byte, also when the data look like the mark before them', () => {
  const row = {
    id: user,
    type: 't.x.v1',
    user_id: null,
    occurred_at: '2026-11-20T09:30:00.123Z',
    data: '{"a" : ",\\"data\\":", "n": 1.0}',
  };
  const body = bodyOf(row as never);
  expect(body).toBe(`{"id":"${user}","type":"t.x.v1","user_id":null,"occurred_at":"2026-11-20T09:30:00.123Z","data":${row.data}}`);
  expect(parseBody(body)).toMatchObject({ id: user, data_text: row.data, data: { a: ',"data":', n: 1 } });
  expect(parseBody('not json')).toBeNull();
  expect(parseBody('{"id":1}')).toBeNull();
});

test('the time of a UUIDv7 is in its first 48 bits', () => {
  expect(new Date(timeOfId('0190b3a0-0000-7000-8000-0000000000a1')).toISOString()).toBe(new Date(0x0190b3a00000).toISOString());
});

test('a slot stays in one partition, and a partition of more is part of one of less', () => {
  for (let slot = 0; slot < 64; slot++) expect(partitionOf(partitionOf(slot, 16), 4)).toBe(partitionOf(slot, 4));
});

test('the order watch tells what comes after a later event of its key', () => {
  const watch = new OrderWatch();
  expect([watch.follows('a', 1), watch.follows('a', 3), watch.follows('b', 2), watch.follows('a', 2), watch.follows('a', 4)]).toEqual([
    true,
    true,
    true,
    false,
    true,
  ]);
});

test('the metrics bear the names of the contract', async () => {
  const registry = new Registry();
  createEventMetrics(registry);
  expect(
    registry
      .getMetricsAsArray()
      .map(metric => metric.name)
      .toSorted(),
  ).toEqual([
    'bus_roundtrip_seconds',
    'consumer_blocked_keys',
    'consumer_handled_total',
    'consumer_lag_seconds',
    'dead_letters_open',
    'events_appended_total',
    'events_out_of_order_total',
    'outbox_oldest_unpublished_seconds',
    'outbox_unpublished',
    'relay_lease_holder',
    'relay_publish_seconds',
  ]);
});
