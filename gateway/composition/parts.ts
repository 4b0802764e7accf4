import type { Config } from '../../runtime/config.js';
import type { Logger } from '../../runtime/observe/log.js';
import type { Metrics } from '../../runtime/observe/metrics.js';
import type { StopStack } from './shutdown.js';

/** What every step of a process's start uses. */
export interface Parts {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Each step adds how to stop what it started. */
  readonly stops: StopStack;
  /** Prints a line for people who wait for the start. */
  readonly print: (line: string) => void;
}
