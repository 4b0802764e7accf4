/** The platform as `npm start` runs it, which also sends its parent the memory before and after a garbage collection. Needs --expose-gc. */
import { setTimeout as sleep } from 'node:timers/promises';

const SETTLE_MS = 500;
const mb = bytes => bytes / 2 ** 20;

async function report() {
  const servingMb = mb(process.memoryUsage.rss());
  for (let times = 0; times < 3; times++) {
    // An ordinary collection leaves V8 the pages it has for what comes next, up to three times of what lives; this one gives them back.
    gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    await sleep(SETTLE_MS); // finalizers and closed connections
  }
  const { heapUsed, rss } = process.memoryUsage();
  process.send({ heapMb: mb(heapUsed), rssMb: mb(rss), servingMb });
}

process.on('message', () => void report());
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
await import('../../dist/gateway/main.js');
