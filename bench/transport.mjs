/**
 * Which way to a subgraph in another process costs the gateway least: the platform's own data source against other clients, as ratios
 * of one run. Each variant does what a call needs: the forwarded headers, a signal that can end it, a limit on the answer, JSON.
 *
 *   npm run bench:transport                 three rounds of five seconds each
 *   npm run bench:transport -- --rounds 1 --seconds 2 --connections 20
 *
 * `point`: answers of 0.6 KB; `wide`: of 85 KB. The CPU time of a call is the gateway's share alone, and steadier than the rate.
 */
import { createHash } from 'node:crypto';
import { Agent, request as nodeRequest } from 'node:http';
import { connect } from 'node:http2';
import { join } from 'node:path';
import { H2CClient, Pool } from 'undici';
import { HttpDataSource, forwardedHeaders } from '../dist/gateway/sources/http-data-source.js';
import { ANONYMOUS } from '../dist/runtime/request/caller.js';
import { internalRequest } from '../dist/runtime/request/request.js';
import { createMetrics } from '../dist/runtime/observe/metrics.js';
import { connections, freePort, jsonFile, median, rounds, seconds, start, stopAll } from './measure.mjs';
import { writeFile } from 'node:fs/promises';

/** As long as an access token is. */
const TOKEN = `usr_${createHash('sha512').update('token').digest('hex').repeat(6)}`;
const DOCUMENT = 'query($representations:[_Any!]!){_entities(representations:$representations){...on Product{reviews{id body stars}}}}';
const MAX_BYTES = 64 * 1024 * 1024;
const CALL_MS = 25_000;

const variables = { representations: [{ __typename: 'Product', id: '1' }] };
const bodyOf = () => JSON.stringify({ query: DOCUMENT, variables });

/** Pieces of an answer until its end. */
function gather(resolve, reject) {
  const chunks = [];
  let size = 0;
  return {
    add(chunk) {
      size += chunk.length;
      if (size > MAX_BYTES) reject(new Error('the answer is too large'));
      else chunks.push(chunk);
    },
    end: () => resolve(JSON.parse((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString('utf8'))),
  };
}

const settings = { connect: { timeout: 2_000 }, keepAliveTimeout: 30_000, headersTimeout: CALL_MS, bodyTimeout: CALL_MS };

const ownSource = (base, work, pipelined) => {
  const source = new HttpDataSource(work, () => base, 'bench', createMetrics(), pipelined);
  const send = source.prepare(DOCUMENT);
  return { call: request => send(variables, null, request), close: () => source.close() };
};

/** undici's request, with its stream of the body. */
const requesting = (pool, work) => ({
  async call(info) {
    const { body } = await pool.request({
      path: `/${work}/graphql`,
      method: 'POST',
      headers: forwardedHeaders(info),
      body: bodyOf(),
      signal: info.signal,
    });
    return JSON.parse(await body.text());
  },
  close: () => pool.close(),
});

/** undici's dispatch, with a handler of our own instead of a stream. */
const dispatching = (pool, work, more = {}) => ({
  call: info =>
    new Promise((resolve, reject) => {
      const { add, end } = gather(resolve, reject);
      let abort;
      const handler = {
        onRequestStart(controller) {
          abort = () => controller.abort(info.signal.reason);
          info.signal.addEventListener('abort', abort, { once: true });
        },
        onResponseStart() {},
        onResponseData: (_controller, chunk) => add(chunk),
        onResponseEnd() {
          info.signal.removeEventListener('abort', abort);
          end();
        },
        onResponseError: (_controller, error) => reject(error),
      };
      pool.dispatch({ path: `/${work}/graphql`, method: 'POST', headers: forwardedHeaders(info), body: bodyOf(), ...more }, handler);
    }),
  close: () => pool.close(),
});

const nodeHttp = (base, work) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const url = new URL(`/${work}/graphql`, base);
  return {
    call: info =>
      new Promise((resolve, reject) => {
        const { add, end } = gather(resolve, reject);
        const body = bodyOf();
        const headers = { ...forwardedHeaders(info), 'content-length': Buffer.byteLength(body) };
        nodeRequest(url, { method: 'POST', agent, headers, signal: info.signal }, answer => answer.on('data', add).on('end', end))
          .on('error', reject)
          .end(body);
      }),
    close: async () => agent.destroy(),
  };
};

