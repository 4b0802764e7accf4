import type { Answer } from '../../support/platform.js';
import { BARRIER_DAYS, BETWEEN, type Kind, type Step } from './steps.js';
import { START, type Person, type World } from './world.js';

/** What a user has, as the answers told it; one list for each kind of thing. */
export class Belongings {
  readonly payments: string[] = [];
  readonly authorized: string[] = [];
  readonly grants: string[] = [];
  readonly subscriptions: string[] = [];
  /** Postings of earnings. */
  readonly earnings: string[] = [];
  /** Sums that the books must show: minor units. */
  readonly sums = { earned: 0, reversed: 0 };
  /** What each payment must show, by its id. */
  readonly expected = new Map<string, Expected>();
}

/** Money of a payment by the answers alone, minor units. */
export interface Expected {
  captured: number;
  refunded: number;
}

/** Methods whose charge comes to nothing; of the others the whole amount is captured in the end. */
const FAILING = ['sbx_async_fail'];

interface Doing {
  readonly world: World;
  readonly person: Person;
  readonly own: Belongings;
  readonly step: Step;
}

type Operation = (doing: Doing) => Promise<Answer | null>;

/** Statuses that are no defect, beside the successes: what a rule refuses is refused. */
const REFUSALS = [400, 402, 404, 409];

const chosen = (list: readonly string[], { pick }: Step): string | null => list[pick % Math.max(1, list.length)] ?? null;
const money = ({ person, step }: Doing, amount = step.amount) => ({ amount, currency: person.currency });
/** A part of an amount, in thousandths; may be more than the whole. */
const partOf = (step: Step, whole: number): number => Math.max(1, Math.floor((whole * step.part) / 1_000));

async function charge(doing: Doing, more: object = {}): Promise<Answer> {
  const { world, person, own, step } = doing;
  const answer = await world.insist(
    'POST',
    '/payments/v1/checkout',
    {
      mode: 'payment',
      user_id: person.id,
      amount: money(doing),
      reference: { type: 'visit', id: step.id },
      description: 'a visit',
      payment_method_token: step.method,
      ...more,
    },
    step.id,
  );
  const payment = answer.body.payment ?? null;
  if (!payment) return answer;
  const isHeld = payment.status === 'authorized';
  (isHeld ? own.authorized : own.payments).push(payment.id);
  const captured = isHeld || FAILING.includes(step.method) ? 0 : payment.amount.amount;
  own.expected.set(payment.id, { captured, refunded: 0 });
  return answer;
}

/**
 * Which half of the payments is meant, by their number. What became cash is still at the processor, so that its dashboard could give back more
 * than was captured: no books can show that, and a person is alerted. So no payment is given back both ways.
 */
type Half = 0 | 1;
const [FOR_CASH, FOR_OUTSIDE] = [0, 1] as const;

/** A payment of the user's as it is now. */
async function paymentOf({ world, own, step }: Doing, half?: Half): Promise<any> {
  const id = chosen(half === undefined ? own.payments : own.payments.filter((_, number) => number % 2 === half), step);
  return id && (await world.call('GET', `/payments/v1/payments/${id}`)).body;
}

async function refund(doing: Doing, more: object = {}, half?: Half): Promise<Answer | null> {
  const payment = await paymentOf(doing, half);
  if (!payment) return null;
  const amount = money(doing, partOf(doing.step, payment.amount.amount));
  const body = { payment_id: payment.id, amount, reason: 'requested_by_customer', ...more };
  const answer = await doing.world.insist('POST', '/payments/v1/refunds', body, doing.step.id);
  if (answer.status === 201 && answer.body.status === 'succeeded')
    doing.own.expected.get(payment.id)!.refunded += answer.body.amount.amount;
  return answer;
}

async function act(doing: Doing, action: string, half?: Half): Promise<Answer | null> {
  const payment = await paymentOf(doing, half);
  if (!payment) return null;
  const amount = partOf(doing.step, payment.amount.amount);
  const body = { action, payment_id: payment.id, ...(half !== undefined && { amount }) };
  const answer = await doing.world.call('POST', '/payments/v1/admin/sandbox/actions', body);
  if (answer.status === 200 && action === 'external_refund') doing.own.expected.get(payment.id)!.refunded += amount;
  return answer;
}

async function onAuthorized({ world, own, step }: Doing, what: 'capture' | 'cancel', body: object): Promise<Answer | null> {
  const id = chosen(own.authorized, step);
  if (!id) return null;
  const answer = await world.insist('POST', `/payments/v1/payments/${id}/${what}`, body, step.id);
  if (answer.status !== 200 || what === 'cancel' || own.payments.includes(id)) return answer;
  own.payments.push(id);
  own.expected.get(id)!.captured = answer.body.amount.amount;
  return answer;
}

function onSubscription({ world, own, step }: Doing, method: string, path: string, body: object): Promise<Answer> | null {
  const id = chosen(own.subscriptions, step);
  return id === null ? null : world.insist(method, `/payments/v1/subscriptions/${id}${path}`, body, step.id);
}

