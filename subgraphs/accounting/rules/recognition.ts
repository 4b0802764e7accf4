import { DAY_MS } from '../../../runtime/time/durations.js';

/**
 * What of a payment for a time is earned when. `recognised` and `drawn` have left deferred revenue, as income and as refunds or credits; the
 * rest is open and is spread straight-line from `baseAt` to `endsAt`. Amounts in minor units. Source: accounting 5, recognition.
 */
export interface Schedule {
  key: string;
  currency: string;
  userId: string | null;
  subscriptionId: string | null;
  /** What was put into deferred revenue. */
  amount: number;
  recognised: number;
  drawn: number;
  /** Cut before there was anything to cut. */
  owed: number;
  /** Of the invoice with tax, as refunds told and as the invoice told; either may come first. */
  refundedGross: number;
  invoiceRefunded: number;
  invoiceTotal: number | null;
  startsAt: Date | null;
  endsAt: Date | null;
  baseAt: Date | null;
  baseRecognised: number;
  recognisedTo: Date | null;
  nextAt: Date | null;
}

export const newSchedule = (key: string, currency: string): Schedule => ({
  key,
  currency,
  userId: null,
  subscriptionId: null,
  amount: 0,
  recognised: 0,
  drawn: 0,
  owed: 0,
  refundedGross: 0,
  invoiceRefunded: 0,
  invoiceTotal: null,
  startsAt: null,
  endsAt: null,
  baseAt: null,
  baseRecognised: 0,
  recognisedTo: null,
  nextAt: null,
});

const share = (amount: number, part: number, whole: number): number => Number((BigInt(amount) * BigInt(part)) / BigInt(whole));

/** Kept for a refund that the invoice has told of and that is not booked yet. */
function earmarked({ amount, recognised, drawn, invoiceRefunded, refundedGross, invoiceTotal }: Schedule): number {
  const announced = invoiceRefunded - refundedGross;
  if (announced <= 0 || !invoiceTotal) return 0;
  return Math.min(amount - recognised - drawn, share(amount, Math.min(announced, invoiceTotal), invoiceTotal));
}

/** What may still become income. */
export const openRest = (schedule: Schedule): number => schedule.amount - schedule.recognised - schedule.drawn - earmarked(schedule);

const later = (a: Date, b: Date): Date => (a > b ? a : b);
const earlier = (a: Date, b: Date): Date => (a < b ? a : b);

/** The next instant of the daily grid that begins with the period; its end closes it. Null: there is nothing to recognise. */
function nextOf(schedule: Schedule): Date | null {
  const { startsAt, endsAt, recognisedTo } = schedule;
  if (!startsAt || !endsAt || openRest(schedule) === 0) return null;
  const done = later(recognisedTo ?? startsAt, startsAt);
  const days = Math.floor((done.getTime() - startsAt.getTime()) / DAY_MS) + 1;
  return earlier(new Date(startsAt.getTime() + days * DAY_MS), endsAt);
}

/** Spreads what is open over the time that is left; what has been recognised stays. */
function spread(schedule: Schedule): Schedule {
  const { startsAt, recognisedTo, recognised } = schedule;
  const based = { ...schedule, baseRecognised: recognised, baseAt: recognisedTo ?? startsAt };
  return { ...based, nextAt: nextOf(based) };
}

const settleOwed = (schedule: Schedule): Schedule => {
  const taken = Math.min(schedule.owed, openRest(schedule));
  return { ...schedule, drawn: schedule.drawn + taken, owed: schedule.owed - taken };
};

/** Puts an amount in. */
export const deposit = (schedule: Schedule, amount: number, about: Partial<Pick<Schedule, 'userId' | 'subscriptionId'>> = {}): Schedule =>
  spread(
    settleOwed({
      ...schedule,
      amount: schedule.amount + amount,
      userId: about.userId ?? schedule.userId,
      subscriptionId: about.subscriptionId ?? schedule.subscriptionId,
    }),
  );

/** Gives a schedule its time. One that has it keeps it. */
export const setPeriod = (schedule: Schedule, startsAt: Date, endsAt: Date): Schedule =>
  schedule.startsAt ? schedule : spread({ ...schedule, startsAt, endsAt });

/** Ends the time earlier: what is open becomes income then. */
export function endAt(schedule: Schedule, at: Date): Schedule {
  const { startsAt, endsAt } = schedule;
  if (!startsAt || !endsAt || at >= endsAt) return schedule;
  return spread({ ...schedule, endsAt: later(at, new Date(startsAt.getTime() + 1)) });
}

/** Takes an amount off what is open, never below zero. Before there was anything it is remembered. */
export function cut(schedule: Schedule, amount: number): Schedule {
  if (schedule.amount === 0) return { ...schedule, owed: schedule.owed + amount };
  return spread({ ...schedule, drawn: schedule.drawn + Math.min(amount, openRest(schedule)) });
}

/** Books a refund: as much as is open is drawn from deferred revenue. @param net without tax @param gross with it */
export function refund(schedule: Schedule, net: number, gross: number): { schedule: Schedule; drawn: number } {
  const left = schedule.amount - schedule.recognised - schedule.drawn;
  const drawn = Math.min(net, left);
  return { drawn, schedule: spread({ ...schedule, drawn: schedule.drawn + drawn, refundedGross: schedule.refundedGross + gross }) };
}

/** Takes a refund back that has bounced. */
export const unrefund = (schedule: Schedule, drawn: number, gross: number): Schedule =>
  spread({
    ...schedule,
    drawn: Math.max(0, schedule.drawn - drawn),
    refundedGross: Math.max(0, schedule.refundedGross - gross),
    invoiceRefunded: Math.max(0, schedule.invoiceRefunded - gross),
  });

/** What the invoice says of its refunds so far, with tax; what is not booked yet is kept from becoming income. */
export const announceRefund = (schedule: Schedule, refunded: number, total: number): Schedule =>
  spread({ ...schedule, invoiceRefunded: Math.max(schedule.invoiceRefunded, refunded), invoiceTotal: total });

/** What becomes income by `at`: straight-line by the time elapsed, in whole days of the period, the rest at its end. */
export function recognise(schedule: Schedule, at: Date): { schedule: Schedule; amount: number } {
  const { startsAt, endsAt, baseAt, baseRecognised, recognised } = schedule;
  if (!startsAt || !endsAt || !baseAt || at < startsAt) return { schedule: { ...schedule, nextAt: nextOf(schedule) }, amount: 0 };
  const days = Math.floor((at.getTime() - startsAt.getTime()) / DAY_MS);
  const to = at >= endsAt ? endsAt : new Date(startsAt.getTime() + days * DAY_MS);
  const toSpread = openRest(schedule) + recognised - baseRecognised;
  const [elapsed, whole] = [to.getTime() - baseAt.getTime(), endsAt.getTime() - baseAt.getTime()];
  const target = baseRecognised + (elapsed >= whole ? toSpread : share(toSpread, Math.max(0, elapsed), whole));
  const amount = Math.max(0, target - recognised);
  const done = { ...schedule, recognised: recognised + amount, recognisedTo: later(to, schedule.recognisedTo ?? to) };
  return { schedule: { ...done, nextAt: nextOf(done) }, amount };
}
