/**
 * One gateway on so many services, for the benchmark of growth: prints as JSON how long it took to start, its heap, and µs of CPU for a
 * request of so many fetches. Arguments: the supergraph's file, the number of services, `compiled` or `stock`, fetch counts. Needs --expose-gc.
 */
import { parse } from 'graphql';
import { readFile } from 'node:fs/promises';
import { chainOf, nameOf, range, schemaOf } from '../growth-services.mjs';
import { tableSource } from '../table-source.mjs';

const [file, services, executor, fetchCounts] = process.argv.slice(2);
const ROUND_MS = 1_000;
const WARM_UP_MS = 1_000;

const supergraphSdl = await readFile(file, 'utf8');
const heap = () => (gc(), gc(), process.memoryUsage().heapUsed / 2 ** 20);

const [importing, { startGateway }, { internalRequest }, { ANONYMOUS }] = [
  performance.now(),
  await import('../../dist/gateway/plans/gateway.js'),
  await import('../../dist/runtime/request/request.js'),
  await import('../../dist/runtime/request/caller.js'),
];
const importMs = performance.now() - importing;

let calls = 0;
const numbers = new Map(range(Number(services)).map(at => [nameOf(at), at]));
const source = name =>
  tableSource(
    () => schemaOf(numbers.get(name)),
    () => calls++,
  );

/** @apollo/gateway as it comes, for its start and its heap; ours stands on it. */
async function startPlain() {
  process.env.APOLLO_TELEMETRY_DISABLED = 'true';
  const { ApolloGateway } = await import('@apollo/gateway');
  const gateway = new ApolloGateway({
    supergraphSdl,
    buildService: ({ name }) => source(name),
    logger: { ...console, info: () => undefined, debug: () => undefined },
  });
  await gateway.load();
  return gateway;
}

const before = heap();
const started = performance.now();
let gateway = executor === 'stock' ? await startPlain() : await startGateway({ supergraphSdl, source, executor, log: console });
const startMs = performance.now() - started;
const heapMb = heap() - before;

/** µs of CPU of one request, one after the other, JSON text of the answer included. */
async function cpuOf(query, fetches) {
  const [document, request] = [parse(query), internalRequest(ANONYMOUS)];
  const operation = { document, source: query, key: query, operationName: null, variables: {} };
  const run = async () => {
    const result = await gateway.executor.execute(operation, request);
    if (result.errors.length) throw result.errors[0];
    return result.text ?? JSON.stringify(result.data);
  };
  const runFor = async ms => {
    let count = 0;
    for (const until = performance.now() + ms; performance.now() < until;) for (let at = 0; at < 10; at++, count++) await run();
    return count;
  };
  calls = 0;
  await run();
  if (calls !== fetches) throw new Error(`${calls} fetches instead of ${fetches}: ${query}`);
  await runFor(WARM_UP_MS);
  const used = process.cpuUsage();
  const count = await runFor(ROUND_MS);
  const { user, system } = process.cpuUsage(used);
  return (user + system) / count;
}

const cpu = {};
const counts = (fetchCounts ?? '').split(',').filter(Boolean).map(Number);
if (counts.length && executor === 'stock') {
  await gateway.stop();
  gateway = await startGateway({ supergraphSdl, source, executor, log: console });
}
for (const fetches of counts) cpu[fetches] = await cpuOf(chainOf(fetches, numbers.size), fetches);
await gateway.stop();
process.stdout.write(JSON.stringify({ importMs, startMs, heapMb, cpu }));
