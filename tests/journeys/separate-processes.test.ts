import { beforeAll, describe, inject, test } from 'vitest';
import { separateProcesses, type Processes } from '../support/processes.js';
import { retestCycleJourney } from './retest-cycle.js';

describe(`every service in its own process (${inject('amqpUrl') ? 'RabbitMQ' : 'embedded transport'})`, () => {
  let p: Processes;
  beforeAll(async () => {
    p = await separateProcesses({ transport: 'run' });
  }, 120_000);

  test('the re-test journey has the same results as in one process', () => retestCycleJourney(p), 120_000);
});
