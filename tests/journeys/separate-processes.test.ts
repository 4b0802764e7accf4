import { randomUUID } from 'node:crypto';
import { getPriority } from 'node:os';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { cycleOn } from '../platform/flag-changes.js';
import { CYCLE } from '../platform/flag-fixtures.js';
import { separateProcesses, type Processes } from '../support/processes.js';
import { until } from '../support/until.js';
import { cycleInput, retestCycleJourney } from './retest-cycle.js';

const BOTH = '{ brands { nodes { slug } } biomarker(code: "ldl_c") { name } }';

describe(`every service in its own process (${inject('amqpUrl') ? 'RabbitMQ' : 'embedded transport'})`, () => {
  let p: Processes;
  let token: string;
  beforeAll(async () => {
    p = await separateProcesses({ services: ['clinical', 'webhooks'], transport: 'run', env: { STOP_GRACE_MS: '500' } });
    token = await p.serviceToken();
  }, 900_000);

  test('the re-test journey has the same results as in one process', () => retestCycleJourney(p), 120_000);

  test('a flag that is killed is off in the service that reads it, whose process hears of it', async () => {
    const statusOf = async () => (await p.rest('POST', '/clinical/v1/retest-cycles', { token, body: cycleInput(randomUUID()) })).status;
    await p.flag('clinical', CYCLE, null);
    await cycleOn(p);
    await until('the flag to be on', statusOf, status => status !== 403);
    const killed = await p.rest('POST', `/platform/v1/admin/flags/${CYCLE}/kill`, { token, body: { reason: 'error rate' } });
    expect(killed.status).toBe(200);
    await until('the kill to be in force', statusOf, status => status === 403);
  }, 60_000);

  test('a process that answers no requests lets those that do go before it on their machine', async () => {
    const nice = (name: string): number => getPriority(p.children.get(name)!.process.pid);
    await until(
      'the relay to step back',
      async () => nice('relay') - nice('gateway'),
      more => more === 5,
    );
    expect(nice('clinical')).toBe(nice('gateway'));
  });

  test('a service that is killed takes its own fields along and no others, and is back when it is', async () => {
    await p.children.get('clinical')!.end('SIGKILL');
    const answers = await Promise.all(Array.from({ length: 20 }, () => p.graphql(BOTH, {}, { token })));
    for (const { status, data, errors, body } of answers) {
      expect([status, data.brands.nodes.length, data.biomarker]).toEqual([200, 2, null]);
      expect(errors.map(error => error.extensions.code)).toEqual(['UNAVAILABLE']);
      expect(JSON.stringify(body)).not.toMatch(/ECONNREFUSED|node_modules|\bat /);
    }
    const rest = await p.rest('GET', '/clinical/v1/biomarkers/catalog/ldl_c', { token });
    expect([rest.status, rest.body.code, rest.headers['retry-after']]).toEqual([503, 'unavailable', '1']);
    p.restart('clinical');
    const again = await until(
      'clinical to answer again',
      () => p.graphql(BOTH, {}, { token }),
      one => one.errors.length === 0,
      60_000,
    );
    expect(again.data.biomarker.name).toBeTruthy();
  }, 120_000);

  test('a gateway that is told to stop under load answers whoever reaches it, until nobody does', async () => {
    const outcomes: string[] = [];
    const ask = async (): Promise<boolean> => {
      const outcome = await p.graphql(BOTH, {}, { token }).then(
        ({ status, errors }) => `${status} with ${errors.length} errors`,
        (error: Error & { code?: string }) => error.code ?? error.message,
      );
      outcomes.push(outcome);
      return outcome !== 'ECONNREFUSED';
    };
    const loads = Array.from({ length: 20 }, async () => {
      while (await ask());
    });
    await until(
      'answers',
      async () => outcomes.length,
      count => count > 100,
    );
    await p.children.get('gateway')!.end('SIGTERM');
    await Promise.all(loads);
    expect([...new Set(outcomes)]).toEqual(['200 with 0 errors', 'ECONNREFUSED']);
  }, 60_000);
});
