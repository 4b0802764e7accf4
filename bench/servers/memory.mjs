/** The platform as `npm start` runs it, which also tells its parent what it holds after a collection of garbage. Needs --expose-gc. */
import { setTimeout as sleep } from 'node:timers/promises';

const SETTLE_MS = 200;

async function tell() {
  for (let times = 0; times < 3; times++) {
    gc();
    await sleep(SETTLE_MS); // finalizers and closed connections
  }
  const { heapUsed, rss } = process.memoryUsage();
  process.send({ heapMb: heapUsed / 2 ** 20, rssMb: rss / 2 ** 20 });
}

process.on('message', () => void tell());
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
await import('../../dist/gateway/main.js');
