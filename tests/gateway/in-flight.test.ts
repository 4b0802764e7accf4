import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { Answer } from '../../gateway/plans/compiled/operation.js';
import { keyOf, type Executor, type FederatedOperation, type FederatedResult } from '../../gateway/plans/executor.js';
import { Changes } from '../../gateway/plans/changes.js';
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
const requestOf = (token: string | null) => internalRequest(systemCaller('platform'), undefined, token);

/** An executor whose answers each test gives. */
function slow(changes: Changes | null = new Changes()) {
  const asked: { answer(result: FederatedResult): void; fail(error: Error): void; request: RequestInfo }[] = [];
  const executor: Executor = {
    execute: (_operation, request) =>
      new Promise((resolve, reject) => {
        request.status = 203;
        asked.push({ answer: resolve, fail: reject, request });
      }),
  };
  return { asked, changes, flights: new InFlight(executor, changes) };
}

const answer = (text = '{"one":{"id":"1"}}'): FederatedResult => new Answer(text, []);

test('equal queries of one caller that are under way together run once, and each gets objects and a status of its own', async () => {
  const { asked, flights } = slow();
  const [first, second] = [requestOf('a'), requestOf('a')];
  const both = [flights.execute(operation(read, { id: '1' }), first), flights.execute(operation(read, { id: '1' }), second)];
  expect(asked).toHaveLength(1);
  asked[0]!.answer(answer());
  const [one, two] = await Promise.all(both);
  expect(one!.data).toEqual(two!.data);
  expect(one!.data).not.toBe(two!.data);
  expect(second.status).toBe(203);
  void flights.execute(operation(read, { id: '1' }), requestOf('a'));
  expect(asked).toHaveLength(2);
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

test('who has seen the answer of a mutation joins no query that began before it', async () => {
  const { asked, flights } = slow();
  void flights.execute(operation(read), requestOf('a'));
  const changed = flights.execute(operation(write), requestOf('a'));
  asked[1]!.answer(answer('{"change":{"id":"1"}}'));
  await changed;
  void flights.execute(operation(read), requestOf('a'));
  expect(asked).toHaveLength(3);
});

test('who has seen the answer of a native path joins no query that began before it', () => {
  const { asked, changes, flights } = slow();
  void flights.execute(operation(read), requestOf('a'));
  changes!.count++;
  void flights.execute(operation(read), requestOf('a'));
  expect(asked).toHaveLength(2);
});

test('nothing is shared where other processes answer, too', () => {
  const { asked, flights } = slow(null);
  void flights.execute(operation(read), requestOf('a'));
  void flights.execute(operation(read), requestOf('a'));
  expect(asked).toHaveLength(2);
});

test('what leaves a trace is asked once for each who asked, and from then on by everybody alone', async () => {
  const { asked, flights } = slow();
  const traced = operation(read, { id: '1' });
  const both = [flights.execute(traced, requestOf('a')), flights.execute(traced, requestOf('a'))];
  asked[0]!.request.leavesTrace = true;
  asked[0]!.answer(answer());
  await both[0];
  await expect.poll(() => asked.length).toBe(2);
  asked[1]!.answer(answer('{"one":{"id":"2"}}'));
  expect((await both[1])!.data).toEqual({ one: { id: '2' } });
  void flights.execute(traced, requestOf('a'));
  void flights.execute(traced, requestOf('a'));
  expect(asked).toHaveLength(4);
});

test('a failure fails every request that waits, and none after it', async () => {
  const { asked, flights } = slow();
  const both = [flights.execute(operation(read), requestOf('a')), flights.execute(operation(read), requestOf('a'))];
  asked[0]!.fail(new Error('down'));
  expect((await Promise.allSettled(both)).map(one => one.status)).toEqual(['rejected', 'rejected']);
  void flights.execute(operation(read), requestOf('a'));
  expect(asked).toHaveLength(2);
});

test('the work of a query ends when the last client that waits has left, and not before', async () => {
  const { asked, flights } = slow();
  const [first, second] = [requestOf('a'), requestOf('a')];
  const [one, two] = [new AbortController(), new AbortController()];
  [first.signal, second.signal] = [one.signal, two.signal];
  const both = [flights.execute(operation(read), first), flights.execute(operation(read), second)] as const;
  one.abort(new Error('left'));
  await expect(both[0]).rejects.toThrow('left');
  expect(first.signal.aborted).toBe(false); // the first request's work is the second one's too
  asked[0]!.answer(answer());
  expect((await both[1]).data).toEqual({ one: { id: '1' } });

  const last = requestOf('a');
  last.signal = two.signal;
  void flights.execute(operation(read), last);
  two.abort(new Error('left too'));
  expect(last.signal.aborted).toBe(true);
  void flights.execute(operation(read), requestOf('a'));
  expect(asked).toHaveLength(3);
});

test('a mutation runs to its end, even when its client leaves', () => {
  const { flights } = slow();
  const request = requestOf('a');
  request.signal = AbortSignal.abort();
  void flights.execute(operation(write), request);
  expect(request.signal).toBeNull();
});
