import { randomUUID } from 'node:crypto';
import { parse, type ExecutionResult } from 'graphql';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { internalRequest, type RequestInfo } from '../../runtime/request/request.js';
import { Problem } from '../../runtime/request/errors.js';
import { reach, startCharges } from './support/charges.js';
import { DECLINED, startProcessor, type Processor } from './support/processor.js';
import { CALLER, type Started } from './support/service.js';

let processor: Processor;
let charges: Started;
beforeAll(async () => {
  processor = await startProcessor();
  charges = await startCharges(processor);
});
beforeEach(() => {
  processor.charges.clear();
  processor.calls = 0;
  processor.gate = Promise.resolve();
  reach.isCut = false;
});

const CREATE = parse('mutation Create($amount: Int!) { createTestCharge(amount: $amount) { id amount status total } }');
const CREATE_LESS = parse('mutation Create($amount: Int!) { createTestCharge(amount: $amount) { id } }');

interface Answer {
  result: ExecutionResult<any>;
  request: RequestInfo;
  problem: Problem | undefined;
}

async function create(key: string | null, amount = 100, document = CREATE): Promise<Answer> {
  const request = { ...internalRequest(CALLER), idempotencyKey: key };
  const result = await charges.host.execute({ document, variables: { amount } }, request);
  const cause = result.errors?.[0]?.originalError ?? result.errors?.[0];
  return { result, request, problem: cause instanceof Problem ? cause : undefined };
}

const leaseOver = () => charges.sql(`update payments.idempotency_key set leased_until = now() - interval '1 second' where answer is null`);
const intentsOf = (key: string) =>
  charges.sql<{ id: string; status: string }>(
    `select c.id, c.status from payments.idempotency_key k join payments.charge c on c.id = k.intent_id::uuid where k.key = '${key}'`,
  );
const countCharges = async (where = '') =>
  (await charges.sql<{ count: number }>(`select count(*)::int from payments.charge ${where}`))[0]!.count;
const fault = (point: string) => charges.host.faults.set(point, { match: null, times: 1 });
/** A gate that the test opens. */
function closeGate(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  processor.gate = promise;
  return resolve;
}
async function calledTimes(times: number): Promise<void> {
  await expect.poll(() => processor.calls, { timeout: 20_000 }).toBe(times);
}

test('the intent is committed before the processor is called, and the outcome with the answer after it', async () => {
  const open = closeGate();
  const [key, before, settled] = [randomUUID(), await countCharges(), await countCharges(`where status <> 'PENDING'`)];
  const answer = create(key);
  await calledTimes(1);
  const [intent] = await intentsOf(key);
  expect(intent).toMatchObject({ status: 'PENDING' });
  open();
  const { result, request } = await answer;
  expect(result).toEqual({ data: { createTestCharge: { id: intent!.id, amount: 100, status: 'SUCCEEDED', total: settled + 1 } } });
  expect([request.status, request.isReplayed]).toEqual([202, false]);
  expect([...processor.charges.keys()]).toEqual([intent!.id]);
  expect(await countCharges()).toBe(before + 1);
});

test('no connection of the service is held during the call', async () => {
  const open = closeGate();
  const answers = Array.from({ length: charges.host.config.poolMax + 2 }, () => create(randomUUID()));
  await calledTimes(answers.length);
  expect(await charges.host.read(ctx => ctx.sql('select 1 as one'))).toEqual([{ one: 1 }]);
  open();
  await Promise.all(answers);
});

test('each of the two transactions leaves its audit row', async () => {
  const key = randomUUID();
  await create(key);
  const { id } = (await intentsOf(key))[0]!;
  expect(await charges.sql(`select action from payments.audit_log where target = '${id}' order by id`)).toEqual([
    { action: 'charge.intended' },
    { action: 'createTestCharge' },
  ]);
});

