import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { BRAND, type Answer } from '../../support/platform.js';
import { until } from '../../support/until.js';
import { random, shuffled } from '../support/random.js';
import type { Patch } from '../wrong-designs.js';
import { violations } from './books.js';
import { startMoney, VICTIMS, type Fleet, type Victim } from './fleet.js';
import { answered, earn, Intents } from './intents.js';
import { Belongings } from './operations.js';
import { disagreements } from './processor-side.js';
import { World } from './world.js';

const CURRENCIES = ['USD', 'EUR', 'JPY'];
/** From the beginning of the calls to the kill, ms. */
const [SOONEST_MS, LATEST_MS] = [20, 900];
const DAY_MS = 86_400_000;
const START = Date.parse('2027-03-01T12:00:00.000Z');
/** Longer than leases of calls and of idempotency keys. */
const LEASES_MS = 120_000;
const WEEK_MS = 7 * DAY_MS;
const CLOCKS = ['accounting', 'payments'] as const;

export interface KillOptions {
  seed: number;
  kills: number;
}

export interface KillOutcome {
  killed: Record<Victim, number>;
  intents: number;
  violations: string[];
}

/** Clocks of the services, which go on together, to an instant that may be asked for again. */
class Clocks {
  #now = START;
  #last: Promise<void> = Promise.resolve();

  constructor(private readonly world: World) {}

