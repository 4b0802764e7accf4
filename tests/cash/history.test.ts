import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { minutes, Till, usd } from './till.js';

/** What happens; numbers choose among what is there. */
type Step =
  | { kind: 'grant'; amount: number; lasts: number | null; waits: number }
  | { kind: 'reserve'; amount: number }
  | { kind: 'extend' | 'release' | 'revoke'; which: number }
  | { kind: 'commit'; which: number; bps: number }
  | { kind: 'spend'; amount: number }
  | { kind: 'return'; which: number; bps: number }
  | { kind: 'wait'; minutes: number; sweeps: boolean };

interface ModelLot {
  id: string;
  from: number;
  to: number | null;
  order: number;
  left: number;
  held: number;
  state: 'waiting' | 'live' | 'over';
}
interface ModelHold {
  id: string;
  until: number;
  made: number;
  lots: [ModelLot, number][];
}
interface ModelSpend {
  id: string;
  /** [lot's end, amount, returned], in the order of spending. */
  parts: { to: number | null; amount: number; returned: number }[];
}

/** Cash as the contract describes it, as simply as it can be said: minutes for time, one list of lots. */
class Model {
  lots: ModelLot[] = [];
  holds: ModelHold[] = [];
  spends: ModelSpend[] = [];
  #order = 0;

  pass(now: number): void {
    for (const lot of this.lots) if (lot.state === 'waiting' && lot.from <= now) lot.state = 'live';
    for (const hold of this.holds.filter(one => one.until <= now)) this.#giveUp(hold);
    for (const lot of this.lots)
      if (lot.state === 'live' && lot.to !== null && lot.to <= now) Object.assign(lot, { state: 'over', left: 0 });
  }
  #giveUp(hold: ModelHold): void {
    this.holds = this.holds.filter(one => one !== hold);
    for (const [lot, amount] of hold.lots) {
      lot.held -= amount;
      if (lot.state === 'live') lot.left += amount;
    }
  }
  get available(): number {
    return this.lots.filter(({ state }) => state === 'live').reduce((sum, { left }) => sum + left, 0);
  }
  get reserved(): number {
    return this.holds.flatMap(({ lots }) => lots).reduce((sum, [, amount]) => sum + amount, 0);
  }
  add(id: string, amount: number, from: number, to: number | null, now: number): void {
    this.lots.push({ id, from, to, order: this.#order++, left: amount, held: 0, state: from <= now ? 'live' : 'waiting' });
  }
  take(wanted: number): [ModelLot, number][] {
    const live = this.lots.filter(({ state }) => state === 'live');
    const takes: [ModelLot, number][] = [];
    for (const lot of live.sort((a, b) => (a.to ?? Infinity) - (b.to ?? Infinity) || a.order - b.order)) {
      const amount = Math.min(lot.left, wanted);
      if (amount > 0) takes.push([lot, amount]);
      wanted -= amount;
    }
    for (const [lot, amount] of takes) lot.left -= amount;
    return takes;
  }
  hold(id: string, takes: [ModelLot, number][], now: number): void {
    for (const [lot, amount] of takes) lot.held += amount;
    this.holds.push({ id, lots: takes, made: now, until: now + 30 });
  }
  release(hold: ModelHold): void {
    this.#giveUp(hold);
  }
  commit(hold: ModelHold, wanted: number, spendId: string | null): void {
    this.holds = this.holds.filter(one => one !== hold);
    const parts: ModelSpend['parts'] = [];
    for (const [lot, amount] of hold.lots) {
      const used = Math.min(amount, wanted);
      wanted -= used;
      lot.held -= amount;
      if (lot.state === 'live') lot.left += amount - used;
      if (used > 0) parts.push({ to: lot.to, amount: used, returned: 0 });
    }
    if (spendId !== null) this.spends.push({ id: spendId, parts });
  }
  giveBack(spend: ModelSpend, amount: number, now: number): void {
    const parts = spend.parts.map((part, position) => ({ part, position }));
    parts.sort((a, b) => (a.part.to === b.part.to ? b.position - a.position : (b.part.to ?? Infinity) - (a.part.to ?? Infinity)));
    for (const { part } of parts) {
      const back = Math.min(part.amount - part.returned, amount);
      amount -= back;
      part.returned += back;
      if (back > 0) this.add('returned', back, now, part.to === null ? null : Math.max(part.to, now + 30 * 1440), now);
    }
  }
}

const at = fc.nat({ max: 50 });
const bps = fc.integer({ min: 1, max: 10_000 });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('grant' as const),
      amount: fc.integer({ min: 1, max: 900 }),
      lasts: fc.option(fc.integer({ min: 1, max: 120 })),
      waits: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 60 })),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('reserve' as const), amount: fc.integer({ min: 1, max: 1_200 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('extend' as const, 'release' as const, 'revoke' as const), which: at }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('commit' as const), which: at, bps }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('spend' as const), amount: fc.integer({ min: 1, max: 900 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('return' as const), which: at, bps }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 45 }), sweeps: fc.boolean() }),
  },
);

