import { beforeAll, describe, expect, test } from 'vitest';
import { inject } from 'vitest';
import { BRAND, DEMO, platform, type TestPlatform } from '../support/platform.js';
import { retestCycleJourney } from './retest-cycle.js';

describe(`a re-test cycle travels from a REST call to a signed webhook (${inject('amqpUrl') ? 'RabbitMQ' : 'embedded transport'})`, () => {
  let p: TestPlatform;
  beforeAll(async () => {
    p = await platform({ transport: 'run' });
  });

  test(
    'from the dark feature to prompt, follow-up, outcome, webhook, statistics and one query over three services',
    () => retestCycleJourney(p),
    90_000,
  );

  test('an unreachable flag store answers 403, as with both flags off', async () => {
    await p.flag('clinical', 'feature.clinical.retest-cycle', '!error');
    const answer = await p.rest('POST', '/clinical/v1/retest-cycles', {
      token: await p.serviceToken(),
      body: { patient_id: DEMO, brand_id: BRAND },
    });
    expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden' } });
  });
});
