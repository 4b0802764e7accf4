import { setImmediate } from 'node:timers/promises';
import { parse } from 'graphql';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Answer } from '../../gateway/plans/compiled/operation.js';
import { keyOf, type Executor, type FederatedOperation, type FederatedResult } from '../../gateway/plans/executor.js';
import { LONGEST_WAIT_MS } from '../../gateway/plans/flight.js';
import { InFlight } from '../../gateway/plans/in-flight.js';
import { systemCaller } from '../../runtime/request/caller.js';
import { internalRequest, type RequestInfo } from '../../runtime/request/request.js';

const read = 'query Read($id: ID) { one(id: $id) { id } }';
const write = 'mutation Write { change { id } }';

const operation = (source: string, variables = {}): FederatedOperation => ({
  document: parse(source),
  source,
  key: keyOf(source),
  operationName: null,
  variables,
});
const requestOf = (token: string | null): RequestInfo => ({
  ...internalRequest(systemCaller('platform'), undefined, token),
  signal: new AbortController().signal,
});

/** An executor whose answers each test gives. */
function slow(shares = true) {
  const asked: { answer(result: FederatedResult): void; fail(error: Error): void; request: RequestInfo }[] = [];
  const executor: Executor = {
    execute: (_operation, request) =>
      new Promise((resolve, reject) => {
        request.status = 200 + asked.length;
        asked.push({ answer: resolve, fail: reject, request });
      }),
  };
  return { asked, flights: new InFlight(executor, shares) };
}

const answer = (text = '{"one":{"id":"1"}}'): FederatedResult => new Answer(text, []);
const isPending = async (answered: Promise<unknown>): Promise<boolean> =>
  (await Promise.race([answered, setImmediate('pending')])) === 'pending';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

test('equal queries that come while one is under way run once after it, and each gets objects and a status of its own', async () => {
  const { asked, flights } = slow();
  const requests = ['first', 'second', 'third'].map(() => requestOf('a'));
  const [first, second, third] = requests.map(request => flights.execute(operation(read, { id: '1' }), request));
  expect(asked).toHaveLength(1);
  asked[0]!.answer(answer('{"one":{"id":"before"}}'));
  expect((await first)!.data).toEqual({ one: { id: 'before' } });
  expect(asked).toHaveLength(2);
  asked[1]!.answer(answer());
  const [two, three] = await Promise.all([second, third]);
  expect([two!.data, three!.data]).toEqual([{ one: { id: '1' } }, { one: { id: '1' } }]);
  expect(two!.data).not.toBe(three!.data);
  expect(requests.map(({ status }) => status)).toEqual([200, 201, 201]);
  void flights.execute(operation(read, { id: '1' }), requestOf('a'));
  expect(asked).toHaveLength(3);
});

test('a query joins none that began before it, whatever changed meanwhile and wherever', async () => {
  const { asked, flights } = slow();
  const before = flights.execute(operation(read), requestOf('a'));
  const after = flights.execute(operation(read), requestOf('a'));
  asked[0]!.answer(answer('{"one":{"id":"old"}}'));
  await before;
  expect(await isPending(after)).toBe(true);
  asked[1]!.answer(answer('{"one":{"id":"new"}}'));
  expect((await after).data).toEqual({ one: { id: 'new' } });
});

test('a query waits no longer than a moment for a slow one, and those who come then for the next', async () => {
  const { asked, flights } = slow();
  const slowOne = flights.execute(operation(read), requestOf('a'));
  const waiting = [flights.execute(operation(read), requestOf('a')), flights.execute(operation(read), requestOf('a'))];
  vi.advanceTimersByTime(LONGEST_WAIT_MS - 1);
  expect(asked).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(asked).toHaveLength(2);
  const later = flights.execute(operation(read), requestOf('a'));
  asked[1]!.answer(answer());
  await Promise.all(waiting);
  expect(asked).toHaveLength(3);
  expect(await isPending(slowOne)).toBe(true);
  for (const one of [asked[0]!, asked[2]!]) one.answer(answer());
  await Promise.all([slowOne, later]);
});

test.each([
  ['another caller', operation(read, { id: '1' }), 'b'],
  ['nobody', operation(read, { id: '1' }), null],
  ['other variables', operation(read, { id: '2' }), 'a'],
  ['another document', operation(`${read} `, { id: '1' }), 'a'],
  ['the same mutation', operation(write), 'a'],
] as const)('%s never joins', (_title, other, token) => {
  const { asked, flights } = slow();
  void flights.execute(operation(read, { id: '1' }), requestOf('a'));
  void flights.execute(operation(write), requestOf('a'));
  void flights.execute(other, requestOf(token));
  expect(asked).toHaveLength(3);
});

/** What a request carries to the services, but its id and trace; what is added later is tried, too. */
const CARRIED = Object.entries(requestOf('a'))
  .filter(([name, value]) => (value === null || typeof value === 'string') && !['id', 'traceparent', 'status', 'signal'].includes(name))
  .map(([name]) => name);

test.each(CARRIED)('a request with another %s never joins', name => {
  const { asked, flights } = slow();
  void flights.execute(operation(read), requestOf('a'));
  void flights.execute(operation(read), { ...requestOf('a'), [name]: 'another' });
  expect(asked).toHaveLength(2);
});

