/**
 * A webhook receiver on all loopback addresses, driven by messages of its parent. Counts requests, looks at the order of each user at each
 * address and path, and notes how long after its emit an event arrived.
 */
import { createServer } from 'node:http';
import { timeOfId } from '../../dist/events/envelope.js';

let seen;
const reset = () => (seen = { count: 0, disordered: 0, ages: [], last: new Map(), firstAt: 0, lastAt: 0 });
let hanging = new Set();

async function take(request, response) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const address = `${request.headers.host}${request.url}`;
  if (hanging.has(address)) return;
  response.writeHead(204).end();
  const { id, user_id: user, data } = JSON.parse(Buffer.concat(chunks));
  const now = Date.now();
  const key = `${address} ${user}`;
  if ((seen.last.get(key) ?? 0) >= data.version) seen.disordered++;
  seen.last.set(key, data.version);
  seen.count++;
  seen.firstAt ||= now;
  seen.lastAt = now;
  seen.ages.push(now - timeOfId(id));
}

const server = createServer((request, response) => void take(request, response));
server.keepAliveTimeout = 60_000;

const answers = {
  reset,
  hang: addresses => void (hanging = new Set(addresses)),
  seen: () => ({ count: seen.count, disordered: seen.disordered, ages: seen.ages, firstAt: seen.firstAt, lastAt: seen.lastAt }),
  stop: () => void setImmediate(() => process.exit(0)),
};
reset();
process.on('disconnect', () => process.exit(1));
process.on('message', ({ id, name, order }) => process.send({ id, answer: answers[name](order) }));
server.listen(0, '0.0.0.0', 65_535, () => process.send({ id: 0, answer: server.address().port }));
