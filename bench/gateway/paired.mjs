/**
 * CPU and calls of a request to the gateway now and in another checkout, in turns on the same canned services, so that both meet the same
 * machine, however busy it is.
 *
 *   npm run bench:gateway:paired -- --with ../before            the other checkout, set up (`node scripts/setup.mjs`)
 *   npm run bench:gateway:paired -- --with ../before --variants ours-process --workloads wide --rounds 20
 *
 * Prints the medians of both and of the ratios of neighbouring turns, and the quarters between which half of the ratios lie: a ratio whose
 * quarters enclose 1 is noise.
 */
import autocannon from 'autocannon';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { join, resolve } from 'node:path';
import { freePort } from '../port.mjs';
import { cpuOf, GATEWAY_CORE, moveTo, OTHER_CORE, run, START_FLAGS, stopAll, untilReady } from '../processes.mjs';
import { writeSupergraphs } from './canned/compose.ts';
import { VARIANTS, WORK } from './variants.mjs';
import { bodiesOf, WORKLOADS } from './workloads.ts';

const { values: flags } = parseArgs({
  options: {
    with: { type: 'string' },
    variants: { type: 'string', default: 'ours-network,ours-process' },
    workloads: { type: 'string', default: Object.keys(WORKLOADS).join(',') },
    rounds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '50' },
  },
});
if (!flags.with) throw new Error('--with names the folder of the other checkout');
const [rounds, connections] = [flags.rounds, flags.connections].map(Number);
const CHECKOUTS = { now: join(import.meta.dirname, '../..'), before: resolve(flags.with) };
/** Requests of a turn: about a second. Before the first turn each gateway gets ten times as many, until the compiler has done its work. */
const REQUESTS = { point: 1_500, one: 3_000, page: 1_500, wide: 200 };
const JSON_TYPE = { 'content-type': 'application/json' };

const servicesPort = await freePort();
const services = `http://127.0.0.1:${servicesPort}`;
const callsSoFar = async () => (await (await fetch(`${services}/stats`)).json()).calls;
const ask = async (port, body) => (await fetch(`http://127.0.0.1:${port}/graphql`, { method: 'POST', headers: JSON_TYPE, body })).json();

async function startGateway(which, variant) {
  const port = await freePort();
  const env = { ...VARIANTS[variant].env, NODE_ENV: 'production', PORT: String(port), SUBGRAPHS: services };
  const command = [process.execPath, ...START_FLAGS, join(CHECKOUTS[which], 'bench/gateway/ours.mjs')];
  const child = run(GATEWAY_CORE, command, { env });
  const [probe] = bodiesOf(WORKLOADS.point);
  await untilReady(child, async () => (await ask(port, probe)).data?.user != null);
  return { child, port };
}

/** CPU, ms, and calls of services for each request of one turn. */
async function turn({ child, port }, work, amount) {
  const requests = bodiesOf(WORKLOADS[work]).map(body => ({ method: 'POST', path: '/graphql', body, headers: JSON_TYPE }));
  const before = [cpuOf(child), await callsSoFar()];
  const {
    requests: sent,
    non2xx,
    errors,
  } = await autocannon({
    url: `http://127.0.0.1:${port}`,
    connections,
    requests,
    amount,
    timeout: 60, // seconds: a busy machine answers late, which is no failure
  });
  if (non2xx > 0 || errors > 0) throw new Error(`${non2xx} refusals, ${errors} errors`);
  return { cpu: (cpuOf(child) - before[0]) / sent.total, calls: ((await callsSoFar()) - before[1]) / sent.total };
}

const quantile = (list, share) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))];
const median = (turns, key, digits) =>
  quantile(
    turns.map(one => one[key]),
    0.5,
  ).toFixed(digits);

async function compare(variant, work, gateways) {
  const answers = await Promise.all(Object.values(gateways).map(({ port }) => ask(port, bodiesOf(WORKLOADS[work])[0])));
  if (!answers[0].data || !isDeepStrictEqual(...answers)) throw new Error(`${work}: the answers differ`);
  for (const one of Object.values(gateways)) await turn(one, work, 10 * REQUESTS[work]);
  const turns = { now: [], before: [] };
  for (let round = 0; round < rounds; round++)
    for (const which of round % 2 ? ['before', 'now'] : ['now', 'before'])
      turns[which].push(await turn(gateways[which], work, REQUESTS[work]));
  const ratios = turns.now.map(({ cpu }, round) => cpu / turns.before[round].cpu);
  const [low, middle, high] = [0.25, 0.5, 0.75].map(share => quantile(ratios, share).toFixed(2));
  const cells = ['now', 'before'].flatMap(which => [median(turns[which], 'cpu', 3), median(turns[which], 'calls', 1)]);
  console.log(`| ${VARIANTS[variant].title} | ${work} | ${cells.join(' | ')} | ${middle} | ${low}-${high} |`);
}

moveTo(OTHER_CORE);
try {
  await writeSupergraphs(WORK, services);
  const child = run(OTHER_CORE, [process.execPath, join(import.meta.dirname, 'canned/server.ts')], { env: { PORT: servicesPort } });
  await untilReady(child, async () => (await callsSoFar()) >= 0);
  console.log('| gateway | work | CPU now, ms | calls | CPU before, ms | calls | ratio | half of the ratios |');
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- |');
  for (const variant of flags.variants.split(',')) {
    const gateways = { now: await startGateway('now', variant), before: await startGateway('before', variant) };
    for (const work of flags.workloads.split(',')) await compare(variant, work, gateways);
    await stopGateways(gateways);
  }
} finally {
  await stopAll();
}

async function stopGateways(gateways) {
  for (const { child } of Object.values(gateways)) child.kill('SIGTERM');
}
