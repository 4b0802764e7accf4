import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { BANK, cashOf, credit, creditOf, debit, earningsOf, Ledger, type Line } from './ledger.js';

let l: Ledger;
beforeAll(async () => {
  l = await Ledger.open();
});

/** What may happen to three wallets and the bank; `of` picks among the transactions so far. */
type Operation =
  | { do: 'post' | 'hold'; from: number; to: number; amount: number; guard: number | null }
  | { do: 'settle' | 'release' | 'reverse'; of: number; part: number };

const wallet = fc.integer({ min: 0, max: 3 });
const money = fc.integer({ min: 1, max: 400 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('post', 'hold'),
      from: wallet,
      to: wallet,
      amount: money,
      guard: fc.option(fc.integer({ min: -50, max: 100 })),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constantFrom('settle', 'release', 'reverse'), of: fc.nat(40), part: fc.integer({ min: 1, max: 100 }) }),
  },
) as fc.Arbitrary<Operation>;

interface Done {
  id: string;
  kind: 'post' | 'hold' | 'settle' | 'release' | 'reverse';
  from: number;
  to: number;
  amount: number;
  ended: boolean;
}

/** The reference: four accounts, as plainly as can be. Wallets 0 and 1 have a floor of 0, wallet 2 (earnings) and the bank have none. */
class Model {
  readonly balance = [0, 0, 0, 0];
  readonly held = [0, 0, 0, 0];
  readonly done: Done[] = [];

  available(account: number): number {
    return this.balance[account]! - this.held[account]!;
  }

  /** Whether `amount` may leave: the bank is an asset, which has no floor here. */
  #may(from: number, to: number, amount: number, isHold: boolean, guard: number | null): boolean {
    const leaves = from === to && !isHold ? 0 : amount; // what stays in the account is held all the same
    const after = this.available(from) - leaves;
    if (from < 2 && leaves > 0 && after < 0) return false;
    return guard === null || from === 3 || after >= guard;
  }

  post(kind: 'post' | 'hold', from: number, to: number, amount: number, guard: number | null): boolean {
    if (!this.#may(from, to, amount, kind === 'hold', guard)) return false;
    if (kind === 'hold') this.held[from]! += amount;
    else this.#move(from, to, amount);
    return true;
  }

  #move(from: number, to: number, amount: number): void {
    this.balance[from]! -= amount;
    this.balance[to]! += amount;
  }

  settle(one: Done, amount: number): boolean {
    if (one.kind !== 'hold' || one.ended) return false;
    this.held[one.from]! -= one.amount;
    this.#move(one.from, one.to, amount);
    return (one.ended = true);
  }

  release(one: Done): boolean {
    if (one.kind !== 'hold' || one.ended) return false;
    this.held[one.from]! -= one.amount;
    return (one.ended = true);
  }

  reverse(one: Done): boolean {
    if ((one.kind !== 'post' && one.kind !== 'settle') || one.ended) return false;
    if (!this.#may(one.to, one.from, one.amount, false, null)) return false;
    this.#move(one.to, one.from, one.amount);
    return (one.ended = true);
  }
}

/** Both sides of an operation, in the ledger and in the model. */
class Run {
  readonly model = new Model();
  readonly codes: readonly string[];

  constructor(user: string) {
    this.codes = [cashOf(user), creditOf(user), earningsOf(user), `assets:processor:${user}:usd`];
  }

  #lines(from: number, to: number, amount: number, guard: number | null): Line[] {
    const more = guard === null || from === 3 ? {} : { min_available: guard };
    return [debit(this.codes[from]!, amount, more), credit(this.codes[to]!, amount)];
  }

  async apply(one: Operation): Promise<void> {
    if ('from' in one) return this.#post(one.do, one);
    const target = this.model.done[one.of % Math.max(1, this.model.done.length)];
    if (!target) return;
    if (one.do === 'settle') await this.#settle(target, Math.max(1, Math.floor((target.amount * one.part) / 100)));
    if (one.do === 'release') await this.#resolve(target, 'void', {}, this.model.release(target));
    if (one.do === 'reverse') await this.#reverse(target);
  }

  async #post(
    kind: 'post' | 'hold',
    { from, to, amount, guard }: { from: number; to: number; amount: number; guard: number | null },
  ): Promise<void> {
    const expected = this.model.post(kind, from, to, amount, guard);
    const answer = await l.post(this.#lines(from, to, amount, guard), { pending: kind === 'hold' });
    expect(answer.status, JSON.stringify([kind, from, to, amount, guard, answer.body])).toBe(expected ? 201 : 409);
    if (expected) this.model.done.push({ id: answer.body.id, kind, from, to, amount, ended: false });
  }

  async #settle(target: Done, amount: number): Promise<void> {
    const expected = this.model.settle(target, amount);
    const id = await this.#resolve(target, 'post', { amount: { amount, currency: 'USD' } }, expected);
    if (expected) this.model.done.push({ ...target, id, kind: 'settle', amount, ended: false });
  }

  async #resolve({ id }: Done, action: string, body: object, expected: boolean): Promise<string> {
    const answer = await l.call('POST', `/v1/transactions/${id}/${action}`, body);
    expect(answer.status, JSON.stringify([action, answer.body])).toBe(expected ? 201 : 409);
    return answer.body.id;
  }

  async #reverse(target: Done): Promise<void> {
    await this.#resolve(target, 'reverse', { reason: 'by chance' }, this.model.reverse(target));
  }

  /** Of the processor, an asset, the balance is the other way round. */
  async compare(): Promise<void> {
    for (const [at, code] of this.codes.entries()) {
      const account = await l.account(code);
      if (!account) continue;
      const sign = at === 3 ? -1 : 1;
      expect([code, account.balance.amount], code).toEqual([code, sign * this.model.balance[at]! + 0]);
      if (at < 3) expect([code, account.available.amount]).toEqual([code, this.model.available(at)]);
    }
  }
}

