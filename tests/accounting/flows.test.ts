import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { commissionPosted, commissionReversed, earningsAccrued } from '../../events/catalogue/affiliates.js';
import { cashExpired, cashGranted, cashSpent } from '../../events/catalogue/cash.js';
import {
  paymentCharged,
  paymentDisputeClosed,
  paymentDisputeCreated,
  paymentInvoicePaid,
  paymentInvoiceRefunded,
  paymentPaid,
  paymentRefunded,
  subscriptionCancelled,
} from '../../events/catalogue/payments.js';
import type { DataOf, EventDefinition } from '../../events/define.js';
import {
  accruedOf,
  chargedOf,
  clawedBackOf,
  closedOf,
  commissionOf,
  disputedOf,
  expiredOf,
  grantedOf,
  invoiceOf,
  paidOf,
  refundedOf,
  spentOf,
} from './facts.js';
import { cashOf, creditOf, earningsOf, Ledger } from './ledger.js';

let l: Ledger;
beforeAll(async () => {
  l = await Ledger.open();
});

type Told = readonly [EventDefinition, DataOf<EventDefinition>];
const permutations = <T>(list: readonly T[]): T[][] =>
  list.length < 2 ? [[...list]] : list.flatMap((one, at) => permutations(list.toSpliced(at, 1)).map(rest => [one, ...rest]));

const HOUSE = [
  'assets:processor:sandbox:usd',
  'assets:processor:unassigned:usd',
  'assets:disputes_receivable:usd',
  'liabilities:clearing:payments:usd',
  'liabilities:clearing:cash:usd',
  'liabilities:deferred_revenue:usd',
  'liabilities:gifts:usd',
  'liabilities:tax:us-ca:usd',
  'income:sales:order:usd',
  'income:sales:subscription:usd',
  'income:breakage:usd',
  'contra_income:refunds:usd',
  'expenses:processing_fees:usd',
  'expenses:dispute_fees:usd',
  'expenses:chargebacks:usd',
  'expenses:promotions:usd',
  'expenses:commissions:usd',
] as const;

const nets = async (): Promise<Map<string, number>> => {
  const report = await l.trialBalance();
  return new Map(report.lines.map((line: any) => [line.account.code, line.debit.amount - line.credit.amount]));
};

/** Debits less credits that a story has left on each account of the house, without those at zero. */
async function effectOf(story: () => Promise<void>): Promise<Record<string, number>> {
  const before = await nets();
  await story();
  const after = await nets();
  const changes = HOUSE.map(code => [code.replace(/:usd$/, ''), (after.get(code) ?? 0) - (before.get(code) ?? 0)] as const);
  return Object.fromEntries(changes.filter(([, change]) => change !== 0));
}

/** These make no entries, so nothing but their handlers keeps a second telling of them from doing anything. */
const WITHOUT_ENTRIES: readonly EventDefinition[] = [paymentInvoicePaid, paymentInvoiceRefunded, subscriptionCancelled];

/** Everything is told twice: the same event again, or the same fact as another event. */
const tell = async (events: readonly Told[], user: string): Promise<void> => {
  for (const [event, data] of events) {
    const id = await l.told(event, data, user);
    await (WITHOUT_ENTRIES.includes(event) ? l.told(event, data, user) : l.redelivered(id));
  }
};

