import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { paymentPaid } from '../../events/catalogue/payments.js';
import type { Context } from '../../runtime/request/context.js';
import { EARLIEST_DUE } from '../../subgraphs/affiliates/commands/posting.js';
import { consumers } from '../../subgraphs/affiliates/consumers.js';
import { rowsRead } from '../support/plan.js';
import { askedDuring } from '../support/statements.js';
import { Agency, days, usd, type Partner } from './agency.js';

let agency: Agency;
let partner: Partner;
beforeAll(async () => {
  agency = await Agency.open({ transport: 'run' });
  partner = await agency.partner(await agency.program());
});

const waiting = (): Promise<{ id: string }[]> => agency.p.sql('select commission_id as id from affiliates.commission_waiting');

test('a commission waits for its instant while it is neither held nor taken back whole, until it is posted', async () => {
  await agency.pay(partner.user, { affiliate_code: partner.code });
  const [{ id }] = await agency.commissions(partner);
  expect(await waiting()).toEqual([]);
  await agency.rest('POST', `/commissions/${id}/release`);
  expect(await waiting()).toEqual([{ id }]);
  const order = (await agency.p.sql<{ order: string }>('select obligation_id as order from affiliates.commission'))[0]!.order;
  await agency.refund(partner.user, order, 2_640);
  expect(await waiting()).toEqual([{ id }]);
  const refund_id = await agency.refund(partner.user, order, 7_920);
  expect(await waiting()).toEqual([]);
  await agency.refund(partner.user, order, 2_640, { refund_id, status: 'failed' });
  expect(await waiting()).toEqual([{ id }]);
  await agency.clock(days(31));
  await agency.postDue(); // or the timer has
  expect(await agency.commissions(partner)).toMatchObject([{ status: 'posted', net: usd(528) }]);
  expect(await waiting()).toEqual([]);
});

const COPIES = `
with one as (select c from affiliates.commission c limit 1), given as (select gen_random_uuid() as id from generate_series(1, $1)),
  earned as (insert into affiliates.commission
    select (jsonb_populate_record((one.c), jsonb_build_object('id', g.id, 'obligation_id', g.id, 'held_reason', null))).* from one, given g)
select id from given`;

test('what was posted costs a look for what is due nothing: of 2,000 and one that waits one is read', async () => {
  const copies = await agency.p.sql<{ id: string }>(COPIES, [2_001]);
  const posted = copies.slice(1).map(({ id }) => id);
  await agency.p.sql(`insert into affiliates.commission_mark (commission_id, kind, at) select unnest($1::uuid[]), 'posted', now()`, [
    posted,
  ]);
  await agency.p.sql('analyze affiliates.commission_waiting');
  expect(await waiting()).toEqual([{ id: copies[0]!.id }]);
  expect(await rowsRead(agency.p, EARLIEST_DUE)).toBe(1);
});

test('a purchase of somebody who is bound to nobody is passed over, in one transaction of one statement', async () => {
  const [buyer, order] = [await agency.person(), randomUUID()];
  const asked = await askedDuring(agency.p, () => agency.pay(buyer, { obligation_id: order }));
  const own = asked.filter(({ text }) => text.includes('insert into affiliates.inbox'));
  expect(own.map(({ text }) => text.includes('from affiliates.attribution'))).toEqual([true]);
  expect(asked.filter(({ values }) => values.some(one => String(one).includes(`affiliates.obligation order ${order}`)))).toEqual([]);
});

test('it is not passed over where the buyer is bound, though only since the preparation, or brings a code', async () => {
  const buyer = await agency.person();
  const [purchases] = consumers;
  const event = { type: paymentPaid.name, user_id: buyer, data: { affiliate_code: null as string | null } } as any;
  const condition = async (ctx: Context) => purchases!.passOver!(ctx, event, await purchases!.prepare!(ctx, event));
  await agency.p.host('affiliates').read(async ctx => {
    const { text, values } = (await condition(ctx))!;
    const holds = async (): Promise<unknown> => (await ctx.sql(`select ${text} as holds from (select $1::uuid) own(buyer)`, values))[0];
    expect(await holds()).toEqual({ holds: true });
    const token = await agency.click(partner.code);
    await agency.signUp(buyer);
    await agency.claim(buyer, { token });
    expect(await holds()).toEqual({ holds: false });
    expect(await condition(ctx)).toBeNull();
  });
  Object.assign(event, { user_id: await agency.person(), data: { affiliate_code: 'NOBODY' } });
  await agency.p.host('affiliates').read(async ctx => expect(await condition(ctx)).toBeNull());
});
