import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { BRAND, DEMO, platform, type Answer, type PlatformSetting, type TestPlatform } from '../support/platform.js';

const USD = (amount: number) => ({ amount, currency: 'USD' });

/** A shop to buy in: a platform with payments, prices as they are needed, and what tests ask of it. */
export class Shop {
  constructor(
    readonly p: TestPlatform,
    readonly token: string,
  ) {}

  static async open(setting: PlatformSetting = {}): Promise<Shop> {
    const p = await platform({ services: ['payments'], ...setting });
    return new Shop(p, await p.serviceToken());
  }

  /** A person of identity whom no other test knows. */
  async stranger(): Promise<string> {
    const id = randomUUID();
    await this.p.sql(
      `insert into identity."user" select (jsonb_populate_record(null::identity."user", to_jsonb(u) || jsonb_build_object('id', $1::text))).*
       from identity."user" u where u.id = $2`,
      [id, DEMO],
    );
    return id;
  }

  buyer(userId: string): Promise<string> {
    return this.p.userToken(userId, ['manage:subscriptions', 'read:payments', 'read:subscriptions', 'read:invoices']);
  }

  async price(amount: number, more: object = {}): Promise<string> {
    const base = { key: `p-${randomUUID()}`, subject_kind: 'service', subject_id: randomUUID(), brand_id: BRAND };
    const body = { ...base, unit_amount: USD(amount), ...more };
    const answer = await this.p.rest('POST', '/payments/v1/admin/prices', { token: this.token, body });
    expect(answer).toMatchObject({ status: 201 });
    return answer.body.id;
  }

  monthly(amount: number, more: object = {}): Promise<string> {
    return this.price(amount, {
      recurring: { interval: 'month', interval_count: 1 },
      subject_kind: 'membership_plan',
      tier: 'plus',
      ...more,
    });
  }

  post(path: string, body: unknown, token = this.token, headers: Record<string, string> = {}): Promise<Answer> {
    return this.p.rest('POST', `/payments${path}`, { token, body, headers });
  }
  get(path: string, token = this.token): Promise<Answer> {
    return this.p.rest('GET', `/payments${path}`, { token });
  }

  /** Buys once with a token of the sandbox, as a service for the user. */
  async buy(userId: string, amount: number, method = 'pm_card_visa', more: object = {}): Promise<Answer> {
    const items = [{ price_id: await this.price(amount), quantity: 1 }];
    return this.post('/v1/checkout', { mode: 'payment', items, user_id: userId, payment_method_token: method, ...more });
  }

  /** Events of a type about a user, oldest first. */
  async events(type: string, userId: string): Promise<any[]> {
    const found = 'select data from events.outbox where type = $1 and user_id = $2 order by seq';
    const rows = await this.p.sql<{ data: unknown }>(found, [type, userId]);
    return rows.map(({ data }) => data);
  }

  advance(advance: string): Promise<void> {
    return this.p.clock('payments', { advance });
  }

  /** Plays the customer or the bank in the sandbox. */
  act(action: string, paymentId?: string, amount?: number): Promise<Answer> {
    return this.post('/v1/admin/sandbox/actions', { action, payment_id: paymentId, amount });
  }
}

export const usd = USD;