describe('whatever the order', () => {
  const orders = permutations([0, 1, 2]);

  test.each(orders)('a payment that was never settled, its charge and its refund clear: %j', async (...order) => {
    const [user, payment] = [randomUUID(), randomUUID()];
    const none = { obligation_type: null, obligation_id: null, obligation_amount: null, obligation_refunded: null };
    const events: Told[] = [
      [paymentCharged, chargedOf(payment, 500)],
      [paymentRefunded, refundedOf(randomUUID(), payment, 200, none)],
      [paymentRefunded, refundedOf(randomUUID(), payment, 300, none)],
    ];
    const story = () =>
      tell(
        order.map(at => events[at]!),
        user,
      );
    expect(await effectOf(story)).toEqual({});
  });

  test.each(orders)('a refund with tax, cash and credit that bounces is undone: %j', async (...order) => {
    const [user, payment, refund] = [randomUUID(), randomUUID(), randomUUID()];
    const parts = { cash_return_amount: 30, credit_return_amount: 20, tax_amount: 10, tax_region: 'us-ca' };
    const events: Told[] = [
      [paymentCharged, chargedOf(payment, 500)],
      [paymentRefunded, refundedOf(refund, payment, 100, parts)],
      [paymentRefunded, refundedOf(refund, payment, 100, { ...parts, status: 'failed' })],
    ];
    const story = () =>
      tell(
        order.map(at => events[at]!),
        user,
      );
    expect(await effectOf(story)).toEqual({ 'assets:processor:sandbox': 500, 'liabilities:clearing:payments': -500 });
    expect(await l.balance(creditOf(user))).toBe(0);
  });

  test.each([
    ['won', { 'expenses:dispute_fees': 1_500, 'assets:processor:sandbox': 500 - 1_500, 'liabilities:clearing:payments': -500 }],
    [
      'lost',
      {
        'expenses:dispute_fees': 1_500,
        'expenses:chargebacks': 500,
        'assets:processor:sandbox': -1_500,
        'liabilities:clearing:payments': -500,
      },
    ],
  ] as const)('a dispute that is %s', async (outcome, effect) => {
    for (const order of orders) {
      const [user, payment, dispute] = [randomUUID(), randomUUID(), randomUUID()];
      const events: Told[] = [
        [paymentCharged, chargedOf(payment, 500)],
        [paymentDisputeCreated, disputedOf(dispute, payment, 500, 'needs_response')],
        [paymentDisputeClosed, closedOf(dispute, payment, 500, outcome)],
      ];
      const story = () =>
        tell(
          order.map(at => events[at]!),
          user,
        );
      expect(await effectOf(story), JSON.stringify(order)).toEqual(effect);
    }
  });

  test('a warning that is withdrawn books nothing', async () => {
    const [user, dispute] = [randomUUID(), randomUUID()];
    expect(await effectOf(() => tell([[paymentDisputeClosed, closedOf(dispute, randomUUID(), 500, 'withdrawn')]], user))).toEqual({});
  });

  const [gone, back] = [randomUUID(), randomUUID()];
  /** Stories of one commission as affiliates tells them, and what is owed in the end. */
  const commissions: readonly (readonly [what: string, owed: number, story: (commission: string) => Told[]])[] = [
    [
      'posted, then clawed back in part',
      528,
      id => [
        [earningsAccrued, accruedOf(id, 792)],
        [commissionPosted, commissionOf(id, 792)],
        [commissionReversed, { ...clawedBackOf(id, 264), reversal_id: gone }],
      ],
    ],
    [
      'clawed back in part, then posted',
      528,
      id => [
        [earningsAccrued, accruedOf(id, 792)],
        [commissionReversed, { ...clawedBackOf(id, 264), reversal_id: gone }],
        [commissionPosted, commissionOf(id, 528)],
      ],
    ],
    [
      'clawed back by a refund that bounces, then posted',
      792,
      id => [
        [earningsAccrued, accruedOf(id, 792)],
        [commissionReversed, { ...clawedBackOf(id, 264), reversal_id: gone }],
        [earningsAccrued, accruedOf(back, 264)],
        [commissionPosted, commissionOf(id, 792)],
      ],
    ],
    [
      'posted, then clawed back by a refund that bounces',
      792,
      id => [
        [earningsAccrued, accruedOf(id, 792)],
        [commissionPosted, commissionOf(id, 792)],
        [commissionReversed, { ...clawedBackOf(id, 264), reversal_id: gone }],
        [earningsAccrued, accruedOf(back, 264)],
        [commissionPosted, { ...commissionOf(id, 264), accrual_id: back }],
      ],
    ],
  ];

  /** The same story with ids of its own. */
  const renewed = (story: readonly Told[]): Told[] => {
    const [own, other] = [randomUUID(), randomUUID()];
    return JSON.parse(
      JSON.stringify(story.map(([, data]) => data))
        .replaceAll(gone, own)
        .replaceAll(back, other),
    ).map((data: DataOf<EventDefinition>, at: number) => [story[at]![0], data] as const);
  };

  test.each(commissions)(
    'of a commission that is %s nothing stays on hold, and %d are owed, however it is delivered',
    async (_what, owed, story) => {
      const all = permutations(story('').map((_one, at) => at));
      for (const order of all.filter((_one, at) => at % Math.ceil(all.length / 12) === 0)) {
        const user = randomUUID();
        const events = renewed(story(randomUUID()));
        for (const at of [...order, ...order]) await l.delivered(...events[at]!, user, at + 1);
        const left = [await l.balance(`liabilities:earnings_pending:${user}:usd`), await l.balance(earningsOf(user))];
        expect(left, JSON.stringify(order)).toEqual([0, owed]);
      }
    },
  );

  test.each(commissions)('of a commission that is %s %d are owed where all is delivered at once', async (_what, owed, story) => {
    const user = randomUUID();
    const told = renewed(story(randomUUID())).map((one, at) => [one, at + 1] as const);
    await Promise.all(told.toReversed().map(([one, seq]) => l.delivered(...one, user, seq))); // the latest is the first in the books
    expect([await l.balance(`liabilities:earnings_pending:${user}:usd`), await l.balance(earningsOf(user))]).toEqual([0, owed]);
  });
});