describe('random histories', () => {
  test('of postings, holds, settlements, releases and reversals leave what a plain model says', async () => {
    const histories = fc.asyncProperty(fc.array(operation, { minLength: 25, maxLength: 45 }), async operations => {
      const run = new Run(randomUUID());
      for (const one of operations) await run.apply(one);
      await run.compare();
    });
    await fc.assert(histories, { numRuns: 6, endOnFailure: true });
    expect((await l.call('POST', '/v1/admin/rebuild-balances', {})).body.drifted).toEqual([]);
    expect((await l.trialBalance()).balanced).toBe(true);
    await l.sealed();
    expect(await l.verify()).toMatchObject({ ok: true });
  }, 120_000);
});

describe('at once', () => {
  const deadlocks = async (): Promise<number> =>
    Number((await l.p.sql('select deadlocks from pg_stat_database where datname = current_database()'))[0]!.deadlocks);

  test('case 14: with half of all traffic on one account nothing deadlocks, and debits are credits', async () => {
    const [hot, before] = [cashOf(randomUUID()), await deadlocks()];
    const others = Array.from({ length: 20 }, () => cashOf(randomUUID()));
    await l.fund(hot, 3_000);
    for (const code of others) await l.fund(code, 100);
    const pick = (at: number): string => (at % 2 ? hot : others[at % others.length]!);
    const batches = Array.from({ length: 12 }, (_, round) =>
      l.call('POST', '/v1/transactions/batch', {
        atomic: false,
        transactions: Array.from({ length: 40 }, (_one, at) =>
          l.body(at % 3 ? [debit(pick(at), 7), credit(pick(at + 3 + round), 7)] : [debit(pick(at + round), 5), credit(BANK, 5)]),
        ),
      }),
    );
    const resolved = Array.from({ length: 20 }, async () => {
      const held = await l.post([debit(hot, 10), credit(BANK, 10)], { pending: true });
      return held.status === 201 ? l.call('POST', `/v1/transactions/${held.body.id}/post`, {}) : held;
    });
    const answers = await Promise.all([...batches, ...resolved]);
    expect(answers.every(one => one.status < 500)).toBe(true);
    expect(await deadlocks()).toBe(before);
    const [sums] = await l.p.sql(
      `select sum(case direction when 'debit' then amount else - amount end)::int as net from accounting.ledger_entry where posted`,
    );
    expect(sums!.net).toBe(0);
    expect((await l.call('POST', '/v1/admin/rebuild-balances', {})).body.drifted).toEqual([]);
    const below = await l.p.sql(
      'select 1 from accounting.ledger_account where floor is not null and posted_credits - posted_debits - pending_debits < floor',
    );
    expect(below).toEqual([]);
  });

  test('of twenty reservations that end at once each is given back', async () => {
    const code = cashOf(randomUUID());
    await l.fund(code, 1_000);
    const hold = () => l.post([debit(code, 50), credit(BANK, 50)], { pending: true });
    const held = await Promise.all(Array.from({ length: 20 }, hold));
    expect(await l.available(code)).toBe(0);
    const ended = await Promise.all(
      held.map(({ body }, at) => l.call('POST', `/v1/transactions/${body.id}/${at % 4 ? 'void' : 'post'}`, {})),
    );
    expect(ended.map(one => one.status)).toEqual(Array<number>(20).fill(201));
    expect([await l.balance(code), await l.available(code)]).toEqual([750, 750]);
  });

  test('twenty postings of one source at once are one transaction', async () => {
    const code = cashOf(randomUUID());
    const body = l.body([debit(BANK, 9), credit(code, 9)]);
    const answers = await Promise.all(Array.from({ length: 20 }, () => l.call('POST', '/v1/transactions', body)));
    expect(answers.filter(one => one.status === 201)).toHaveLength(1);
    expect(new Set(answers.map(one => one.body.id)).size).toBe(1);
    expect(await l.balance(code)).toBe(9);
  });

  test('an atomic batch is booked whole or not at all, also where its own postings use up a wallet', async () => {
    const code = cashOf(randomUUID());
    await l.fund(code, 100);
    const spend = () => l.body([debit(code, 60), credit(BANK, 60)]);
    const both = await l.call('POST', '/v1/transactions/batch', { transactions: [spend(), spend()] });
    expect(both.body.data.map((one: any) => one.code)).toEqual(['batch_aborted', 'insufficient_funds']);
    expect(await l.balance(code)).toBe(100);
    const one = await l.call('POST', '/v1/transactions/batch', { transactions: [spend(), spend()], atomic: false });
    expect(one.body.data.map((each: any) => each.result)).toEqual(['created', 'rejected']);
  });

  test('what is posted never comes before what has a lower sequence', async () => {
    await l.sealed();
    const [row] = await l.p.sql(`select count(*)::int as n from (
      select t.posted_at < lag(t.posted_at) over (order by l.sequence) as earlier
      from accounting.chain_leaf l join accounting.ledger_transaction t on t.id = l.transaction_id) x where earlier`);
    expect(row!.n).toBe(0);
  });
});
