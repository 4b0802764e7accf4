import type { Scope } from './posting-rule.js';

/** What the books know of an event's flow; in a preview nothing was booked before. */
export interface EventFacts {
  /** Of the charge of the payment; null: it has not come yet. */
  processor: string | null;
  /** Booked for the payment before its charge, to be given to its processor; below zero: taken from it. */
  unassigned: number;
  /** Of a refund: its part that is drawn from deferred revenue, and the schedule's key. */
  drawn: number;
  scheduleKey: string | null;
  /** The chargeback of the dispute was booked. */
  isDisputed: boolean;
  /** Of a claw-back: the commission was posted before it, as affiliates tell it. */
  isPosted: boolean;
  /** Of a posted commission: what was clawed back after it and is booked already, from what was on hold. */
  clawedBack: number;
  eventId: string | null;
  /** Number in the log: what a service tells of one user has this order, however it is delivered. */
  eventSeq: number | null;
}

export const NO_FACTS: EventFacts = {
  processor: null,
  unassigned: 0,
  drawn: 0,
  scheduleKey: null,
  isDisputed: false,
  isPosted: false,
  clawedBack: 0,
  eventId: null,
  eventSeq: null,
};

type Data = Readonly<Record<string, unknown>>;
const amount = (data: Data, name: string): number => Number(data[name] ?? 0);

/** What goes back of a refund, without its tax. */
export const netRefund = (data: Data): number => grossRefund(data) - amount(data, 'tax_amount');
export const grossRefund = (data: Data): number =>
  amount(data, 'amount') + amount(data, 'cash_return_amount') + amount(data, 'credit_return_amount');

/** Purposes that have an account of their own; any other is sales of another kind. */
const PURPOSES = ['order', 'telehealth', 'gift', 'subscription', 'invoice'];

type Derive = (data: Data, facts: EventFacts) => Data;

/** What rules ask of an event besides its keys. A charge names its processor itself. */
const DERIVED: Readonly<Record<string, Derive>> = {
  'payment.charged.v1': (_data, { unassigned }) => ({ unassigned }),
  'payment.paid.v1': ({ purpose }) => ({ is_other: !PURPOSES.includes(String(purpose)) }),
  'payment.refunded.v1': (data, { processor, drawn, scheduleKey }) => ({
    processor,
    charge_seen: processor !== null,
    is_settled: data.obligation_id !== null,
    drawn,
    schedule_key: scheduleKey,
    rest: netRefund(data) - drawn,
  }),
  'payment.dispute.created.v1': (_data, { processor }) => ({ processor, charge_seen: processor !== null }),
  'payment.dispute.closed.v1': ({ outcome }, { processor, isDisputed }) => ({
    processor,
    charge_seen: processor !== null,
    is_booked: outcome !== 'withdrawn' || isDisputed,
  }),
  'cash.expired.v1': ({ reference_type }, { eventId }) => ({ is_refund: reference_type === 'refund', event_id: eventId }),
  'affiliate.commission.posted.v1': (data, { clawedBack, eventSeq }) => ({
    moved: Math.max(0, amount(data, 'amount') - clawedBack),
    event_seq: eventSeq,
  }),
  'affiliate.commission.reversed.v1': (_data, { isPosted, eventSeq }) => ({ is_posted: isPosted, event_seq: eventSeq }),
};

/** An event with the facts of its flow, as its rule sees it. */
export const scopeOf = (eventType: string, data: Data, userId: string | null, facts: EventFacts = NO_FACTS): Scope => ({
  ...data,
  user_id: userId?.toLowerCase() ?? null,
  ...DERIVED[eventType]?.(data, facts),
});