describe('cash', () => {
  test.each([
    ['bonus', 'expenses:promotions'],
    ['gift', 'liabilities:gifts'],
    ['refund', 'liabilities:clearing:cash'],
  ] as const)('granted as %s is taken from %s', async (source, account) => {
    const [user, grant] = [randomUUID(), randomUUID()];
    expect(await effectOf(() => tell([[cashGranted, grantedOf(grant, 70, { source })]], user))).toEqual({ [account]: 70 });
    expect(await l.balance(cashOf(user))).toBe(70);
  });

  test('of a grant that lapses in two parts both are booked, each once; a refund that bounces goes back to clearing', async () => {
    const [user, grant, refund] = [randomUUID(), randomUUID(), randomUUID()];
    await l.told(cashGranted, grantedOf(grant, 100), user);
    expect(
      await effectOf(() =>
        tell(
          [
            [cashExpired, expiredOf(grant, 60)],
            [cashExpired, expiredOf(grant, 40)],
          ],
          user,
        ),
      ),
    ).toEqual({ 'income:breakage': -100 });
    expect(await l.balance(cashOf(user))).toBe(0);
    const back = randomUUID();
    await l.told(cashGranted, grantedOf(back, 25, { source: 'refund', reference_type: 'refund', reference_id: refund }), user);
    const revoked = expiredOf(back, 25, { reason: 'revoked', reference_type: 'refund', reference_id: refund });
    expect(await effectOf(() => tell([[cashExpired, revoked]], user))).toEqual({ 'liabilities:clearing:cash': -25 });
  });

  test('spent against an order that it settles alone clears', async () => {
    const [user, order] = [randomUUID(), randomUUID()];
    const paid = paidOf(order, { obligation_type: 'order', order_id: order, cash_amount: 80, tax_amount: 5, tax_region: 'us-ca' });
    const effect = await effectOf(() =>
      tell(
        [
          [paymentPaid, paid],
          [cashSpent, spentOf(randomUUID(), 80, order)],
        ],
        user,
      ),
    );
    expect(effect).toEqual({ 'income:sales:order': -75, 'liabilities:tax:us-ca': -5 });
  });
});

