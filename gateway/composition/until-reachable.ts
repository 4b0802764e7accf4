const RETRY_MS = 500;
/** Eleven processes that start together on two busy cores need more than a minute. */
const PATIENCE_MS = 180_000;
/** Failures after which people are told what the start waits for. */
const QUIET_TRIES = 4;

/** Repeats the work for up to three minutes, because identity or the gateway may start later than this process. @throws the last error. */
export async function untilReachable(work: () => Promise<void>, print: (line: string) => void): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      if (tries === QUIET_TRIES) print('  waiting for identity and the gateway to answer …');
      await new Promise(resolve => setTimeout(resolve, RETRY_MS));
    }
  }
}
