import { SecretRefused } from './internal-tokens.js';

const RETRY_MS = 500;
/** Eleven processes that start together on two busy cores need more than a minute. */
const PATIENCE_MS = 180_000;
/** Failures after which people are told what the start waits for. */
const QUIET_TRIES = 4;

/** What lies beneath an error: its message alone tells clients no more than that something cannot be reached. */
function reasonOf(error: unknown): unknown {
  const { originalError, cause } = error as { originalError?: unknown; cause?: unknown };
  const beneath = originalError ?? cause;
  return beneath ? reasonOf(beneath) : error;
}

const messageOf = ({ code, message }: NodeJS.ErrnoException): string => message || (code ?? 'no reason is known');

/** The error of the last try, with its reason for people. */
function explained(error: unknown): Error {
  const reason = reasonOf(error) as Error;
  if (reason === error || reason instanceof SecretRefused) return reason;
  return new Error(`${(error as Error).message}: ${messageOf(reason)}`, { cause: error });
}

/**
 * Repeats the work for up to three minutes, because identity or the gateway may start later than this process; not after a refusal,
 * which waiting does not change. @throws the last error, with its reason.
 */
export async function untilReachable(work: () => Promise<void>, print: (line: string) => void): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const told = explained(error);
      if (told instanceof SecretRefused || performance.now() > deadline) throw told;
      if (tries === QUIET_TRIES) print(`  waiting for identity and the gateway to answer (${told.message}) …`);
      await new Promise(resolve => setTimeout(resolve, RETRY_MS));
    }
  }
}
