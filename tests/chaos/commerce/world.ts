import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { T0, type Reached, type Shop } from '../../commerce/shop.js';
import type { Answer } from '../../support/platform.js';
import { until } from '../../support/until.js';
import { Model, type Order } from './model.js';
import { PLACES, stocked, type Good } from './shelf.js';
import type { Step } from './steps.js';

/** Between two tries of a caller who was not answered, ms. */
const AGAIN_MS = 250;
/** Longest time until a caller is answered, ms: restarts of several processes on a busy machine. */
const ANSWERED_MS = 180_000;
/** Longest time in which all that was started ends, ms. */
const DRAIN_MS = 180_000;
const NUDGE_MS = 3_000;
const MINUTE_MS = 60_000;

/** Somebody else works on the same key, or nobody answers. */
const isAnswered = ({ status, body }: Answer): boolean =>
  status < 500 && !(status === 409 && String(body?.detail).includes('Idempotency-Key is running'));

/** A shop, its shoppers, and what its answers tell of it. */
export class World {
  private constructor(
    readonly shop: Shop<Reached>,
    readonly model: Model,
    readonly users: readonly string[],
    /** Processes die: who is not answered asks again. */
    readonly isPatient: boolean,
  ) {}

  static async open(shop: Shop<Reached>, shoppers: number, isPatient: boolean): Promise<World> {
    const model = new Model(await stocked(shop), Date.parse(T0));
    const world = new World(
      shop,
      model,
      Array.from({ length: shoppers }, () => randomUUID()),
      isPatient,
    );
    for (const good of model.goods.filter(one => one.hasLots))
      for (const [index, days] of [20, 45, 90].entries()) await world.receiveLot(good, `L${days}-${good.sku}`, 12, days, index % 2);
    return world;
  }

  good({ pick }: Step): Good {
    return this.model.goods[pick % this.model.goods.length]!;
  }

  /** Asks until there is an answer. @param key of the request; null: each try has one of its own. @throws Error on a fault of the shop. */
  async ask(method: string, path: string, body: object | undefined, key: string | null): Promise<Answer> {
    const end = performance.now() + ANSWERED_MS;
    for (;;) {
      const headers = { 'idempotency-key': key ?? randomUUID() };
      const answer = await this.shop.rest(method, path, body, this.shop.token, headers).catch(error => {
        if (!this.isPatient) throw error;
        return null;
      });
      if (answer && isAnswered(answer)) return answer;
      if (!this.isPatient || performance.now() > end)
        throw new Error(`${method} ${path} was not answered: ${answer?.status} ${JSON.stringify(answer?.body ?? null)}`);
      await sleep(AGAIN_MS);
    }
  }

  async receiveLot(good: Good, number: string, quantity: number, days: number, place: number, key: string = randomUUID()): Promise<number> {
    const expires_on = new Date(this.model.now + days * 86_400_000).toISOString().slice(0, 10);
    const lot = { sku: good.sku, lot_number: number, quantity, expires_on, location_id: PLACES[place]! };
    const { status, body } = await this.ask('POST', '/admin/inventory/lots', lot, key);
    if (status !== 201) throw new Error(`no lot: ${status} ${JSON.stringify(body)}`);
    this.model.lots.push({ id: body.id, number, good, place: PLACES[place]!, state: 'available' });
    this.model.received(good, quantity);
    return status;
  }

  /** Payments tells of a payment; what became of the order is compared with what may become of it. */
  async tellPaid(orderId: string): Promise<void> {
    const [row] = await this.shop.p.sql<{ user: string; amount: number }>(
      'select user_id as "user", amount::int as amount from commerce.embedded_payment where order_id = $1',
      [orderId],
    );
    await this.shop.paid(orderId, row!.user, { card: row!.amount });
    const order = this.model.orders.get(orderId);
    if (order) await this.#heard(order);
  }

  async #heard(order: Order): Promise<void> {
    const { body } = await this.ask('GET', `/orders/${order.id}`, undefined, null);
    this.model.settled(order, body.status === 'placed' || body.status === 'completed');
  }

  async #unheard(): Promise<string[]> {
    const text = `select p.order_id as id from commerce.embedded_payment p join commerce.shop_order o on o.id = p.order_id
      where p.status = 'COMPLETE' and o.settled = 0 order by p.order_id`;
    return (await this.shop.p.sql<{ id: string }>(text)).map(({ id }) => id);
  }

  /** Tells of all that was paid and that commerce does not know of, as payments' events do sooner or later. @returns what it takes no notice of. */
  async tellAll(): Promise<string[]> {
    for (const id of await this.#unheard()) await this.tellPaid(id);
    return (await this.#unheard()).map(id => `a payment of which no notice was taken: ${id}`);
  }

  /** Waits until all that payments is to be asked for was asked; what could not be reached is asked again when the clock goes on. */
  async drained(): Promise<void> {
    const open = 'select kind, attempts from commerce.payment_task where done_at is null limit 3';
    let nudgeAt = performance.now() + NUDGE_MS;
    const look = async (): Promise<unknown[]> => {
      const left = await this.shop.p.sql(open);
      if (left.length > 0 && this.isPatient && performance.now() > nudgeAt) {
        await this.advance(MINUTE_MS);
        nudgeAt = performance.now() + NUDGE_MS;
      }
      return left;
    };
    await until('the tasks of payments', look, left => left.length === 0, DRAIN_MS);
  }

  /** The clock of the shop goes on, and with it what its answers promised. */
  async advance(ms: number): Promise<void> {
    const now = new Date(this.model.now + ms).toISOString();
    const { status, body } = await this.ask('POST', '/admin/test-clock', { now }, null);
    if (status !== 200) throw new Error(`no time: ${status} ${JSON.stringify(body)}`);
    this.model.advance(ms);
  }
}
