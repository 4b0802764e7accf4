import { randomUUID } from 'node:crypto';
import { userCreated } from '../../events/catalogue/identity.js';
import { paymentDisputeClosed, paymentDisputeCreated, paymentPaid, paymentRefunded } from '../../events/catalogue/payments.js';
import type { DataOf, EventDefinition } from '../../events/define.js';
import { prepareEvent } from '../../events/outbox.js';
import { BRAND, platform, type Answer, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

/** Where the service's clock stands at the beginning. */
export const T0 = '2026-11-24T12:00:00.000Z';
/** T0 plus days, RFC 3339. */
export const days = (count: number): string => new Date(Date.parse(T0) + count * 86_400_000).toISOString();
export const usd = (amount: number) => ({ amount, currency: 'USD' });

type Paid = DataOf<typeof paymentPaid>;
type Refund = DataOf<typeof paymentRefunded>;
type Closed = DataOf<typeof paymentDisputeClosed>;
type Answers = Record<string, object | Error | ((variables: any) => object)>;

const NONE = { order_id: null, invoice_id: null, subscription_id: null };
const ALL = ['read:affiliate_self', 'read:affiliate_customers', 'manage:affiliate_winback'];

/** What neighbours answer unless a test says otherwise. */
const QUIET: Answers = { AffiliatesSharesMethod: { sharesPaymentMethod: false }, AffiliatesDestination: { payoutDestination: null } };

/** Somebody who is an affiliate of a program. */
export interface Partner {
  id: string;
  user: string;
  code: string;
  token: string;
  program: string;
}

/** The affiliates service as its callers see it. */
export class Agency {
  #answers: Answers = {};
  #sent = 0;

  private constructor(
    readonly p: TestPlatform,
    readonly token: string,
  ) {}

  static async open(setting: Parameters<typeof platform>[0] = {}): Promise<Agency> {
    const p = await platform({ services: ['affiliates', 'jobs'], ...setting });
    await p.clock('affiliates', { now: T0 });
    const agency = new Agency(p, await p.serviceToken('admin:affiliates'));
    agency.#listen();
    return agency;
  }

  /** Stands in the place of neighbours that are absent; of payments nobody shares a card unless a test says so. */
  #listen(): void {
    const { federation } = this.p.host('affiliates');
    const real = federation.run.bind(federation);
    const run: typeof federation.run = async (document, variables, ...rest) => {
      const name = /^\s*(?:query|mutation)\s+(\w+)/.exec(document.source)?.[1] ?? '';
      const answer = this.#answers[name] ?? QUIET[name];
      if (answer === undefined) return real(document, variables, ...rest);
      if (answer instanceof Error) throw answer;
      return (typeof answer === 'function' ? answer(variables) : answer) as never;
    };
    Object.assign(federation, { run }); // for the whole file, which spies are not
  }

  /** What neighbours answer from now on, by the name of the operation that is asked. */
  neighbours(answers: Answers): void {
    this.#answers = answers;
  }

  rest(method: string, path: string, body?: unknown, token: string | null = this.token, headers?: Record<string, string>): Promise<Answer> {
    return this.p.rest(method, `/affiliates/v1${path}`, { token, body, headers });
  }

  clock(now: string): Promise<void> {
    return this.p.clock('affiliates', { now });
  }

  /** An active account. */
  async person(): Promise<string> {
    const id = randomUUID();
    await this.p.sql(`insert into identity."user" (id, status, created_at, updated_at) values ($1, 'active', now(), now())`, [id]);
    return id;
  }

  member(userId: string, scopes = ALL): Promise<string> {
    return this.p.userToken(userId, scopes);
  }

  /** A program with one tier of 10 %. */
  async program(more: object = {}): Promise<string> {
    const body = {
      key: `p.${randomUUID().slice(0, 8)}`,
      name: 'A program',
      brand_id: BRAND,
      minimum_payout: usd(100),
      self_approval: true,
      tiers: [{ key: 'base', rank: 1, kind: 'percent', rate_bps: 1_000, threshold: usd(0) }],
      ...more,
    };
    const answer = await this.rest('POST', '/admin/programs', body);
    if (answer.status !== 201) throw new Error(`no program: ${JSON.stringify(answer.body)}`);
    return answer.body.id;
  }

  /** A person who has applied to a program. */
  async partner(program: string): Promise<Partner> {
    const user = await this.person();
    const token = await this.member(user);
    const { status, body } = await this.rest('POST', '/affiliates/me', { program_id: program }, token);
    if (status !== 201) throw new Error(`no affiliate: ${JSON.stringify(body)}`);
    return { id: body.id, user, code: body.code, token, program };
  }

  /** A token of a visit with a code. */
  async click(code: string): Promise<string> {
    const answer = await this.rest('POST', '/clicks', { code }, null);
    if (answer.status !== 201) throw new Error(`no click: ${JSON.stringify(answer.body)}`);
    return answer.body.token;
  }

  claim(user: string, body: object): Promise<Answer> {
    return this.member(user, ['read:profile']).then(token => this.rest('POST', '/attributions/me', body, token));
  }

  /** As its owner emits it at an instant of the service's clock; resolves when affiliates has handled it. */
  async tell<E extends EventDefinition>(
    event: E,
    data: DataOf<E>,
    userId: string,
    times = 1,
    consumer = 'affiliates.purchases',
    occurred?: string,
  ): Promise<void> {
    for (let sent = 0; sent < times; sent++) {
      const [{ now } = { now: T0 }] = await this.p.sql<{ now: Date }>('select now from affiliates.test_clock');
      const at = occurred ?? new Date(new Date(now).getTime() + this.#sent++).toISOString();
      const meta = { source: event.owner, requestId: null, causationId: null, actor: `service:${event.owner}`, traceparent: null } as const;
      const pending = prepareEvent(event, data, { userId }, meta);
      const rows = JSON.stringify([pending]).replaceAll("'", "''");
      await this.p.sql(`set role platform_events; select events.append('${rows}', '${at}'); reset role`);
      await until(
        `${event.name} is handled`,
        () => this.p.sql('select 1 from affiliates.inbox where consumer = $1 and event_id = $2', [consumer, pending.id]),
        found => found.length === 1,
      );
    }
  }

  signUp(userId: string): Promise<void> {
    return this.tell(userCreated, { source: 'signup', locale: null, country_code: null }, userId);
  }

  /** Settles an order; answers its id. */
  async pay(userId: string, more: Partial<Paid> = {}, times = 1, occurred?: string): Promise<string> {
    const order = more.obligation_id ?? randomUUID();
    const money = {
      subtotal_amount: 9_900,
      discount_amount: 1_980,
      tax_amount: 0,
      shipping_amount: 0,
      cash_amount: 0,
      credit_amount: 0,
      total_amount: 7_920,
    };
    const rest = {
      payment_id: randomUUID(),
      purpose: 'order',
      currency: 'USD',
      promo_code: null,
      affiliate_code: null,
      first_purchase: true,
      tax_region: null,
    };
    await this.tell(
      paymentPaid,
      { obligation_type: 'order', obligation_id: order, ...NONE, order_id: order, ...money, ...rest, ...more },
      userId,
      times,
      'affiliates.purchases',
      occurred,
    );
    return order;
  }

  /** Refunds an order of 7920 to what has gone back in all. */
  async refund(userId: string, order: string, refunded: number, more: Partial<Refund> = {}, times = 1, occurred?: string): Promise<string> {
    const refund = more.refund_id ?? randomUUID();
    const money = {
      amount: 0,
      currency: 'USD',
      cash_return_amount: 0,
      credit_return_amount: 0,
      tax_amount: 0,
      tax_region: null,
      payment_amount: 7_920,
      total_refunded: refunded,
    };
    const how = { status: 'succeeded', reason: 'requested_by_customer', origin: 'member', to_cash: false } as const;
    const about = { obligation_type: 'order', obligation_id: order, obligation_amount: 7_920, obligation_refunded: refunded } as const;
    await this.tell(
      paymentRefunded,
      { refund_id: refund, payment_id: randomUUID(), ...NONE, order_id: order, ...money, ...how, ...about, ...more },
      userId,
      times,
      'affiliates.purchases',
      occurred,
    );
    return refund;
  }

  async dispute(
    userId: string,
    order: string,
    outcome: Closed['outcome'] | null,
    dispute: string = randomUUID(),
    times = 1,
  ): Promise<string> {
    const ids = { dispute_id: dispute, payment_id: randomUUID(), ...NONE, order_id: order };
    const about = { obligation_type: 'order', obligation_id: order, obligation_amount: 7_920, obligation_refunded: 0 } as const;
    const rest = { amount: 7_920, fee_amount: null, currency: 'USD', reason: 'fraudulent', status: outcome ?? 'needs_response', ...about };
    if (outcome) await this.tell(paymentDisputeClosed, { ...ids, ...rest, outcome }, userId, times);
    else await this.tell(paymentDisputeCreated, { ...ids, ...rest, evidence_due_at: null }, userId, times);
    return dispute;
  }

  /** A customer who has signed up by a partner's link. */
  async lead({ code }: Partner): Promise<string> {
    const user = await this.person();
    const token = await this.click(code);
    await this.signUp(user);
    await this.claim(user, { token });
    return user;
  }

  async commissions({ id }: Partner): Promise<any[]> {
    return (await this.rest('GET', `/commissions?affiliate_id=${id}&limit=100`)).body.data;
  }

  async earnings({ token }: Partner): Promise<any> {
    return (await this.rest('GET', '/affiliates/me/earnings', undefined, token)).body;
  }

  async attribution(userId: string): Promise<any> {
    const { status, body } = await this.rest('GET', `/attributions?user_id=${userId}`);
    return status === 404 ? null : body;
  }

  /** Type and data of a partner's events, oldest first. */
  async events({ user }: Partner): Promise<[string, any][]> {
    const rows = await this.p.sql<{ type: string; data: any }>(
      `select type, data from events.outbox where user_id = $1 and (type like 'affiliate.%' or type = 'earnings.accrued.v1') order by seq`,
      [user],
    );
    return rows.map(({ type, data }) => [type.replace(/^(affiliate\.)?/, '').replace('.v1', ''), data]);
  }

  /** `earnings.accrued 792` of each event. */
  async told(partner: Partner): Promise<string[]> {
    return (await this.events(partner)).map(([type, { amount }]) => `${type} ${amount}`);
  }

  postDue(body: object = {}): Promise<Answer> {
    return this.rest('POST', '/admin/commissions/post-due', body);
  }

  /** A payout run, to its end. */
  async payOut(program: string): Promise<void> {
    const { body } = await this.rest('POST', '/admin/payouts/run', { program_id: program });
    await until(
      'the run has ended',
      () => this.p.sql('select 1 from affiliates.posting_run where id = $1 and finished_at is not null', [body.id]),
      rows => rows.length === 1,
    );
  }
}
