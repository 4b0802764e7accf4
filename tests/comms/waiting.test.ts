import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { NEXT_DUE } from '../../subgraphs/comms/commands/pipeline/claim.js';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import { rowsRead } from '../support/plan.js';

let p: TestPlatform;
beforeAll(async () => {
  p = await platform({ services: ['comms'] });
});

const COPIES = `
with one as (select m as message, r as request from comms.message m join comms.send_request r on r.id = m.request_id where m.template = 'welcome' limit 1),
  given as (select gen_random_uuid() as message, gen_random_uuid() as request from generate_series(1, $1)),
  requests as (insert into comms.send_request select (jsonb_populate_record((one.request), jsonb_build_object('id', g.request, 'dedupe_key', g.request))).* from one, given g)
insert into comms.message select (jsonb_populate_record((one.message), jsonb_build_object('id', g.message, 'request_id', g.request))).* from one, given g`;

test('messages that are scheduled for later cost a look for what is due nothing: of 2,000 one is read', async () => {
  const token = await p.serviceToken('admin:comms');
  const body = { dedupe_key: randomUUID(), template: 'welcome', user_id: DEMO, channels: ['email'], send_after: '2045-01-01T00:00:00Z' };
  expect((await p.rest('POST', '/comms/v1/messages', { token, body })).status).toBe(202);
  await p.sql(COPIES, [2_000]);
  await p.sql('analyze comms.message');
  const lanes = await p.sql<{ lane: number; n: number }>('select lane, count(*)::int as n from comms.message group by lane');
  expect(lanes).toEqual([{ lane: expect.any(Number), n: 2_001 }]);
  expect(await rowsRead(p, NEXT_DUE, [lanes[0]!.lane])).toBe(1);
});