  /** One move after the other: a clock never goes backwards. */
  by(ms: number): Promise<void> {
    return (this.#last = this.#last.then(() => this.#move(ms)));
  }

  async #move(ms: number): Promise<void> {
    const now = new Date((this.#now += ms)).toISOString();
    for (const slug of CLOCKS) await answered(this.world, 'POST', `/${slug}/v1/admin/test-clock`, { now });
  }
}

/** A subscription that is charged every day, for each person. */
async function subscribe(world: World): Promise<void> {
  for (const { id, currency } of world.people) {
    const price = {
      key: `daily-${id}`,
      subject_kind: 'service',
      subject_id: randomUUID(),
      brand_id: BRAND,
      unit_amount: { amount: 700, currency },
      recurring: { interval: 'day', interval_count: 1 },
    };
    const { body } = await answered(world, 'POST', '/payments/v1/admin/prices', price);
    await answered(world, 'POST', '/payments/v1/billing/payment-methods', { user_id: id, token: 'pm_card_visa', default: true });
    const made = await answered(world, 'POST', '/payments/v1/subscriptions', { price_id: body.id, user_id: id });
    if (made.status !== 201) throw new Error(`no subscription: ${JSON.stringify(made.body)}`);
  }
}

const CHARGED = "select count(*)::int as n from payments.processor_object where kind = 'charge'";

/** When to kill: some time after the calls have begun, or as soon as the processor has charged, of which its caller may not know yet. */
async function moment(world: World, wait: number | 'at the processor'): Promise<void> {
  if (wait !== 'at the processor') return sleep(wait);
  const charged = async (): Promise<number> => (await world.p.sql<{ n: number }>(CHARGED))[0]!.n;
  const before = await charged();
  await until('a charge', charged, n => n > before);
}

/** Calls of all kinds at once, a kill among them, and the leases of the dead over, until every caller is answered. */
async function round(fleet: Fleet, intents: Intents, clocks: Clocks, victim: Victim, wait: number | 'at the processor'): Promise<void> {
  const calls = [intents.checkout(), intents.checkout(), intents.checkout(), intents.refund(), intents.payOut(), clocks.by(DAY_MS)];
  let left = calls.length;
  for (const call of calls)
    void call.then(
      () => left--,
      () => left--,
    );
  await moment(intents.world, wait);
  fleet.members[victim].kill();
  await fleet.ready();
  while (left > 0) {
    await clocks.by(LEASES_MS);
    await sleep(500);
  }
  await Promise.all(calls);
}

/** Everything ends: refunds that wait fail, subscriptions end, and nothing is on its way. @returns what never ends, in words. */
async function settle(world: World, clocks: Clocks): Promise<string[]> {
  const waiting = await world.p.sql<{ id: string }>(`select distinct payment_id as id from payments.refund where status = 'pending'`);
  for (const { id: payment_id } of waiting)
    for (let more = true; more;) {
      const action = { action: 'settle_refund', payment_id, amount: 0 };
      more = (await world.call('POST', '/payments/v1/admin/sandbox/actions', action)).status === 200;
    }
  const live = await world.p.sql<{ id: string }>(`select id from payments.billing_subscription where ended_at is null`);
  for (const { id } of live) await answered(world, 'POST', `/payments/v1/subscriptions/${id}/cancel`, { at: 'now', reason: 'other' });
  for (let n = 0; n < 3; n++) await clocks.by(LEASES_MS);
  return world.drained();
}

const STATE = `select (select count(*) from events.outbox) as events, (select coalesce(sum(version), 0) from payments.payment) as payments,
  (select coalesce(sum(version), 0) from payments.refund) as refunds, (select count(*) from accounting.ledger_entry) as entries`;

/** Calls of the processor come again a week later, signed anew and backwards: what of the state changed. */
async function repeatHooks(world: World, clocks: Clocks): Promise<string[]> {
  await clocks.by(WEEK_MS);
  const left = await world.drained();
  const [before] = await world.p.sql(STATE);
  for (const action of ['deliver_reversed', 'redeliver_last'])
    await answered(world, 'POST', '/payments/v1/admin/sandbox/actions', { action });
  left.push(...(await world.drained()));
  const [after] = await world.p.sql(STATE);
  return JSON.stringify(before) === JSON.stringify(after)
    ? left
    : [...left, `calls a week later changed ${JSON.stringify({ before, after })}`];
}

/** Money in processes that can be killed, with people who have earned something and a subscription each. */
export class Scene {
  private constructor(
    readonly fleet: Fleet,
    readonly world: World,
    readonly clocks: Clocks,
    readonly belongings: ReadonlyMap<string, Belongings>,
  ) {}

  static async open(patches: readonly Patch[] = []): Promise<Scene> {
    const fleet = await startMoney(patches);
    try {
      const world = await World.around(fleet.p, CURRENCIES, CLOCKS);
      const scene = new Scene(fleet, world, new Clocks(world), new Map(world.people.map(person => [person.id, new Belongings()])));
      await scene.clocks.by(0);
      for (const person of world.people) await earn(world, person, scene.belongings.get(person.id)!, 1_000_000);
      await subscribe(world);
      return scene;
    } catch (error) {
      await fleet.stop();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.fleet.stop();
  }
}

/** Purchases, refunds, payouts and renewals while payments, accounting and the relay are killed; then everything is compared. */
export async function killMoney({ fleet, world, clocks, belongings }: Scene, { seed, kills }: KillOptions): Promise<KillOutcome> {
  const next = random(seed);
  const intents = new Intents(world, next);
  const killed = { payments: 0, accounting: 0, relay: 0 };
  try {
    for (let n = 0; n < kills; n++) {
      const victim = n % 2 === 0 ? 'payments' : shuffled(next, VICTIMS)[0]!;
      const wait = SOONEST_MS + next() * (LATEST_MS - SOONEST_MS);
      await round(fleet, intents, clocks, victim, n % 4 === 0 ? 'at the processor' : wait);
      killed[victim]++;
      console.log(`kills of money, seed ${seed}: ${n + 1} of ${kills}, ${intents.checkouts.length} purchases`);
    }
    const found = await settle(world, clocks);
    found.push(...(await violations(world, belongings)), ...(await disagreements(intents)), ...(await repeatHooks(world, clocks)));
    return { killed, intents: intents.checkouts.length + intents.payouts.length, violations: found };
  } catch (error) {
    throw new Error(`${(error as Error).stack}\n${fleet.told()}`, { cause: error });
  }
}

/** Payments dies while the sandbox, which has charged, keeps silent; what the same request says when the lease is over. */
export async function killAfterCharge({ fleet, world, clocks }: Scene): Promise<{ answer: Answer; charges: number }> {
  const [key, { id, currency }] = [randomUUID(), world.people[0]!];
  const body = {
    mode: 'payment',
    user_id: id,
    amount: { amount: 4_200, currency },
    reference: { type: 'visit', id: key },
    description: 'a visit',
    payment_method_token: 'sbx_timeout_success',
  };
  const first = world.call('POST', '/payments/v1/checkout', body, key).catch(() => null);
  const made = `select count(*)::int as n from payments.processor_object o join payments.payment_attempt a on a.id::text = o.idempotency_key
    join payments.payment p on p.id = a.payment_id join payments.checkout_session s on s.id = p.checkout_session_id
    where o.kind = 'charge' and s.reference_id = $1`;
  const charges = async (): Promise<number> => (await world.p.sql<{ n: number }>(made, [key]))[0]!.n;
  await until('the charge', charges, n => n === 1);
  fleet.members.payments.kill();
  await Promise.all([first, fleet.ready()]);
  await clocks.by(LEASES_MS);
  return { answer: await answered(world, 'POST', '/payments/v1/checkout', body, key), charges: await charges() };
}
