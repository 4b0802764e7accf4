const RETRY_MS = 500;
const PATIENCE_MS = 60_000;

/** In separate processes identity or the gateway may start later than we do. */
export async function untilReachable(work: () => Promise<void>, say?: (line: string) => void): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      if (tries === 4) say?.('  waiting for identity and the gateway to answer …');
      await new Promise(resolve => setTimeout(resolve, RETRY_MS));
    }
  }
}
