import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { orderPlaced } from '../../events/catalogue/commerce.js';
import {
  paymentDisputeClosed,
  paymentInvoicePaid,
  paymentInvoicePastDue,
  subscriptionCancelled,
  subscriptionCreated,
  subscriptionPaused,
  subscriptionResumed,
  subscriptionTierChanged,
} from '../../events/catalogue/payments.js';
import type { DataOf, EventDefinition } from '../../events/define.js';
import { prepareEvent } from '../../events/outbox.js';
import type { Slug } from '../../events/slugs.js';
import { BRAND, platform, type Answer, type GraphqlAnswer, type TestPlatform } from '../support/platform.js';

/** Where the service's clock stands at the beginning. */
export const T0 = '2027-01-10T10:00:00.000Z';
export const DAY = 86_400_000;
export const HOUR = 3_600_000;

/** T0 plus milliseconds, RFC 3339. */
export const after = (ms: number): string => new Date(Date.parse(T0) + ms).toISOString();

/** Of the seed. */
export const BASIC = { plan: '0190b3a0-0000-7000-8000-0000000d0001', tier: '0190b3a0-0000-7000-8000-0000000d0011' };
export const PLUS = { plan: '0190b3a0-0000-7000-8000-0000000d0002', tier: '0190b3a0-0000-7000-8000-0000000d0012' };

/** A user with a subscription, as payments tells of them. */
export interface Billed {
  user: string;
  subscription: string;
}

export const someone = (): Billed => ({ user: randomUUID(), subscription: randomUUID() });

interface Emitted {
  id: string;
  consumer: string;
}

/** The membership service as its neighbours see it. */
export class Members {
  #now = T0;

  private constructor(
    readonly p: TestPlatform,
    readonly token: string,
  ) {}

  static async open(services: readonly Slug[] = ['membership'], options: { transport?: 'run' } = {}): Promise<Members> {
    const p = await platform({ services: [...services], ...options });
    await p.clock('membership', { now: T0 });
    return new Members(p, await p.serviceToken('admin:membership'));
  }

  rest(method: string, path: string, body?: unknown, token: string | null = this.token, headers?: Record<string, string>): Promise<Answer> {
    return this.p.rest(method, `/membership/v1${path}`, { token, body, headers });
  }

  graphql(query: string, variables: object = {}, token = this.token): Promise<GraphqlAnswer> {
    return this.p.graphql(query, variables, { token });
  }

  /** A token of a user, who is made where there is none. */
  async userToken(userId: string, scopes: string[], options: Parameters<TestPlatform['userToken']>[2] = {}): Promise<string> {
    const made = `insert into identity."user" (id, status, created_at, updated_at) values ($1, 'active', now(), now()) on conflict do nothing`;
    await this.p.sql(made, [userId]);
    return this.p.userToken(userId, scopes, options);
  }