describe('the same key again', () => {
  test('and the same body replays status and answer byte for byte, nested fields included, and charges nothing', async () => {
    const key = randomUUID();
    const first = await create(key);
    await create(randomUUID());
    const second = await create(key);
    expect(JSON.stringify(second.result)).toBe(JSON.stringify(first.result));
    expect([second.request.status, second.request.isReplayed]).toEqual([202, true]);
    expect(processor.calls).toBe(2);
  });

  test('and the row changed meanwhile replays what was answered', async () => {
    const key = randomUUID();
    const first = await create(key);
    await charges.sql(`update payments.charge set status = 'FAILED'`);
    expect((await create(key)).result).toEqual(first.result);
  });

  test.each([
    ['another argument', 101, CREATE],
    ['another selection', 100, CREATE_LESS],
  ])('with %s is a 422', async (_name, amount, document) => {
    const key = randomUUID();
    await create(key);
    const { problem, request } = await create(key, amount, document);
    expect(problem).toMatchObject({ code: 'idempotency_mismatch' });
    expect(request.isReplayed).toBe(false);
  });

  test('while the first is running is a 409, and another body a 422', async () => {
    const open = closeGate();
    const key = randomUUID();
    const first = create(key);
    await calledTimes(1);
    expect((await create(key)).problem).toMatchObject({ code: 'conflict', message: 'A request with this Idempotency-Key is running' });
    expect((await create(key, 101)).problem).toMatchObject({ code: 'idempotency_mismatch' });
    open();
    expect((await first).problem).toBeUndefined();
    expect(processor.calls).toBe(1);
  });

  test('ten at once charge once', async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 10 }, () => create(key)));
    const codes = new Set(answers.map(({ problem }) => problem?.code));
    expect([...codes].filter(code => code !== undefined && code !== 'conflict')).toEqual([]);
    expect(processor.charges.size).toBe(1);
  });

  test('after 24 hours is new', async () => {
    const key = randomUUID();
    const first = await create(key);
    await charges.sql(`update payments.idempotency_key set created_at = now() - interval '25 hours' where key = '${key}'`);
    const second = await create(key);
    expect(second.result.data.createTestCharge.id).not.toBe(first.result.data.createTestCharge.id);
    expect((await create(key)).result).toEqual(second.result);
  });
});

describe('a problem as the outcome', () => {
  test('of a card that is declined is committed, stored and replayed as the same problem', async () => {
    const key = randomUUID();
    const first = await create(key, DECLINED);
    expect(await intentsOf(key)).toMatchObject([{ status: 'DECLINED' }]);
    const second = await create(key, DECLINED);
    const { id } = (await intentsOf(key))[0]!;
    for (const { problem } of [first, second])
      expect(problem).toMatchObject({
        code: 'payment_declined',
        status: 402,
        message: 'The card was declined',
        options: { reason: 'declined', members: { paymentId: id } },
      });
    expect(JSON.stringify(second.result)).toBe(JSON.stringify(first.result));
    expect([first.request.isReplayed, second.request.isReplayed]).toEqual([false, true]);
    expect(processor.calls).toBe(1);
  });

  test('that is a 503 commits what was found out and gives the key up: the next use begins anew', async () => {
    const key = randomUUID();
    reach.isCut = true;
    expect((await create(key)).problem).toMatchObject({ code: 'unavailable' });
    expect(await charges.sql(`select status from payments.charge order by id desc limit 1`)).toEqual([{ status: 'FAILED' }]);
    reach.isCut = false;
    const { result } = await create(key);
    expect(result.data.createTestCharge.status).toBe('SUCCEEDED');
    expect(processor.charges.size).toBe(1);
  });
});

test('a refusal in transaction 1 leaves nothing behind, and the key is free', async () => {
  const [key, before] = [randomUUID(), await countCharges()];
  expect((await create(key, -1)).problem).toMatchObject({ code: 'conflict', message: 'the account is closed' });
  expect(await countCharges()).toBe(before);
  expect((await create(key, 5)).result.errors).toBeUndefined();
});

