import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Answer, PlatformSetting } from '../support/platform.js';
import { until } from '../support/until.js';
import { Shop, usd } from './shop.js';

const SECOND_MS = 1000;
export const DAY_MS = 86_400 * SECOND_MS;

interface Terms {
  amount?: number;
  method?: string;
  /** Of the price. */
  price?: object;
  /** Of the body. */
  more?: object;
  userId?: string;
}

export interface Subscribed {
  id: string;
  userId: string;
  priceId: string;
  token: string;
  body: any;
}

/** People with subscriptions, and what they see as time passes. */
export class Subscribers {
  constructor(readonly shop: Shop) {}

  static async open(setting: PlatformSetting = {}): Promise<Subscribers> {
    return new Subscribers(await Shop.open(setting));
  }

  get p() {
    return this.shop.p;
  }

  async now(): Promise<Date> {
    const [row] = await this.p.sql<{ now: Date }>('select coalesce((select now from payments.test_clock), now()) as now');
    return row!.now;
  }

  /** The clock at an instant; never backwards. */
  at(now: string): Promise<void> {
    return this.p.clock('payments', { now });
  }

  /** A method of a user, as the default one. */
  async attach(userId: string, token: string): Promise<string> {
    const answer = await this.shop.post('/v1/billing/payment-methods', { token, default: true, user_id: userId });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(202);
    return answer.body.id;
  }

  price(amount: number, more: object = {}): Promise<string> {
    return this.shop.monthly(amount, { subject_id: randomUUID(), ...more });
  }

  async subscribe({ amount = 9900, method = 'pm_card_visa', price = {}, more = {}, userId }: Terms = {}): Promise<Subscribed> {
    const user = userId ?? (await this.shop.stranger());
    await this.attach(user, method);
    const priceId = await this.price(amount, price);
    const answer = await this.shop.post('/v1/subscriptions', { price_id: priceId, user_id: user, ...more });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return { id: answer.body.id, userId: user, priceId, token: await this.shop.buyer(user), body: answer.body };
  }

  async read({ id }: Pick<Subscribed, 'id'>): Promise<any> {
    const answer = await this.shop.get(`/v1/subscriptions/${id}`);
    expect(answer.status).toBe(200);
    return answer.body;
  }

  async status(one: Pick<Subscribed, 'id'>): Promise<string> {
    return (await this.read(one)).status;
  }

  act({ id, token }: Subscribed, action: string, body: object = {}): Promise<Answer> {
    return this.shop.post(`/v1/subscriptions/${id}/${action}`, body, token);
  }

  patch({ id, token }: Subscribed, body: object, headers: Record<string, string> = {}): Promise<Answer> {
    return this.p.rest('PATCH', `/payments/v1/subscriptions/${id}`, { token, body, headers });
  }

  /** Invoices of a user, the oldest first. */
  async invoices(userId: string): Promise<any[]> {
    const answer = await this.shop.get(`/v1/billing/invoices?user_id=${userId}&limit=100`);
    expect(answer.status).toBe(200);
    return answer.body.data.reverse();
  }

  /** Waits until a user's subscription is in a state. */
  reaches(one: Pick<Subscribed, 'id'>, status: string): Promise<string> {
    return until(
      `a subscription that is ${status}`,
      () => this.status(one),
      found => found === status,
    );
  }

  /** Data of the events of a type about a user. */
  events(type: string, userId: string): Promise<any[]> {
    return this.shop.events(type, userId);
  }

  async advanceDays(days: number): Promise<void> {
    await this.p.clock('payments', { advance: `PT${Math.round(days * 86_400)}S` });
  }
}

export const dollars = usd;