  /** Moves the clock to T0 plus milliseconds. */
  async clock(ms: number): Promise<void> {
    this.#now = after(ms);
    await this.p.clock('membership', { now: this.#now });
  }

  /** As its owner emits it, at an instant; without waiting. */
  async append<E extends EventDefinition>(event: E, data: DataOf<E>, userId: string | null, at: string): Promise<Emitted> {
    const meta = { source: event.owner, requestId: null, causationId: null, actor: `service:${event.owner}`, traceparent: null } as const;
    const pending = prepareEvent(event, data, { userId }, meta);
    const rows = JSON.stringify([pending]).replaceAll("'", "''");
    await this.p.sql(`set role platform_events; select events.append('${rows}', '${at}'); reset role`);
    return { id: pending.id, consumer: event.name === orderPlaced.name ? 'membership.orders' : 'membership.billing' };
  }

  /** The same; resolves when membership has handled it. */
  async emit<E extends EventDefinition>(event: E, data: DataOf<E>, userId: string | null, at = this.#now): Promise<void> {
    await this.handled(await this.append(event, data, userId, at));
  }

  async handled({ id, consumer }: Emitted): Promise<void> {
    const count = async () =>
      (await this.p.sql('select 1 from membership.inbox where consumer = $1 and event_id = $2', [consumer, id])).length;
    await expect.poll(count, { timeout: 15_000, interval: 20 }).toBe(1);
  }

  create(who: Billed, more: { plan?: string; tier?: string | null; source?: string; end?: string; at?: string } = {}): Promise<void> {
    return this.emit(subscriptionCreated, createdData(who, more), who.user, more.at);
  }

  pause(who: Billed, at?: string): Promise<void> {
    const subject = {
      kind: 'billing',
      subscription_id: who.subscription,
      subject_kind: 'membership_plan',
      subject_id: BASIC.plan,
    } as const;
    return this.emit(subscriptionPaused, { ...subject, tier: 'basic', paused_at: at ?? this.#now, resume_at: null }, who.user, at);
  }

  resume(who: Billed, at?: string, end = after(30 * DAY)): Promise<void> {
    const subject = {
      kind: 'billing',
      subscription_id: who.subscription,
      subject_kind: 'membership_plan',
      subject_id: BASIC.plan,
    } as const;
    const dates = { resumed_at: at ?? this.#now, current_period_end: end };
    return this.emit(subscriptionResumed, { ...subject, tier: 'basic', ...dates }, who.user, at);
  }

  cancel(who: Billed, more: { reason?: string; involuntary?: boolean; at?: string } = {}): Promise<void> {
    const { reason = 'too_expensive', involuntary = false, at } = more;
    const subject = {
      kind: 'billing',
      subscription_id: who.subscription,
      subject_kind: 'membership_plan',
      subject_id: BASIC.plan,
    } as const;
    const end = { reason, involuntary, ended_at: at ?? this.#now, at_period_end: true };
    return this.emit(subscriptionCancelled, { ...subject, tier: 'basic', ...end }, who.user, at);
  }

  changeTier(who: Billed, to: string, direction: 'upgrade' | 'downgrade' = 'upgrade', at?: string): Promise<void> {
    const ids = { subscription_id: who.subscription, from_price_id: randomUUID(), to_price_id: randomUUID() };
    const change = { from_tier: 'basic', to_tier: to, direction, effective_at: at ?? this.#now };
    return this.emit(subscriptionTierChanged, { kind: 'billing', ...ids, ...change }, who.user, at);
  }

  pastDue(user: string, invoice: string, subscription: string | null, at?: string): Promise<void> {
    return this.emit(paymentInvoicePastDue, invoiceData(invoice, subscription, 2900), user, at);
  }

  paid(user: string, invoice: string, subscription: string | null, period?: [string, string], at?: string): Promise<void> {
    return this.emit(paymentInvoicePaid, invoiceData(invoice, subscription, 0, period), user, at);
  }

  dispute(who: Billed, dispute: string, outcome: 'won' | 'lost' | 'withdrawn', at?: string): Promise<void> {
    const ids = {
      dispute_id: dispute,
      payment_id: randomUUID(),
      order_id: null,
      invoice_id: randomUUID(),
      subscription_id: who.subscription,
    };
    const rest = { amount: 2900, fee_amount: null, currency: 'USD', reason: 'fraudulent', status: outcome, outcome };
    return this.emit(paymentDisputeClosed, { ...ids, ...rest }, who.user, at);
  }

  order(user: string | null, order: string = randomUUID()): Promise<void> {
    const items = [{ product_id: randomUUID(), variant_id: randomUUID(), quantity: 1, total_amount: 4_900 }];
    const money = { currency: 'USD', subtotal_amount: 4_900, discount_amount: 0, shipping_amount: 0, tax_amount: 0, total_amount: 4_900 };
    const none = { promo_id: null, affiliate_code: null, subscription_id: null, first_order: true };
    const about = { order_id: order, order_number: 'main-1', brand_id: BRAND, source: 'storefront', item_count: 1 };
    return this.emit(orderPlaced, { ...about, ...money, ...none, items, placed_at: this.#now }, user);
  }

  /** A member of a new user, on basic unless said otherwise. */
  async member(more: Parameters<Members['create']>[1] = {}): Promise<Billed> {
    const who = someone();
    await this.create(who, more);
    return who;
  }

  /** Memberships of a user, newest first. */
  async of(user: string): Promise<any[]> {
    return (await this.rest('GET', `/memberships?user_id=${user}`)).body.data;
  }

  async only(user: string): Promise<any> {
    const rows = await this.of(user);
    expect(rows).toHaveLength(1);
    return rows[0];
  }

  /** What was told of a user, oldest first, as `type key`. */
  async told(user: string): Promise<{ type: string; data: any; at: string }[]> {
    const text = `select type, data, to_char(occurred_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
      from events.outbox where user_id = $1 and source = 'membership' order by seq`;
    return this.p.sql(text, [user]);
  }

  async types(user: string): Promise<string[]> {
    return (await this.told(user)).map(({ type }) => type.replace(/^membership\.|\.v1$/g, ''));
  }

  async at(user: string, at: string): Promise<any[]> {
    return (await this.rest('GET', `/memberships/at?user_id=${user}&at=${at}`)).body.data;
  }

  async history(id: string): Promise<any[]> {
    return (await this.rest('GET', `/memberships/${id}/history?limit=100`)).body.data;
  }

  grant(user: string, more: object = {}): Promise<Answer> {
    return this.rest('POST', '/admin/memberships', { user_id: user, plan_id: BASIC.plan, tier_key: 'basic', reason: 'a test', ...more });
  }
}

export function createdData(
  { subscription }: Billed,
  {
    plan = BASIC.plan,
    tier = 'basic',
    source = 'checkout',
    end = after(30 * DAY),
  }: { plan?: string; tier?: string | null; source?: string; end?: string },
): DataOf<typeof subscriptionCreated> {
  const subject = { kind: 'billing', subscription_id: subscription, subject_kind: 'membership_plan', subject_id: plan, tier } as const;
  const money = { price_id: randomUUID(), quantity: 1, interval: 'month', interval_count: 1, amount: 2900, currency: 'USD' };
  return { ...subject, ...money, status: 'active', source, current_period_end: end, trial_ends_at: null };
}

export function invoiceData(invoice: string, subscription: string | null, due: number, period?: [string, string]) {
  const about = { invoice_id: invoice, number: 'inv-2027-000001', subscription_id: subscription, currency: 'USD' };
  const money = { total_amount: 2900, amount_due: due, amount_refunded: 0, attempt_count: 1, next_attempt_at: null };
  return { ...about, ...money, period_start: period?.[0] ?? null, period_end: period?.[1] ?? null };
}
