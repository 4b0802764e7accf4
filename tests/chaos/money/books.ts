import type { Belongings } from './operations.js';
import type { Person, World } from './world.js';

/** Whose books are looked at. */
type Books = Pick<World, 'p' | 'people'>;

/** Balance of an account on its normal side, minor units; 0 where it was never used. */
async function balanceOf(world: Books, code: string): Promise<number> {
  const rows = await world.p.sql<{ balance: number }>(
    `select (case when normal_side = 'debit' then posted_debits - posted_credits else posted_credits - posted_debits end)::float8 as balance
     from accounting.ledger_account where code = $1`,
    [code],
  );
  return rows[0]?.balance ?? 0;
}

const one = async (world: Books, text: string, params: unknown[] = []): Promise<number> =>
  Number((await world.p.sql<{ n: string | null }>(text, params))[0]?.n ?? 0);

/** What was looked at, what it is, and what it should be. */
export type Finding = readonly [what: string, is: number, shouldBe: number];

/** What holds of a currency in the whole house. */
async function ofCurrency(world: Books, currency: string): Promise<Finding[]> {
  const low = currency.toLowerCase();
  const entries = `select coalesce(sum(case when direction = 'debit' then amount else -amount end), 0) as n from accounting.ledger_entry where posted and currency = $1`;
  const processor = `select coalesce(sum((data->>'amount')::bigint - (data->>'fee')::bigint), 0) as n from payments.processor_object where kind = 'balance' and data->>'currency' = $1`;
  return [
    [`Σ debits − Σ credits ${currency}`, await one(world, entries, [currency]), 0],
    [`clearing of payments ${currency}`, await balanceOf(world, `liabilities:clearing:payments:${low}`), 0],
    [`clearing of cash ${currency}`, await balanceOf(world, `liabilities:clearing:cash:${low}`), 0],
    [`processor's balance ${currency}`, await balanceOf(world, `assets:processor:sandbox:${low}`), await one(world, processor, [currency])],
  ];
}

/** A customer's credit, and what purchases and invoices hold of it that are not paid: the books move it when they are. */
const CREDIT = `select (select coalesce(sum(credit_balance), 0) from payments.billing_customer where user_id = $1)
  + (select coalesce(sum(credit_applied), 0) from payments.checkout_session where user_id = $1 and step <> 'done')
  + (select coalesce(sum(credit_applied), 0) from payments.invoice where user_id = $1 and checkout_session_id is null
      and status in ('open', 'past_due', 'uncollectible')) as n`;

/** What holds of a person: cash = lots = wallet, credit = wallet, earnings = what was posted less what was paid out. */
async function ofPerson(world: Books, { id, currency }: Person, own: Belongings): Promise<Finding[]> {
  const low = currency.toLowerCase();
  const lots = 'select coalesce(sum(remaining + reserved), 0) as n from cash.cash_grant where user_id = $1';
  const total = 'select coalesce(sum(granted - spent - expired - revoked), 0) as n from cash.cash_account where user_id = $1';
  const paid = `select coalesce(sum(amount), 0) as n from payments.payout where user_id = $1 and status = 'paid'`;
  const cash = await balanceOf(world, `liabilities:wallet:cash:${id}:${low}`);
  return [
    [`cash wallet of ${id}`, cash, await one(world, lots, [id])],
    [`cash total of ${id}`, cash, await one(world, total, [id])],
    [`credit of ${id}`, await balanceOf(world, `liabilities:wallet:credit:${id}:${low}`), await one(world, CREDIT, [id])],
    [
      `earnings of ${id}`,
      await balanceOf(world, `liabilities:wallet:earnings:${id}:${low}`),
      own.sums.earned - own.sums.reversed - (await one(world, paid, [id])),
    ],
  ];
}

/** Rows that must not be. */
const NEVER: Readonly<Record<string, string>> = {
  'accounts below their floor': `select count(*) as n from accounting.ledger_account where floor is not null and
    (case when normal_side = 'debit' then posted_debits - posted_credits else posted_credits - posted_debits end) < floor`,
  'payments with more given back than captured':
    'select count(*) as n from payments.payment where amount_refunded + amount_disputed > amount_captured',
  'payments that differ from the sum of their refunds': `select count(*) as n from payments.payment p where amount_refunded <>
    (select coalesce(sum(amount), 0) from payments.refund r where r.payment_id = p.id and r.status = 'succeeded')`,
  'payments that differ from the processor': `select count(*) as n from payments.payment p join payments.processor_object o on o.id = p.processor_payment_id
    where (o.data->>'captured')::bigint <> p.amount_captured`,
  'charges that no payment knows': `select count(*) as n from payments.processor_object o where o.kind = 'charge' and (o.data->>'captured')::bigint > 0
    and not exists (select from payments.payment p where p.processor_payment_id = o.id)`,
  'wallets whose chain of balances has a gap': `select count(*) as n from (select balance_after - lag(balance_after) over w as step,
      case when (direction = 'debit') = (a.normal_side = 'debit') then amount else -amount end as moved, account_version - lag(account_version) over w as gap
    from accounting.ledger_entry e join accounting.ledger_account a on a.id = e.account_id where e.posted
    window w as (partition by e.account_id order by e.account_version)) c where step <> moved or gap <> 1`,
};

const PAYMENTS = `select id, amount_captured::float8 as captured, amount_refunded::float8 as refunded from payments.payment where id = any($1::uuid[])`;

/** Payments whose money is another than the answers alone make it. */
async function againstModel(world: Books, belongings: ReadonlyMap<string, Belongings>): Promise<Finding[]> {
  const expected = new Map([...belongings.values()].flatMap(own => [...own.expected]));
  const rows = await world.p.sql<{ id: string; captured: number; refunded: number }>(PAYMENTS, [[...expected.keys()]]);
  return [
    ['payments that callers know', rows.length, expected.size],
    ...rows.flatMap(({ id, captured, refunded }): Finding[] => [
      [`captured of payment ${id}`, captured, expected.get(id)!.captured],
      [`refunded of payment ${id}`, refunded, expected.get(id)!.refunded],
    ]),
  ];
}

/** What of the laws of money does not hold, in words; empty when every cent is where it belongs. */
export async function violations(
  world: Books,
  belongings: ReadonlyMap<string, Belongings>,
  others: readonly Finding[] = [],
): Promise<string[]> {
  const findings: Finding[] = [...others];
  for (const currency of new Set(world.people.map(person => person.currency))) findings.push(...(await ofCurrency(world, currency)));
  for (const person of world.people) findings.push(...(await ofPerson(world, person, belongings.get(person.id)!)));
  findings.push(...(await againstModel(world, belongings)));
  for (const [what, text] of Object.entries(NEVER)) findings.push([what, await one(world, text), 0]);
  return findings.filter(([, is, should]) => is !== should).map(([what, is, should]) => `${what}: ${is} instead of ${should}`);
}