async function grant(doing: Doing): Promise<Answer> {
  const { world, person, own, step } = doing;
  const days = Math.floor(step.number / BETWEEN) * BARRIER_DAYS + 1 + (step.pick % 40);
  const answer = await world.call('POST', '/cash/v1/cash/grants', {
    user_id: person.id,
    source: 'promotion',
    amount: money(doing),
    reference: { type: 'campaign', id: step.id },
    expires_at: new Date(Date.parse(START) + days * 86_400_000).toISOString(),
  });
  if (answer.status === 201) own.grants.push(answer.body.id);
  return answer;
}

async function subscribe({ world, person, own, step }: Doing): Promise<Answer> {
  const method = await world.call('POST', '/payments/v1/billing/payment-methods', {
    user_id: person.id,
    token: 'pm_card_visa',
    default: true,
  });
  const body = { price_id: world.prices.get(person.currency)![step.pick % 2], user_id: person.id, payment_method_id: method.body.id };
  const answer = await world.insist('POST', '/payments/v1/subscriptions', body, step.id);
  if (answer.status === 201) own.subscriptions.push(answer.body.id);
  return answer;
}

/** Earnings as a direct posting, so that there is something to pay out. */
async function earn(doing: Doing): Promise<Answer> {
  const { world, person, own, step } = doing;
  const [currency, amount] = [person.currency.toLowerCase(), money(doing)];
  const answer = await world.call('POST', '/accounting/v1/transactions', {
    source: { service: 'affiliates', type: 'test', id: step.id },
    description: 'earnings',
    user_id: person.id,
    entries: [
      { account_code: `expenses:commissions:${currency}`, direction: 'debit', amount },
      { account_code: `liabilities:wallet:earnings:${person.id}:${currency}`, direction: 'credit', amount },
    ],
  });
  if (answer.status === 201) {
    own.earnings.push(answer.body.id);
    own.sums.earned += amount.amount;
  }
  return answer;
}

async function reverse({ world, own, step }: Doing): Promise<Answer | null> {
  const id = chosen(own.earnings, step);
  if (!id) return null;
  const answer = await world.call('POST', `/accounting/v1/transactions/${id}/reverse`, { reason: 'a mistake' });
  if (answer.status === 201) own.sums.reversed += answer.body.entries[0].amount.amount;
  return answer;
}

const OPERATIONS: Readonly<Record<Kind, Operation>> = {
  charge,
  chargeWithCash: doing => charge(doing, { use_cash: true }),
  authorize: doing => charge(doing, { capture: 'manual', payment_method_token: 'pm_card_visa' }),
  capture: doing => onAuthorized(doing, 'capture', {}),
  cancelAuthorization: doing => onAuthorized(doing, 'cancel', {}),
  refund,
  refundToCash: doing => refund(doing, { to_cash: true }, FOR_CASH),
  openDispute: doing => act(doing, 'open_dispute'),
  closeDispute: doing => act(doing, doing.step.part % 2 === 0 ? 'win_dispute' : 'lose_dispute'),
  refundOutside: doing => act(doing, 'external_refund', FOR_OUTSIDE),
  grantCash: grant,
  revokeCash: async ({ world, own, step }) => {
    const id = chosen(own.grants, step);
    return id === null ? null : world.call('POST', `/cash/v1/cash/grants/${id}/revoke`, { reason: 'a mistake' });
  },
  subscribe,
  changePrice: async doing =>
    onSubscription(doing, 'PATCH', '', { price_id: doing.world.prices.get(doing.person.currency)![doing.step.part % 2], effective: 'now' }),
  pause: async doing => onSubscription(doing, 'POST', '/pause', {}),
  resume: async doing => onSubscription(doing, 'POST', '/resume', {}),
  cancelSubscription: async doing => onSubscription(doing, 'POST', '/cancel', { at: 'now', reason: 'moving' }),
  earn,
  payOut: doing =>
    doing.world.call('POST', '/payments/v1/admin/payouts', { user_id: doing.person.id, amount: money(doing), reference: doing.step.id }),
  reverse,
  // of twenty calls one after the other the sandbox may not be done in time: they are made all the same
  repeatHooks: async ({ world, step }) => {
    const action = step.part % 2 === 0 ? 'redeliver_last' : 'deliver_reversed';
    const answer = await world.call('POST', '/payments/v1/admin/sandbox/actions', { action });
    return answer.status === 503 ? null : answer;
  },
};

/** Does a step. @returns its status; null where there was nothing to do it to. @throws Error for an answer that no rule explains. */
export async function perform(doing: Doing): Promise<number | null> {
  const answer = await OPERATIONS[doing.step.kind](doing);
  if (!answer) return null;
  const { status, body } = answer;
  if (status >= 300 && !REFUSALS.includes(status)) throw new Error(`${JSON.stringify(doing.step)}: ${status} ${JSON.stringify(body)}`);
  return status;
}
