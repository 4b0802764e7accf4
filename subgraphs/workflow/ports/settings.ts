import { isCron } from '../../../runtime/time/cron.js';
import type { ServiceHost } from '../../../runtime/request/context.js';

export interface WorkflowSettings {
  /** When the loop ticks, UTC. */
  loopTickCron: string;
}

/** @throws Error for a setting that cannot be used. */
export function settingsOf(host: ServiceHost): WorkflowSettings {
  const loopTickCron = host.config.setting('LOOP_TICK_CRON') ?? '7 * * * *';
  if (!isCron(loopTickCron)) throw new Error('LOOP_TICK_CRON is not a cron expression of five fields');
  return { loopTickCron };
}