describe('after a crash', () => {
  test.each([
    ['between transaction 1 and the call', 'before_call', 0],
    ['between the call and transaction 2', 'after_call', 1],
    ['in transaction 2', 'settle', 1],
  ])(
    '%s the key is a 409 while the lease runs, then the same intent is resolved by its id and charged once',
    async (_name, point, made) => {
      const [key, before] = [randomUUID(), await countCharges()];
      fault(point);
      expect((await create(key)).result.errors).toHaveLength(1);
      expect(processor.charges.size).toBe(made);
      expect(await intentsOf(key)).toMatchObject([{ status: 'PENDING' }]);
      expect((await create(key)).problem).toMatchObject({ code: 'conflict' });
      await leaseOver();
      const { result, request } = await create(key);
      const [intent] = await intentsOf(key);
      expect(result.data.createTestCharge).toMatchObject({ id: intent!.id, status: 'SUCCEEDED' });
      expect(request.isReplayed).toBe(false);
      expect([...processor.charges.keys()]).toEqual([intent!.id]);
      expect(await countCharges()).toBe(before + 1);
      expect((await create(key)).result).toEqual(result);
    },
  );

  test('two that come when the lease is over: one takes the intent over, the other is a 409', async () => {
    const key = randomUUID();
    fault('before_call');
    await create(key);
    await leaseOver();
    const open = closeGate();
    const answers = [create(key), create(key)];
    await calledTimes(1);
    await Promise.race(answers); // who takes it over waits at the gate, so it is the other's
    open();
    const problems = (await Promise.all(answers)).map(({ problem }) => problem?.code);
    expect(problems).toHaveLength(2);
    expect(new Set(problems)).toEqual(new Set(['conflict', undefined]));
    expect([processor.calls, processor.charges.size]).toEqual([1, 1]);
  });

  test('a 503 of the one who took over says nothing about the first call: the intent stays open and the key leased', async () => {
    const key = randomUUID();
    fault('after_call');
    await create(key);
    await leaseOver();
    reach.isCut = true;
    expect((await create(key)).problem).toMatchObject({ code: 'unavailable' });
    expect(await intentsOf(key)).toMatchObject([{ status: 'PENDING' }]);
    reach.isCut = false;
    expect((await create(key)).problem).toMatchObject({ code: 'conflict' });
    await leaseOver();
    expect((await create(key)).result.data.createTestCharge.status).toBe('SUCCEEDED');
    expect(processor.charges.size).toBe(1);
  });
});

test('whose call outlasts the lease answers what the one who took over has stored, and writes nothing', async () => {
  const key = randomUUID();
  const open = closeGate();
  const slow = create(key);
  await calledTimes(1);
  processor.gate = Promise.resolve();
  await leaseOver();
  const second = await create(key);
  open();
  const first = await slow;
  expect(first.result).toEqual(second.result);
  expect([first.request.isReplayed, second.request.isReplayed]).toEqual([true, false]);
  expect(processor.charges.size).toBe(1);
});

test('whose call outlasts the lease is a 409 while the one who took over has no answer', async () => {
  const key = randomUUID();
  const open = closeGate();
  const slow = create(key);
  await calledTimes(1);
  await leaseOver();
  fault('after_call');
  processor.gate = Promise.resolve();
  await create(key);
  open();
  expect((await slow).problem).toMatchObject({ code: 'conflict', message: 'Another request has gone on with this Idempotency-Key' });
  expect(await intentsOf(key)).toMatchObject([{ status: 'PENDING' }]);
});

describe('without a key', () => {
  test('the same two transactions run, each time anew', async () => {
    const answers = [await create(null), await create(null)];
    expect(answers.map(({ result }) => result.data.createTestCharge.status)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect(processor.charges.size).toBe(2);
  });

  test('a crash leaves the intent for a sweep', async () => {
    fault('after_call');
    await create(null);
    const [charge] = await charges.sql<{ id: string; status: string }>('select id, status from payments.charge order by id desc limit 1');
    expect(charge!.status).toBe('PENDING');
    expect([...processor.charges.keys()]).toEqual([charge!.id]);
  });
});

test('it stands alone in its document, because that document is the answer that is stored', async () => {
  const document = parse('mutation { a: createTestCharge(amount: 1) { id } b: createTestCharge(amount: 1) { id } }');
  const { problem } = await create(randomUUID(), 1, document);
  expect(problem).toMatchObject({ code: 'invalid_request', message: 'createTestCharge must be alone in its document' });
  expect(processor.calls).toBe(0);
});

test('the answer is sealed', async () => {
  const key = randomUUID();
  const { result } = await create(key);
  const [row] = await charges.sql<{ answer: Buffer }>(`select answer from payments.idempotency_key where key = '${key}'`);
  expect(row!.answer.toString('latin1')).not.toContain(result.data.createTestCharge.id);
});