test('nothing is shared where sharing is off', () => {
  const { asked, flights } = slow(false);
  void flights.execute(operation(read), requestOf('a'));
  void flights.execute(operation(read), requestOf('a'));
  expect(asked).toHaveLength(2);
});

test('what leaves a trace is asked once for each who asked, and from then on by everybody alone', async () => {
  const { asked, flights } = slow();
  const traced = operation(read, { id: '1' });
  const all = ['before', 'first', 'second'].map(() => flights.execute(traced, requestOf('a')));
  asked[0]!.answer(answer());
  await all[0];
  asked[1]!.request.leavesTrace = true;
  asked[1]!.answer(answer());
  await all[1];
  await expect.poll(() => asked.length).toBe(3);
  asked[2]!.answer(answer('{"one":{"id":"2"}}'));
  expect((await all[2]!).data).toEqual({ one: { id: '2' } });
  void flights.execute(traced, requestOf('a'));
  void flights.execute(traced, requestOf('a'));
  expect(asked).toHaveLength(5);
});

test('what is answered without text, which nobody can copy, is asked by each, and from then on without waiting', async () => {
  const { asked, flights } = slow();
  const untold = { data: { one: { id: '1' } }, errors: [] };
  const stock = operation(read);
  const all = ['before', 'first', 'second'].map(() => flights.execute(stock, requestOf('a')));
  asked[0]!.answer(untold);
  await all[0];
  asked[1]!.answer(untold);
  await all[1];
  await expect.poll(() => asked.length).toBe(3);
  asked[2]!.answer(untold);
  await all[2];
  for (const _twice of [1, 2]) void flights.execute(stock, requestOf('a'));
  expect(asked).toHaveLength(5);
});

test('a failure fails every request that waits for it, and none after it', async () => {
  const { asked, flights } = slow();
  const all = ['before', 'first', 'second'].map(() => flights.execute(operation(read), requestOf('a')));
  asked[0]!.fail(new Error('down'));
  await expect(all[0]).rejects.toThrow('down');
  asked[1]!.fail(new Error('down again'));
  expect((await Promise.allSettled(all)).map(one => one.status)).toEqual(['rejected', 'rejected', 'rejected']);
  void flights.execute(operation(read), requestOf('a'));
  expect(asked).toHaveLength(3);
});

/** A request whose client can leave. */
function leaving() {
  const [request, client] = [requestOf('a'), new AbortController()];
  request.signal = client.signal;
  return { request, leave: () => client.abort(new Error('left')) };
}

test('the work of a query ends when the last client that waits has left, and not before', async () => {
  const { asked, flights } = slow();
  const before = flights.execute(operation(read), requestOf('a'));
  const [one, two] = [leaving(), leaving()];
  const both = [flights.execute(operation(read), one.request), flights.execute(operation(read), two.request)] as const;
  asked[0]!.answer(answer());
  await before;
  one.leave();
  await expect(both[0]).rejects.toThrow('left');
  expect(one.request.signal!.aborted).toBe(false); // the first request's work is the second one's too
  two.leave();
  expect(one.request.signal!.aborted).toBe(true);
  asked[1]!.answer(answer());
  await both[1];
});

test('what all have left before it began is not asked, and what one still waits for is', async () => {
  const { asked, flights } = slow();
  const before = flights.execute(operation(read), requestOf('a'));
  const [one, two] = [leaving(), leaving()];
  const both = [flights.execute(operation(read), one.request), flights.execute(operation(read), two.request)] as const;
  one.leave();
  await expect(both[0]).rejects.toThrow('left');
  asked[0]!.answer(answer());
  await before;
  expect(asked).toHaveLength(2);
  const third = leaving();
  const unwanted = flights.execute(operation(read), third.request);
  third.leave();
  await expect(unwanted).rejects.toThrow('left');
  asked[1]!.answer(answer());
  expect((await both[1]).data).toEqual({ one: { id: '1' } });
  expect(asked).toHaveLength(2);
});

test('one whose client has left before it waits is not counted among those who wait', async () => {
  const { asked, flights } = slow();
  const before = flights.execute(operation(read), requestOf('a'));
  const [gone, here] = [leaving(), leaving()];
  gone.leave();
  await expect(flights.execute(operation(read), gone.request)).rejects.toThrow('left');
  const waits = flights.execute(operation(read), here.request);
  asked[0]!.answer(answer());
  await before;
  here.leave();
  expect(asked.map(({ request }) => request.signal?.aborted)).toEqual([false, true]);
  asked[1]!.answer(answer());
  await waits;
});

test('a request that nothing ends shares no execution, because that ends with those who wait', () => {
  const { asked, flights } = slow();
  for (const _twice of [1, 2]) void flights.execute(operation(read), { ...requestOf('a'), signal: null });
  expect(asked).toHaveLength(2);
});

test('a mutation runs to its end, even when its client leaves', () => {
  const { flights } = slow();
  const request = requestOf('a');
  request.signal = AbortSignal.abort();
  void flights.execute(operation(write), request);
  expect(request.signal).toBeNull();
});
