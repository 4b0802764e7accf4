/** Load on a gateway: wrk where it is installed, because it takes less of its core, else autocannon in a process of its own. */
import autocannon from 'autocannon';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { has, outputOf, OTHER_CORE } from '../processes.mjs';

export const loader = has('wrk') ? 'wrk' : 'autocannon';

/** Requests in turn over all connections. The last line is what `viaWrk` reads; latencies there are µs. */
const script = (bodies, headers) => `local bodies = {${bodies.map(body => `[==[${body}]==]`).join(',')}}
local requests, at = {}, 0
function init() for k = 1, #bodies do requests[k] = wrk.format("POST", "/graphql", {${Object.entries(headers)
  .map(([name, value]) => `["${name}"]="${value}"`)
  .join(',')}}, bodies[k]) end end
function request() at = at % #requests + 1 return requests[at] end
function done(s, l) local e = s.errors io.write(string.format("RESULT %d %d %.0f %.0f %d\\n", s.requests, s.duration, l:percentile(50), l:percentile(99), e.status + e.read + e.write + e.timeout + e.connect)) end
`;

async function viaWrk({ url, bodies, headers, seconds, connections, folder }) {
  const file = join(folder, 'load.lua');
  await writeFile(file, script(bodies, headers));
  const output = await outputOf(OTHER_CORE, [
    'wrk',
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--latency',
    '--timeout',
    '20s',
    '-s',
    file,
    url,
  ]);
  const [requests, micros, p50, p99, failed] = /RESULT (.*)/.exec(output)[1].split(' ').map(Number);
  return { requests, rps: requests / (micros / 1e6), p50: p50 / 1000, p99: p99 / 1000, failed };
}

async function viaAutocannon(order) {
  const file = join(order.folder, 'load.json');
  await writeFile(file, JSON.stringify(order));
  return JSON.parse(await outputOf(OTHER_CORE, [process.execPath, import.meta.filename, file]));
}

/** Requests, req/s, latencies in ms and failures of one load. `folder` is for its files. */
export const load = order => (loader === 'wrk' ? viaWrk(order) : viaAutocannon(order));

/** Each connection begins at another request, so that equal ones are not under way together. */
async function fire({ url, bodies, headers, seconds, connections }) {
  const requests = bodies.map(body => ({ method: 'POST', path: '/graphql', body, headers }));
  let clients = 0;
  const setupClient = client => {
    const first = (clients++ * Math.ceil(requests.length / connections)) % requests.length;
    client.setRequests([...requests.slice(first), ...requests.slice(0, first)]);
  };
  const result = await autocannon({ url, method: 'POST', connections, duration: seconds, headers, setupClient });
  const { requests: sent, latency, non2xx, errors } = result;
  return { requests: sent.total, rps: sent.total / result.duration, p50: latency.p50, p99: latency.p99, failed: non2xx + errors };
}

if (import.meta.main) process.stdout.write(JSON.stringify(await fire(JSON.parse(await readFile(process.argv[2], 'utf8')))));
