import { Problem } from '../../../runtime/request/errors.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { question } from './ask.js';

const TICK = question('intelligence', 'mutation RunLoopTick { runLoopTick { id status } }');

/** Source: workflow 3. */
const TICK_MS = 120_000;

/** What the federation answers where no service has the operation; its only variable is the key, so nothing else can be wrong with it. */
const UNKNOWN: readonly string[] = ['invalid_request', 'internal'];

/**
 * Runs one tick as svc-workflow, once for each key. Another tick that runs is as good (409). A suite without intelligence does not
 * know the operation: that is a service which is not there, so it is asked again, and the run fails in the end.
 */
export async function runLoopTick(host: ServiceHost, idempotencyKey: string): Promise<{ tick_id: string | null; outcome: string }> {
  try {
    const late = new Promise<never>((_, reject) =>
      setTimeout(() => reject(new Problem('unavailable', 'The tick did not answer in time')), TICK_MS).unref(),
    );
    const asked = host.federation.run<{ runLoopTick: { id: string; status: string } }>(TICK.document, {}, { idempotencyKey });
    const { runLoopTick: tick } = await Promise.race([asked, late]);
    return { tick_id: tick.id, outcome: tick.status.toLowerCase() };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === 'conflict') return { tick_id: null, outcome: 'another_tick' };
    if (UNKNOWN.includes(error.code)) throw new Problem('unavailable', 'Intelligence is not available', { cause: error });
    throw error;
  }
}
