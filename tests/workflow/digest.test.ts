import { beforeAll, expect, test } from 'vitest';
import { platform, type TestPlatform } from '../support/platform.js';
import { Orchestrator } from './fixture.js';

let p: TestPlatform;
let w: Orchestrator;

beforeAll(async () => {
  p = await platform({ services: ['workflow', 'comms'] });
  w = await Orchestrator.open(p, '2026-12-01T00:00:00.000Z');
}, 300_000);

const told = (): Promise<unknown[]> =>
  p.sql(`select data->>'recipients' as recipients, data->>'dry_run' as dry_run, data->>'run_id' as run_id from events.outbox
    where type = 'workflow.community_digest_test.v1' order by seq`);
const asked = `select count(*)::int as n from (select 1 from events.outbox where type = 'comms.message.send_requested.v1'
  union all select 1 from comms.send_request union all select 1 from comms.message) sent`;

test('the dry run of the digest renders it by comms, tells one event and sends nothing', async () => {
  const id = await w.start('community_digest', { input: { dry_run: true } });
  expect(await w.reaches(id, 'succeeded')).toMatchObject({ output: { recipients: 0, subject: 'What you missed', dry_run: true } });
  expect(await told()).toEqual([{ recipients: '0', dry_run: 'true', run_id: id }]);
  expect(await p.sql(asked)).toEqual([{ n: 0 }]);
});

test('a digest that comms cannot render fails the run, and no event is told', async () => {
  const before = await told();
  await p.sql(`update comms.template_version set text = 'You were mentioned {count, plural, one' where channel = 'email'
    and template_id = (select id from comms.template where key = 'mention_digest' and brand_id is null)`);
  const id = await w.start('community_digest', { input: { dry_run: true } });
  await w.reaches(id, 'failed');
  expect(await told()).toEqual(before);
});
