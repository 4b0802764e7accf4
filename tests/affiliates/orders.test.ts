import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { ratioOf } from '../../subgraphs/affiliates/rules/arithmetic.js';
import { Agency, T0, type Partner } from './agency.js';

const [WHOLE, AMOUNT] = [7_920, 792];

/** Refunds of one order, of which some bounce later; and whether a dispute of it is lost. */
const history = fc.record({
  parts: fc.array(fc.record({ share: fc.integer({ min: 1, max: 2_600 }), bounces: fc.boolean() }), { minLength: 1, maxLength: 3 }),
  isLost: fc.boolean(),
  order: fc.array(fc.nat({ max: 1_000 }), { minLength: 9, maxLength: 9 }),
});

interface Told {
  /** Null: the payment. */
  refund: string | null;
  status: 'succeeded' | 'failed' | 'lost' | 'paid';
  refunded: number;
  occurred: string;
}

/** What happened, in its order: payment, refunds, bounces, dispute. */
function happened(parts: readonly { share: number; bounces: boolean }[], isLost: boolean): Told[] {
  let [refunded, second] = [0, 0];
  const at = (): string => new Date(Date.parse(T0) + 1_000 * ++second).toISOString();
  const told: Told[] = [{ refund: null, status: 'paid', refunded, occurred: at() }];
  const refunds = parts.map(part => ({ ...part, id: randomUUID() }));
  for (const { id, share } of refunds) told.push({ refund: id, status: 'succeeded', refunded: (refunded += share), occurred: at() });
  for (const { id, share } of refunds.filter(one => one.bounces))
    told.push({ refund: id, status: 'failed', refunded: (refunded -= share), occurred: at() });
  if (isLost) told.push({ refund: null, status: 'lost', refunded, occurred: at() });
  return told;
}

let agency: Agency;
let partner: Partner;
beforeAll(async () => {
  agency = await Agency.open();
  partner = await agency.partner(await agency.program());
});

async function deliver(customer: string, order: string, { refund, status, refunded, occurred }: Told): Promise<void> {
  if (status === 'paid') await agency.pay(customer, { obligation_id: order, order_id: order, affiliate_code: partner.code }, 1, occurred);
  else if (status === 'lost') await agency.dispute(customer, order, 'lost');
  else await agency.refund(customer, order, refunded, { refund_id: refund!, status }, 1, occurred);
}

test('in whatever order payment, refunds, bounces and a lost dispute come, a commission ends at its share to the cent, and its events add up to it', async () => {
  await fc.assert(
    fc.asyncProperty(history, async ({ parts, isLost, order: keys }) => {
      const [customer, order] = [randomUUID(), randomUUID()];
      const told = happened(parts, isLost);
      const shuffled = told.map((one, index) => ({ one, key: keys[index % keys.length]! })).sort((a, b) => a.key - b.key);
      for (const { one } of shuffled) await deliver(customer, order, one);
      const refunded = told.findLast(({ status }) => status !== 'lost')!.refunded;
      const net = isLost ? 0 : AMOUNT - ratioOf(AMOUNT, refunded, WHOLE);
      const [commission] = await agency.p.sql<{ id: string; left: number; least: number; most: number }>(
        `select c.id, c.amount::int - coalesce(sum(r.amount), 0)::int as left, min(r.running)::int as least, max(r.running)::int as most from affiliates.commission c
         left join (select *, sum(amount) over (partition by commission_id order by created_at, id) as running from affiliates.commission_reversal) r on r.commission_id = c.id
         where c.obligation_id = $1 group by c.id`,
        [order],
      );
      expect({ told: shuffled.map(({ one }) => one.status), net: commission!.left }).toEqual({
        told: shuffled.map(({ one }) => one.status),
        net,
      });
      expect([(commission!.least ?? 0) >= 0, (commission!.most ?? 0) <= AMOUNT]).toEqual([true, true]);
      const rows = await agency.p.sql<{ id: string }>('select id from affiliates.commission_reversal where commission_id = $1', [
        commission!.id,
      ]);
      const ids = [commission!.id, ...rows.map(({ id }) => id)];
      const [sum] = await agency.p.sql<{ units: number }>(
        `select sum(case type when 'earnings.accrued.v1' then (data->>'amount')::int else -(data->>'amount')::int end)::int as units from events.outbox
         where (type = 'earnings.accrued.v1' and data->>'accrual_id' = any($1)) or (type = 'affiliate.commission.reversed.v1' and data->>'reversal_id' = any($1))`,
        [ids],
      );
      expect(sum!.units).toBe(net);
    }),
    { numRuns: Number(process.env.AFFILIATE_ORDERS ?? 25), interruptAfterTimeLimit: 150_000 },
  );
}, 200_000);
