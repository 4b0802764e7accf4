import { createHmac, randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { processorOf, processorSettings } from '../../subgraphs/payments/ports/processors.js';
import type { Answer } from '../support/platform.js';
import { Shop } from './shop.js';

const BUY = `mutation ($input: CreateCheckoutInput!) { createCheckout(input: $input) { id status payment { id status } } }`;

/** What the processor's side is tested with, beside the shop: paid payments, and the processor's own calls. */
export class Bank extends Shop {
  static override async open(setting: Parameters<typeof Shop.open>[0] = {}): Promise<Bank> {
    const { p, token } = await Shop.open(setting);
    return new Bank(p, token);
  }

  /** A payment of a new purchase. */
  async paid(userId: string, amount: number, method = 'pm_card_visa'): Promise<string> {
    const items = [{ priceId: await this.price(amount), quantity: 1 }];
    const input = { mode: 'PAYMENT', items, userId, paymentMethodToken: method };
    const answer = await this.p.graphql(BUY, { input }, { token: this.token });
    expect(answer.errors).toEqual([]);
    return answer.data.createCheckout.payment.id;
  }

  /** The row of a payment, amounts as numbers. */
  async payment(id: string): Promise<any> {
    const [row] = await this.p.sql(
      `select *, amount_captured::int, amount_refunded::int, amount_reserved::int, amount_disputed::int from payments.payment where id = $1`,
      [id],
    );
    return row;
  }

  /** Waits until a payment is as wanted. */
  async settles(id: string, wanted: object): Promise<any> {
    await expect.poll(() => this.payment(id), { timeout: 20_000, interval: 50 }).toMatchObject(wanted);
    return this.payment(id);
  }

  async disputeOf(paymentId: string, wanted: object = {}): Promise<any> {
    const find = () => this.p.sql('select *, amount::int, fee::int from payments.dispute where payment_id = $1', [paymentId]);
    await expect.poll(async () => (await find())[0], { timeout: 20_000, interval: 50 }).toMatchObject(wanted);
    return (await find())[0];
  }

  /** The processor's own objects, asked as payments asks. */
  get processor() {
    return processorOf(this.p.host('payments'));
  }

  get secret(): string {
    return processorSettings(this.p.host('payments')).webhookSecrets.sandbox[0]!;
  }

  async now(): Promise<Date> {
    return this.p.host('payments').read(async ctx => ctx.now());
  }

  async call(): Promise<{ idempotencyKey: string; clock: { now(): Date } }> {
    const now = await this.now();
    return { idempotencyKey: randomUUID(), clock: { now: () => now } };
  }

  /** Calls the inbound webhook as the processor does. */
  async notify(
    object: { kind: string; id: string },
    { id = `evt_${randomUUID()}`, secret = this.secret, age = 0, type = `${object.kind}.updated`, body = '' } = {},
  ): Promise<Answer> {
    const at = Math.floor((await this.now()).getTime() / 1000) - age;
    const text = body || JSON.stringify({ id, type, created: at, data: { object } });
    const v1 = createHmac('sha256', secret).update(`${at}.${text}`).digest('hex');
    return this.p.rest('POST', '/payments/v1/webhooks/processor', {
      body: text,
      headers: { 'content-type': 'application/json', 'processor-signature': `t=${at},v1=${v1}` },
    });
  }

  count(text: string, params: unknown[] = []): Promise<number> {
    return this.p.sql<{ count: number }>(`select count(*)::int as count from ${text}`, params).then(rows => rows[0]!.count);
  }

  /** Kept calls about an object, by now all handled. */
  async handled(where: string, params: unknown[] = []): Promise<any[]> {
    const find = () => this.p.sql(`select * from payments.processor_event where ${where} order by received_at, id`, params);
    const open = async () => (await find()).filter(one => ['received', 'failed'].includes(one.status)).length;
    await expect.poll(open, { timeout: 20_000, interval: 50 }).toBe(0);
    return find();
  }
}
