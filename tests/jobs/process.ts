/**
 * A process of the platform as production starts it, with one more queue, whose handler stays for good where `HOLD` is set. Run by node as it
 * stands, so only erasable syntax.
 */
const DIST = new URL('../../dist/', import.meta.url).href;
const [{ queues }, { jobQueue }, { z }] = await Promise.all([
  import(`${DIST}subgraphs/jobs/workers/queues.js`),
  import(`${DIST}runtime/jobs/queue.js`),
  import('zod'),
]);

queues.push(
  jobQueue('jobs', {
    name: 'jobs.test_crash',
    title: 'Held',
    heartbeatSeconds: 10,
    retryLimit: 2,
    retryDelaySeconds: 5,
    retryBackoff: false,
    payload: z.object({}),
    async run({ attempt }: { attempt: number }) {
      if (process.env.HOLD) await new Promise(() => undefined);
      return { attempt };
    },
  }),
);

await import(`${DIST}gateway/main.js`);
