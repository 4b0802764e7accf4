import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer } from '../../support/platform.js';
import { pick, uuidOf } from '../support/random.js';
import type { Belongings } from './operations.js';
import type { Person, World } from './world.js';

/** Between two tries of a caller who was not answered, ms. */
const AGAIN_MS = 250;
/** Longest time until a caller is answered, ms: restarts of several processes on a busy machine. */
const ANSWERED_MS = 180_000;
/** Conflicts that are an answer; others say that the same key is being worked on. */
const FINAL = ['insufficient_funds', 'no_payout_destination', 'dispute_open', 'nothing_refundable'];

const isAnswered = ({ status, body }: Answer): boolean => status < 500 && (status !== 409 || FINAL.includes(body?.reason));

/** Asks with the same key until there is an answer, as a careful client does. @throws Error when there is none. */
export async function answered(world: World, method: string, path: string, body: object, key?: string): Promise<Answer> {
  const until = performance.now() + ANSWERED_MS;
  for (;;) {
    const answer = await world.call(method, path, body, key).catch(() => null);
    if (answer && isAnswered(answer)) return answer;
    if (performance.now() > until) throw new Error(`${method} ${path} was not answered: ${JSON.stringify(answer?.body ?? null)}`);
    await sleep(AGAIN_MS);
  }
}

/** Succeed, answer too late, decline, give back late. */
const METHODS = [
  'pm_card_visa',
  'pm_card_visa',
  'sbx_timeout_success',
  'sbx_timeout_fail',
  'pm_card_visa_chargeDeclined',
  'pm_card_pendingRefund',
] as const;

/** What a caller wanted, once, and the answer. */
export interface Intent {
  readonly id: string;
  readonly method: string;
  answer: Answer;
}

/** What callers have asked for so far. */
export class Intents {
  readonly checkouts: Intent[] = [];
  readonly payouts: string[] = [];

  constructor(
    readonly world: World,
    private readonly next: () => number,
  ) {}

  #id(): string {
    return uuidOf(this.next);
  }

  #person(): Person {
    return pick(this.next, this.world.people);
  }

  /** A purchase of a new visit. */
  async checkout(): Promise<void> {
    const [id, person, method] = [this.#id(), this.#person(), pick(this.next, METHODS)];
    const amount = { amount: 1_000 + Math.floor(this.next() * 9_000), currency: person.currency };
    const wanted = { mode: 'payment', user_id: person.id, amount, reference: { type: 'visit', id }, payment_method_token: method };
    const answer = await answered(this.world, 'POST', '/payments/v1/checkout', { ...wanted, description: 'a visit' }, id);
    this.checkouts.push({ id, method, answer });
  }

  /** A part of an earlier purchase goes back; of the method whose refunds wait, it fails in the end. */
  async refund(): Promise<void> {
    const paid = this.checkouts.filter(({ answer }) => answer.status === 201 && answer.body.payment?.status === 'succeeded');
    if (paid.length === 0) return this.checkout();
    const [id, { method, answer }] = [this.#id(), pick(this.next, paid)];
    const { id: payment_id, amount } = answer.body.payment;
    const body = { payment_id, amount: { ...amount, amount: Math.ceil(amount.amount / 5) }, reason: 'goodwill' };
    await answered(this.world, 'POST', '/payments/v1/refunds', body, id);
    if (method !== 'pm_card_pendingRefund') return;
    const fails = { action: 'settle_refund', payment_id, amount: 0 };
    await this.world.call('POST', '/payments/v1/admin/sandbox/actions', fails).catch(() => null); // what is left is settled before the verdict
  }

  async payOut(): Promise<void> {
    const [reference, person] = [this.#id(), this.#person()];
    const body = { user_id: person.id, amount: { amount: 100, currency: person.currency }, reference };
    await answered(this.world, 'POST', '/payments/v1/admin/payouts', body, reference);
    this.payouts.push(reference);
  }
}

/** Earnings that payouts come from. */
export async function earn(world: World, { id, currency }: Person, own: Belongings, amount: number): Promise<void> {
  const money = { amount, currency };
  const low = currency.toLowerCase();
  const body = {
    source: { service: 'affiliates', type: 'test', id },
    description: 'earnings',
    user_id: id,
    entries: [
      { account_code: `expenses:commissions:${low}`, direction: 'debit', amount: money },
      { account_code: `liabilities:wallet:earnings:${id}:${low}`, direction: 'credit', amount: money },
    ],
  };
  const { status } = await answered(world, 'POST', '/accounting/v1/transactions', body);
  if (status !== 201) throw new Error(`no earnings: ${status}`);
  own.sums.earned += amount;
}
