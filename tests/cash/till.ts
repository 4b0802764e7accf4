import { randomUUID } from 'node:crypto';
import { vi } from 'vitest';
import { membershipBonusEligible, membershipLapsed } from '../../events/catalogue/membership.js';
import { paymentRefunded } from '../../events/catalogue/payments.js';
import type { DataOf, EventDefinition } from '../../events/define.js';
import { prepareEvent } from '../../events/outbox.js';
import { BRAND, platform, type Answer, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

/** Where the service's clock stands at the beginning. */
export const T0 = '2026-11-24T12:00:00.000Z';
const [MINUTE, DAY] = [60_000, 86_400_000];

/** T0 plus minutes, RFC 3339. */
export const minutes = (count: number): string => new Date(Date.parse(T0) + count * MINUTE).toISOString();
/** T0 plus days, RFC 3339. */
export const days = (count: number): string => new Date(Date.parse(T0) + count * DAY).toISOString();
export const usd = (amount: number) => ({ amount, currency: 'USD' });
export const anyPurchase = (subtotal = 1_000_000) => ({ subtotal: usd(subtotal), subject_kinds: ['product_variant'] });

type Refund = DataOf<typeof paymentRefunded>;
type Bonus = DataOf<typeof membershipBonusEligible>;

/** The cash service as its callers see it. */
export class Till {
  private constructor(
    readonly p: TestPlatform,
    readonly token: string,
  ) {}

  static async open(setting: Parameters<typeof platform>[0] = {}): Promise<Till> {
    const p = await platform({ services: ['cash', 'jobs'], ...setting });
    await p.clock('cash', { now: T0 });
    return new Till(p, await p.serviceToken('admin:cash'));
  }

  rest(method: string, path: string, body?: unknown, token: string | null = this.token): Promise<Answer> {
    return this.p.rest(method, `/cash/v1${path}`, { token, body });
  }

  clock(now: string): Promise<void> {
    return this.p.clock('cash', { now });
  }

  /** Moves the time without what is due at it: no sweep comes by. */
  async freeze(now: string): Promise<void> {
    await this.p.sql('insert into cash.test_clock (now) values ($1) on conflict (only_row) do update set now = $1', [now]);
  }

  user(): string {
    return randomUUID();
  }

  member(userId: string, scopes = ['read:cash_balance']): Promise<string> {
    return this.p.userToken(userId, scopes);
  }

  give(user_id: string, amount: number, more: object = {}, token = this.token): Promise<Answer> {
    const reference = { type: 'campaign', id: randomUUID() };
    return this.rest('POST', '/cash/grants', { user_id, source: 'promotion', amount: usd(amount), reference, ...more }, token);
  }

  reserve(user_id: string, amount: number, more: object = {}): Promise<Answer> {
    const reference = { type: 'checkout', id: randomUUID() };
    return this.rest('POST', '/cash/reservations', { user_id, max_amount: usd(amount), purchase: anyPurchase(), reference, ...more });
  }

  step(id: string, what: 'extend' | 'commit' | 'release', body: object = {}): Promise<Answer> {
    return this.rest('POST', `/cash/reservations/${id}/${what}`, body);
  }

  spend(user_id: string, amount: number, more: object = {}): Promise<Answer> {
    return this.rest('POST', '/cash/spend', { user_id, amount: usd(amount), reference: { type: 'order', id: randomUUID() }, ...more });
  }

  async balance(userId: string): Promise<any> {
    return (await this.rest('GET', `/cash?user_id=${userId}`)).body;
  }

  async available(userId: string): Promise<number> {
    return (await this.balance(userId)).available.amount;
  }

  async grants(userId: string): Promise<any[]> {
    return (await this.rest('GET', `/cash/grants?user_id=${userId}&limit=100`)).body.data;
  }

  async movements(userId: string): Promise<any[]> {
    return (await this.rest('GET', `/cash/movements?user_id=${userId}&limit=100`)).body.data;
  }

  /** Data of a user's events, oldest first. */
  async events(userId: string, type: string): Promise<any[]> {
    const rows = await this.p.sql<{ data: any }>('select data from events.outbox where type = $1 and user_id = $2 order by seq', [
      type,
      userId,
    ]);
    return rows.map(({ data }) => data);
  }

  /** As its owner emits it; resolves when cash has handled it. Delivered `times` times. */
  async tell<E extends EventDefinition>(event: E, data: DataOf<E>, userId: string, times = 1): Promise<void> {
    for (let sent = 0; sent < times; sent++) {
      const meta = { source: event.owner, requestId: null, causationId: null, actor: `service:${event.owner}`, traceparent: null } as const;
      const pending = prepareEvent(event, data, { userId }, meta);
      await this.p.sql(
        `set role platform_events; select events.append('${JSON.stringify([pending]).replaceAll("'", "''")}', null); reset role`,
      );
      await until(
        `${event.name} is handled`,
        () => this.p.sql("select 1 from cash.inbox where consumer = 'cash.balances' and event_id = $1", [pending.id]),
        rows => rows.length === 1,
      );
    }
  }

  refund(userId: string, about: Partial<Refund> & Pick<Refund, 'refund_id'>, times = 1): Promise<void> {
    const ids = { payment_id: randomUUID(), order_id: null, invoice_id: null, subscription_id: null };
    const money = { amount: 0, currency: 'USD', cash_return_amount: 0, tax_amount: 0, payment_amount: 0, total_refunded: 0 };
    const rest = { status: 'succeeded', reason: 'requested_by_customer', origin: 'member', to_cash: false } as const;
    return this.tell(paymentRefunded, { ...ids, ...money, ...rest, ...about }, userId, times);
  }

  bonus(userId: string, about: Partial<Bonus> & Pick<Bonus, 'membership_id'>, times = 1): Promise<void> {
    const plan = { plan_id: randomUUID(), plan_key: 'gold_monthly', tier_key: 'gold', brand_id: BRAND, subscription_id: null };
    const terms = {
      bonus_key: 'monthly_cash',
      period_key: '2026-11',
      cash_amount: 1_000,
      currency: 'USD',
      expires_days: 90,
      revoke_on_lapse: false,
    };
    return this.tell(membershipBonusEligible, { ...plan, ...terms, ...about }, userId, times);
  }

  lapse(userId: string, membershipId: string): Promise<void> {
    const plan = { plan_id: randomUUID(), plan_key: 'gold_monthly', tier_key: 'gold', brand_id: BRAND, subscription_id: null };
    const how = { reason: 'cancelled', involuntary: false, lapsed_at: T0, tenure_days: 40 } as const;
    return this.tell(membershipLapsed, { membership_id: membershipId, ...plan, ...how }, userId);
  }

  /** Answers in the place of services that are absent, by the name of the operation that cash asks; an Error is thrown. */
  neighbours(answers: Record<string, object | Error>): void {
    const { federation } = this.p.host('cash');
    const real = federation.run.bind(federation);
    vi.spyOn(federation, 'run').mockImplementation(async (document, ...rest) => {
      const answer = answers[/^\s*(?:query|mutation)\s+(\w+)/.exec(document.source)?.[1] ?? ''];
      if (answer === undefined) return real(document, ...rest) as never;
      if (answer instanceof Error) throw answer;
      return answer as never;
    });
  }

  /** What the account, its grants, its reservations and its movements say of one another: nothing is lost or made. */
  async books(userId: string): Promise<{ total: number; lots: number; reserved: number; held: number; moved: number }> {
    const [row] = await this.p.sql(
      `select granted - spent - expired - revoked as total, reserved,
         (select coalesce(sum(remaining + reserved), 0) from cash.cash_grant where user_id = $1 and status <> 'scheduled') as lots,
         (select coalesce(sum(amount), 0) from cash.cash_reservation where user_id = $1 and status = 'held') as held,
         (select coalesce(sum(case when kind in ('granted', 'returned') then amount else -amount end), 0) from cash.cash_movement where user_id = $1) as moved
       from cash.cash_account where user_id = $1`,
      [userId],
    );
    return Object.fromEntries(Object.entries(row ?? {}).map(([name, value]) => [name, Number(value)])) as never;
  }
}
