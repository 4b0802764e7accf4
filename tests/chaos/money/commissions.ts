import { BRAND, type TestPlatform } from '../../support/platform.js';
import { shareOf } from './halves.js';
import type { Finding } from './books.js';
import type { World } from './world.js';

/** Of a purchase, basis points. */
const RATE_BPS = 1_000;
/** Two barriers: some commissions are owed and some on hold whenever they are looked at. */
const HOLD_DAYS = 6;

const SETTLED = `select e.data->>'obligation_type' as type, e.data->>'obligation_id' as id,
    greatest(0, (e.data->>'subtotal_amount')::bigint - (e.data->>'discount_amount')::bigint)::float8 as base
  from events.outbox e where e.type = 'payment.paid.v1' and e.user_id = any($1::uuid[])`;

const COMMISSIONS = `select c.obligation_id as id, c.amount::float8 as amount, c.held_reason as held,
    coalesce((select sum(r.amount) from affiliates.commission_reversal r where r.commission_id = c.id), 0)::float8 as reversed
  from affiliates.commission c where c.affiliate_id = $1`;

/** Card, cash and credit of what a payment settled, and what of it went back or was lost to the bank. */
const WENT_BACK = `
with lost as (select p.checkout_session_id, p.invoice_id, d.amount_counted from payments.dispute d join payments.payment p on p.id = d.payment_id where d.status = 'lost')
select s.id, (s.total + s.cash_applied + s.credit_applied)::float8 as whole, (s.cash_returned + s.credit_returned
    + coalesce((select sum(p.amount_refunded) from payments.payment p where p.checkout_session_id = s.id), 0))::float8 as back,
  exists (select from lost where lost.checkout_session_id = s.id) as "isLost"
from payments.checkout_session s where s.paid_at is not null and s.user_id = any($1::uuid[])
union all
select i.id, i.total::float8, i.amount_refunded::float8, exists (select from lost where lost.invoice_id = i.id)
from payments.invoice i where i.paid_at is not null and i.user_id = any($1::uuid[])`;

/** What the affiliate is owed, has on hold and was paid, by currency. */
const OWED = `
select currency, sum(case when posted then net else 0 end)::float8 as posted, sum(case when posted then 0 else net end)::float8 as pending,
  coalesce((select sum(o.amount) from payments.payout o where o.user_id = $2 and o.currency = c.currency and o.status = 'paid'), 0)::float8 as paid
from (select c.currency, exists (select from affiliates.commission_mark m where m.commission_id = c.id and m.kind = 'posted') as posted,
    c.amount - coalesce((select sum(r.amount) from affiliates.commission_reversal r where r.commission_id = c.id), 0) as net
  from affiliates.commission c where c.affiliate_id = $1) c group by currency`;

const BALANCE = `select coalesce(sum(posted_credits - posted_debits), 0)::float8 as balance from accounting.ledger_account where code = $1`;

interface Earned {
  id: string;
  amount: number;
  held: string | null;
  reversed: number;
}

interface WentBack {
  id: string;
  whole: number;
  back: number;
  isLost: boolean;
}

/** Somebody who has brought all people of a run and earns 10 % of whatever they pay, in their currencies. */
export class Referrals {
  private constructor(
    private readonly world: World,
    private readonly user: string,
    private readonly affiliate: string,
    private readonly program: string,
  ) {}

  static async open(world: World, p: TestPlatform, user: string): Promise<Referrals> {
    await world.enrol(user);
    const terms = {
      key: 'random',
      name: 'A program',
      brand_id: BRAND,
      minimum_payout: { amount: 100, currency: 'USD' },
      hold_days: HOLD_DAYS,
      self_approval: true,
      tiers: [{ key: 'base', rank: 1, kind: 'percent', rate_bps: RATE_BPS, threshold: { amount: 0, currency: 'USD' } }],
    };
    const program = await world.made('/affiliates/v1/admin/programs', terms);
    const token = await p.userToken(user, ['read:affiliate_self']);
    const { status, body } = await p.rest('POST', '/affiliates/v1/affiliates/me', { token, body: { program_id: program } });
    if (status !== 201) throw new Error(`no affiliate: ${JSON.stringify(body)}`);
    for (const { id } of world.people) await world.made('/affiliates/v1/attributions', { affiliate_id: body.id, user_id: id });
    return new Referrals(world, user, body.id, program);
  }

  /** What is owed so far is paid out. */
  async payOut(): Promise<void> {
    const { status, body } = await this.world.call('POST', '/affiliates/v1/admin/payouts/run', { program_id: this.program });
    if (status !== 202) throw new Error(`no run of payouts: ${status} ${JSON.stringify(body)}`);
  }

  /** Each purchase has earned its commission, and of what went back its share is reversed to the cent; the books show the same. Source: affiliates 7.3, 7.4. */
  async findings(): Promise<Finding[]> {
    return [...(await this.#ofPurchases()), ...(await this.#ofBooks())];
  }

  async #ofPurchases(): Promise<Finding[]> {
    const people = this.world.people.map(({ id }) => id);
    const settled = await this.world.p.sql<{ type: string; id: string; base: number }>(SETTLED, [people]);
    const earned = new Map((await this.world.p.sql<Earned>(COMMISSIONS, [this.affiliate])).map(row => [row.id, row]));
    const back = new Map((await this.world.p.sql<WentBack>(WENT_BACK, [people])).map(row => [row.id, row]));
    return settled.flatMap(({ type, id, base }): Finding[] => {
      const [commission, { whole, back: refunded, isLost }] = [earned.get(id), back.get(id)!];
      const amount = shareOf(base, RATE_BPS, 10_000);
      const reversed = isLost ? amount : shareOf(amount, Math.min(refunded, whole), whole);
      return [
        [`commission of ${type} ${id}`, commission?.amount ?? 0, amount],
        [`commission that is held of ${type} ${id}`, commission?.held ? 1 : 0, 0],
        [`commission reversed of ${type} ${id}`, commission?.reversed ?? 0, reversed],
      ];
    });
  }

  async #ofBooks(): Promise<Finding[]> {
    const owed = await this.world.p.sql<{ currency: string; posted: number; pending: number; paid: number }>(OWED, [
      this.affiliate,
      this.user,
    ]);
    const balance = async (account: string, currency: string): Promise<number> =>
      (await this.world.p.sql<{ balance: number }>(BALANCE, [`liabilities:${account}:${this.user}:${currency.toLowerCase()}`]))[0]!.balance;
    const findings = owed.map(async ({ currency, posted, pending, paid }): Promise<Finding[]> => [
      [`earnings of the affiliate ${currency}`, await balance('wallet:earnings', currency), posted - paid],
      [`earnings on hold of the affiliate ${currency}`, await balance('earnings_pending', currency), pending],
    ]);
    return (await Promise.all(findings)).flat();
  }
}