describe('subscriptions', () => {
  const DAY = 86_400_000;
  const now = async (): Promise<number> => (await l.p.sql<{ now: Date }>('select now from accounting.test_clock'))[0]!.now.getTime();

  /** A month of 3,000 whose first ten days are over. */
  async function tenDays(): Promise<{ user: string; invoice: string; subscription: string; from: number }> {
    const [user, invoice, subscription] = [randomUUID(), randomUUID(), randomUUID()];
    const from = await now();
    const about = { invoice_id: invoice, subscription_id: subscription };
    const [period_start, period_end] = [new Date(from).toISOString(), new Date(from + 30 * DAY).toISOString()];
    const opened: Told[] = [
      [paymentPaid, paidOf(invoice, { ...about, obligation_type: 'invoice', purpose: 'invoice', total_amount: 3_000 })],
      [paymentInvoicePaid, invoiceOf(invoice, { subscription_id: subscription, total_amount: 3_000, period_start, period_end })],
    ];
    await tell(opened, user);
    await l.clock({ advance: 'P10D' });
    return { user, invoice, subscription, from };
  }

  test.each([[false], [true]])('a refund takes what is not earned first, told by the invoice before: %s', async invoiceFirst => {
    let open: Awaited<ReturnType<typeof tenDays>>;
    const earned = await effectOf(async () => void (open = await tenDays()));
    expect(earned).toMatchObject({ 'liabilities:deferred_revenue': -2_000, 'income:sales:subscription': -1_000 });
    const { user, invoice, subscription } = open!;
    const ids = { invoice_id: invoice, subscription_id: subscription, obligation_type: 'invoice', obligation_id: invoice } as const;
    const refunded: Told = [paymentRefunded, refundedOf(randomUUID(), randomUUID(), 2_500, ids)];
    const credited: Told = [
      paymentInvoiceRefunded,
      invoiceOf(invoice, { subscription_id: subscription, total_amount: 3_000, amount_refunded: 2_500 }),
    ];
    const effect = await effectOf(async () => {
      await tell(invoiceFirst ? [credited, refunded] : [refunded, credited], user);
      await l.clock({ advance: 'P30D' });
    });
    expect(effect).toEqual({ 'liabilities:deferred_revenue': 2_000, 'contra_income:refunds': 500, 'assets:processor:unassigned': -2_500 });
  });

  test.each([[false], [true]])('the rest of one that ends becomes income then, told before its invoice: %s', async endFirst => {
    const [user, invoice, subscription] = [randomUUID(), randomUUID(), randomUUID()];
    const from = await now();
    const about = { invoice_id: invoice, subscription_id: subscription };
    const ended: Told = [
      subscriptionCancelled,
      {
        kind: 'billing',
        subscription_id: subscription,
        reason: 'moving',
        subject_kind: 'member',
        subject_id: user,
        tier: null,
        ended_at: new Date(from + 2 * DAY).toISOString(),
        at_period_end: false,
        involuntary: false,
      },
    ];
    const [period_start, period_end] = [new Date(from).toISOString(), new Date(from + 30 * DAY).toISOString()];
    const opened: Told[] = [
      [paymentPaid, paidOf(invoice, { ...about, obligation_type: 'invoice', purpose: 'subscription', total_amount: 3_000 })],
      [paymentInvoicePaid, invoiceOf(invoice, { subscription_id: subscription, total_amount: 3_000, period_start, period_end })],
    ];
    const effect = await effectOf(async () => {
      await tell(endFirst ? [ended, ...opened] : [...opened, ended], user);
      await l.clock({ advance: 'P3D' });
    });
    expect(effect).toMatchObject({ 'income:sales:subscription': -3_000 });
    expect(effect['liabilities:deferred_revenue']).toBeUndefined();
  });

  test('a reversed payment takes what is not earned out of its schedule', async () => {
    let open: Awaited<ReturnType<typeof tenDays>>;
    await effectOf(async () => void (open = await tenDays()));
    const [paid] = (await l.get(`/v1/transactions?source_id=${open!.invoice}&source_type=payment.paid`)).body.data;
    await l.call('POST', `/v1/transactions/${paid.id}/reverse`, { reason: 'an error' });
    const effect = await effectOf(() => l.clock({ advance: 'P30D' }));
    expect(effect['income:sales:subscription']).toBeUndefined();
  });
});

test('nothing of a user is deleted by an erasure; the books say why they are kept', async () => {
  const user = randomUUID();
  await l.told(cashGranted, grantedOf(randomUUID(), 70), user);
  const { erase } = (await import('../../subgraphs/accounting/erase.js')) as { erase: any };
  const outcome = await l.p.host('accounting').transaction(ctx => erase(ctx, { userId: user, requestId: randomUUID(), scope: 'full' }));
  expect(outcome).toMatchObject({ outcome: 'retained', records: { wallet: 1, ledger_transaction: 1 } });
  expect(await l.balance(cashOf(user))).toBe(70);
});
