import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Slug } from '../../../events/slugs.js';
import { BRAND, DEMO, type Answer, type TestPlatform } from '../../support/platform.js';
import { until } from '../../support/until.js';
import { uuidOf } from '../support/random.js';

/** Services whose clocks move together. */
export const MONEY: readonly Slug[] = ['accounting', 'cash', 'payments', 'membership', 'affiliates'];
/** Where the clocks of a run begin. */
export const START = '2027-03-01T12:00:00.000Z';
/** Longest time in which all that was started ends, ms. */
const DRAIN_MS = 600_000;
/** What is still on its way then waits for the clock: a call of the processor that met a refund is taken up again a minute later. */
const NUDGE_MS = 5_000;
/** The same where events are, which as a rule do not wait for the clock. */
const EVENTS_NUDGE_MS = 60_000;
/** Between two looks at what is on its way, ms. */
const LOOK_MS = 50;

/** A user with the currency in which everything of theirs is. */
export interface Person {
  readonly id: string;
  readonly currency: string;
}

/** What is asked of a platform. */
export type Reached = Pick<TestPlatform, 'rest' | 'sql' | 'clock' | 'serviceToken'>;

/** A platform of the services of money, what clients ask of it, and when nothing is on its way any more. */
export class World {
  /** Recurring prices of a currency, the cheaper first. */
  readonly prices = new Map<string, readonly [string, string]>();

  private constructor(
    readonly p: Reached,
    readonly token: string,
    readonly people: readonly Person[],
    private readonly clocks: readonly Slug[],
  ) {}

  /** Wherever its processes are. @param clocks services that are there and have a clock. @param next makes the people's ids. */
  static async around(p: Reached, currencies: readonly string[], clocks: readonly Slug[], next = Math.random): Promise<World> {
    const people = currencies.map(currency => ({ id: uuidOf(next), currency }));
    const world = new World(p, await p.serviceToken(), people, clocks);
    for (const { id } of people) await world.enrol(id);
    for (const currency of new Set(currencies))
      world.prices.set(currency, [await world.#price(currency, 2_900), await world.#price(currency, 9_900)]);
    return world;
  }

  /** A copy of the demo person. */
  async enrol(id: string): Promise<void> {
    await this.p.sql(
      `insert into identity."user" select (jsonb_populate_record(null::identity."user", to_jsonb(u) || jsonb_build_object('id', $1::text))).*
       from identity."user" u where u.id = $2`,
      [id, DEMO],
    );
    const body = { user_id: id, token: 'ba_ok' };
    await this.call('PUT', '/payments/v1/billing/payout-destination', body);
  }

  #price(currency: string, amount: number): Promise<string> {
    return this.made('/payments/v1/admin/prices', {
      key: `money-${currency.toLowerCase()}-${amount}`,
      subject_kind: 'service',
      subject_id: randomUUID(),
      brand_id: BRAND,
      unit_amount: { amount, currency },
      recurring: { interval: 'month', interval_count: 1 },
    });
  }

  /** Makes something. @returns its id. */
  async made(path: string, wanted: object): Promise<string> {
    const { status, body } = await this.call('POST', path, wanted);
    if (status !== 201) throw new Error(`${path} made nothing: ${status} ${JSON.stringify(body)}`);
    return body.id as string;
  }

  call(method: string, path: string, body?: object, key?: string): Promise<Answer> {
    return this.p.rest(method, path, { token: this.token, ...(body && { body }), ...(key && { headers: { 'idempotency-key': key } }) });
  }

  /** As `call`, with the same key again while something that is asked for the answer cannot be reached, as a careful client does. */
  async insist(method: string, path: string, body: object, key: string): Promise<Answer> {
    for (let tries = 1; ; tries++) {
      const answer = await this.call(method, path, body, key);
      if (answer.status !== 503 || tries === 5) return answer;
    }
  }

  /** Moves the clocks of all services of money in step; one whose process was just killed is asked again. */
  async advance(by: string): Promise<void> {
    for (const slug of this.clocks) {
      const moved = () =>
        this.p.clock(slug, { advance: by }).then(
          () => true,
          (error: unknown) => {
            if (!String(error).includes('503')) throw error;
            return false;
          },
        );
      await until(`the clock of ${slug}`, moved, Boolean, DRAIN_MS);
    }
  }

  async #count(text: string): Promise<number> {
    return Number((await this.p.sql<{ n: string }>(text))[0]!.n);
  }

  /** What is on its way: calls of the processor, its events, sagas, attempts, refunds, payouts, and events of the platform. */
  async #underWay(): Promise<Record<string, number>> {
    const counts = {
      notices: `select count(*) as n from payments.processor_object where due_at is not null and due_at < now() + interval '5 minutes'`,
      hooks: `select count(*) as n from payments.processor_event where status in ('received', 'failed')`,
      sagas: `select count(*) as n from payments.checkout_session where step in ('settling', 'undoing')`,
      charges: `select count(*) as n from payments.payment where status = 'processing'`,
      refunds: `select count(*) as n from payments.refund where status = 'pending'`,
      payouts: `select count(*) as n from payments.payout where status in ('pending', 'in_transit') or (status = 'paid' and not ledger_posted)`,
      outbox: 'select count(*) as n from events.outbox where published_at is null',
      queued: await this.#queued(),
    };
    const found = await Promise.all(
      Object.entries(counts).map(async ([name, text]) => [name, typeof text === 'number' ? text : await this.#count(text)] as const),
    );
    return Object.fromEntries(found.filter(([, n]) => n > 0));
  }

  /** Events that consumers have not handled; while nobody tells, there may be one. */
  async #queued(): Promise<number> {
    const { status, body } = await this.call('GET', '/events/v1/consumers');
    if (status !== 200) return 1;
    return (body.data as { depth: number; in_hand?: number }[]).reduce((sum, one) => sum + one.depth + (one.in_hand ?? 0), 0);
  }

  /** As `#underWay`; the clock goes on by a minute where what is left stands still. On a slow machine it only goes slowly, and a run is to be the same there. */
  #nudging(): () => Promise<Record<string, number>> {
    let [last, since] = ['', performance.now()];
    return async () => {
      const left = await this.#underWay();
      const shown = JSON.stringify(left);
      if (shown !== last) [last, since] = [shown, performance.now()];
      const patience = 'outbox' in left || 'queued' in left ? EVENTS_NUDGE_MS : NUDGE_MS;
      if (Object.keys(left).length === 0 || performance.now() - since < patience) return left;
      await this.advance('PT1M');
      since = performance.now();
      return left;
    };
  }

  /** Waits until nothing is on its way, three times in a row: what ends may begin something else. @returns what never ends, in words. */
  async drained(): Promise<string[]> {
    const [look, end] = [this.#nudging(), performance.now() + DRAIN_MS];
    for (let quiet = 0; quiet < 3;) {
      const left = await look();
      const isQuiet = Object.keys(left).length === 0;
      if (!isQuiet && performance.now() > end) return Object.entries(left).map(([what, n]) => `${what} that never end: ${n}`);
      quiet = isQuiet ? quiet + 1 : 0;
      await sleep(LOOK_MS);
    }
    return [];
  }
}