let till: Till;
let clock = 0;
beforeAll(async () => {
  till = await Till.open();
});

const pick = <T>(all: readonly T[], which: number): T | undefined => all[which % Math.max(1, all.length)];

/** One step on the service and on the model; each must answer as the other. */
async function act(user: string, model: Model, one: Step): Promise<void> {
  if (one.kind === 'wait') {
    clock += one.minutes;
    await (one.sweeps ? till.clock(minutes(clock)) : till.freeze(minutes(clock)));
    return model.pass(clock);
  }
  if (one.kind === 'grant') {
    const [from, to] = [clock + one.waits, one.lasts === null ? null : clock + one.waits + one.lasts];
    const more = {
      source: to === null ? 'gift' : 'promotion',
      activates_at: minutes(from),
      ...(to !== null && { expires_at: minutes(to) }),
    };
    const { status, body } = await till.give(user, one.amount, more);
    expect(status).toBe(201);
    return model.add(body.id, one.amount, from, to, clock);
  }
  if (one.kind === 'reserve') {
    const { status, body } = await till.reserve(user, one.amount);
    const takes = model.take(one.amount);
    expect([status, body.amount.amount]).toEqual([201, takes.reduce((sum, [, amount]) => sum + amount, 0)]);
    return model.hold(body.id, takes, clock);
  }
  if (one.kind === 'spend') {
    const isCovered = model.available >= one.amount;
    const { status, body } = await till.spend(user, one.amount);
    expect(status).toBe(isCovered ? 201 : 409);
    if (!isCovered) return;
    const takes = model.take(one.amount);
    model.spends.push({ id: body.id, parts: takes.map(([lot, amount]) => ({ to: lot.to, amount, returned: 0 })) });
    return;
  }
  if (one.kind === 'revoke') {
    const lot = pick(
      model.lots.filter(({ id, state, left, held }) => id !== 'returned' && state !== 'over' && left + held > 0),
      one.which,
    );
    if (!lot) return;
    expect((await till.rest('POST', `/cash/grants/${lot.id}/revoke`, {})).status).toBe(200);
    Object.assign(lot, { state: 'over', left: 0 });
    return;
  }
  if (one.kind === 'return') return giveBack(user, model, one);
  return end(model, one as Ending);
}

async function giveBack(_user: string, model: Model, one: Extract<Step, { kind: 'return' }>): Promise<void> {
  const spend = pick(model.spends, one.which);
  if (!spend) return;
  const out = spend.parts.reduce((sum, { amount, returned }) => sum + amount - returned, 0);
  const amount = Math.max(1, Math.ceil((out * one.bps) / 10_000));
  const { status } = await till.rest('POST', `/cash/spends/${spend.id}/return`, {
    amount: usd(amount),
    reference: { type: 'refund', id: randomUUID() },
  });
  expect(status).toBe(amount <= out ? 201 : 409);
  if (amount <= out) model.giveBack(spend, amount, clock);
}

type Ending = { kind: 'extend' | 'release'; which: number } | Extract<Step, { kind: 'commit' }>;

async function end(model: Model, one: Ending): Promise<void> {
  const hold = pick(model.holds, one.which);
  if (!hold) return;
  const held = hold.lots.reduce((sum, [, amount]) => sum + amount, 0);
  const amount = one.kind === 'commit' ? Math.floor((held * one.bps) / 10_000) : 0;
  const { status, body } = await till.step(hold.id, one.kind, one.kind === 'commit' ? { amount } : {});
  expect(status).toBe(200);
  if (one.kind === 'extend') hold.until = clock + 30;
  if (one.kind === 'release') model.release(hold);
  if (one.kind === 'commit') model.commit(hold, amount, body.spend?.id ?? null);
}

const RUNS = Number(process.env.CASH_HISTORIES ?? 25);

test('after any history balance, lots, reservations and movements are those of the reference model, and nothing is lost or made', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async steps => {
      const [user, model] = [till.user(), new Model()];
      for (const one of steps) {
        await act(user, model, one as Step);
        const { available, reserved } = await till.balance(user);
        expect({ step: one, available: available.amount, reserved: reserved.amount }).toEqual({
          step: one,
          available: model.available,
          reserved: model.reserved,
        });
      }
      await till.spend(user, 1, { reference: { type: 'order', id: randomUUID() } }); // writes what time has done
      const books = await till.books(user);
      if (Object.keys(books).length === 0) return;
      expect(books.lots).toBe(books.total);
      expect(books.moved).toBe(books.total);
      expect(books.held).toBe(books.reserved);
    }),
    { numRuns: RUNS, interruptAfterTimeLimit: 200_000 },
  );
}, 240_000);