const nodeHttp2 = (base, work, count) => {
  const sessions = Array.from({ length: count }, () => connect(base));
  let turn = 0;
  return {
    call: info =>
      new Promise((resolve, reject) => {
        const { add, end } = gather(resolve, reject);
        const headers = { ':method': 'POST', ':path': `/${work}/graphql`, ...forwardedHeaders(info) };
        const stream = sessions[turn++ % count].request(headers, { signal: info.signal });
        stream.on('data', add).on('end', end).on('error', reject).end(bodyOf());
      }),
    close: async () => sessions.forEach(session => session.destroy()),
  };
};

const VARIANTS = {
  'the data source': (h1, _h2, work) => ownSource(h1, work, true),
  'the same without pipelining': (h1, _h2, work) => ownSource(h1, work, false),
  'undici request': (h1, _h2, work) => requesting(new Pool(h1, { ...settings, connections: 64 }), work),
  'undici request, pipelining 8': (h1, _h2, work) => requesting(new Pool(h1, { ...settings, connections: 8, pipelining: 8 }), work),
  'undici dispatch': (h1, _h2, work) => dispatching(new Pool(h1, { ...settings, connections: 64 }), work),
  'undici dispatch, pipelining 8': (h1, _h2, work) =>
    dispatching(new Pool(h1, { ...settings, connections: 8, pipelining: 8 }), work, { idempotent: true, blocking: false }),
  'undici HTTP/2': (_h1, h2, work) => dispatching(new H2CClient(h2, { headersTimeout: CALL_MS, bodyTimeout: CALL_MS }), work),
  'node:http': (h1, _h2, work) => nodeHttp(h1, work),
  'node:http2, 1 session': (_h1, h2, work) => nodeHttp2(h2, work, 1),
  'node:http2, 4 sessions': (_h1, h2, work) => nodeHttp2(h2, work, 4),
};

/** Calls per second and this process's CPU time for one of them, µs. */
async function measured({ call }, forSeconds) {
  const [until, cpu] = [performance.now() + forSeconds * 1000, process.cpuUsage()];
  let calls = 0;
  const client = async () => {
    while (performance.now() < until) {
      const request = { ...internalRequest(ANONYMOUS, undefined, TOKEN), signal: new AbortController().signal };
      const { data } = await call(request);
      if (!data.reviews) throw new Error('another answer');
      calls++;
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  const { user, system } = process.cpuUsage(cpu);
  return { rps: calls / forSeconds, cpu: (user + system) / calls };
}

async function compare(work, h1, h2) {
  const seen = new Map(Object.keys(VARIANTS).map(name => [name, []]));
  for (let round = -1; round < rounds; round++)
    // the one before the first warms what all share
    for (const [name, open] of Object.entries(VARIANTS)) {
      const variant = open(h1, h2, work);
      await measured(variant, 0.5);
      if (round >= 0) seen.get(name).push(await measured(variant, seconds));
      await variant.close();
    }
  const rows = [...seen].map(([variant, runs]) => ({
    work,
    variant,
    rps: median(runs.map(one => one.rps)),
    cpu: median(runs.map(one => one.cpu)),
  }));
  return rows.map(row => ({ ...row, faster: row.rps / rows[0].rps, cheaper: rows[0].cpu / row.cpu }));
}

const line = cells => `| ${cells.join(' | ')} |`;

try {
  const [port, h2Port] = [await freePort(), await freePort()];
  const [h1, h2] = [port, h2Port].map(one => `http://localhost:${one}`);
  await start(join(import.meta.dirname, 'servers/transport.mjs'), { PORT: String(port), H2_PORT: String(h2Port) }, h1);
  const rows = [...(await compare('point', h1, h2)), ...(await compare('wide', h1, h2))];
  console.log(line(['work', 'way', 'calls/s', 'CPU µs a call', 'rate × the data source', 'CPU: the data source × this']));
  console.log(line(['---', '---', '---', '---', '---', '---']));
  for (const { work, variant, rps, cpu, faster, cheaper } of rows)
    console.log(line([work, variant, Math.round(rps), Math.round(cpu), faster.toFixed(2), cheaper.toFixed(2)]));
  if (jsonFile) await writeFile(jsonFile, JSON.stringify(rows, null, 2));
} finally {
  await stopAll();
}
