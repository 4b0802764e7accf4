import { randomUUID } from 'node:crypto';
import type { DataOf, EventDefinition } from '../../events/define.js';
import { envelopeOf, OUTBOX_COLUMNS, type OutboxRow } from '../../events/envelope.js';
import { prepareEvent } from '../../events/outbox.js';
import { bookEvent } from '../../subgraphs/accounting/commands/booking.js';
import { platform, type Answer, type PlatformSetting, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

/** The first instant of the service's clock. */
export const T0 = '2026-11-10T00:00:00.000Z';

export interface Line {
  account_code: string;
  direction: 'debit' | 'credit';
  amount: { amount: number; currency: string };
  min_available?: number;
  recognition?: object;
  recognition_cut?: object;
}

export const debit = (code: string, amount: number, more: object = {}): Line => ({
  account_code: code,
  direction: 'debit',
  amount: { amount, currency: code.slice(-3).toUpperCase() },
  ...more,
});
export const credit = (code: string, amount: number, more: object = {}): Line => ({ ...debit(code, amount, more), direction: 'credit' });

export const cashOf = (user: string, currency = 'usd'): string => `liabilities:wallet:cash:${user}:${currency}`;
export const creditOf = (user: string, currency = 'usd'): string => `liabilities:wallet:credit:${user}:${currency}`;
export const earningsOf = (user: string, currency = 'usd'): string => `liabilities:wallet:earnings:${user}:${currency}`;
export const BANK = 'assets:bank:usd';

/** A platform with accounting, and its operations in the words of the tests. */
export class Ledger {
  private constructor(
    readonly p: TestPlatform,
    readonly token: string,
  ) {}

  static async open(setting: PlatformSetting = {}, now: string | null = T0): Promise<Ledger> {
    const p = await platform({ services: ['accounting', 'events'], ...setting });
    const ledger = new Ledger(p, await p.serviceToken());
    if (now) await ledger.clock({ now });
    return ledger;
  }

  clock(move: { now: string } | { advance: string }): Promise<void> {
    return this.p.clock('accounting', move);
  }

  call(method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    return this.p.rest(method, `/accounting${path}`, { token: this.token, ...(body && { body }), headers });
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path);
  }

  body(entries: Line[], more: object = {}): any {
    return { source: { service: 'payments', type: 'test', id: randomUUID() }, description: 'a test', entries, ...more };
  }

  post(entries: Line[], more: object = {}): Promise<Answer> {
    return this.call('POST', '/v1/transactions', this.body(entries, more));
  }

  /** Money from the bank into a wallet. */
  async fund(code: string, amount: number): Promise<string> {
    const answer = await this.post([debit(`assets:bank:${code.slice(-3)}`, amount), credit(code, amount)]);
    if (answer.status !== 201) throw new Error(`not funded: ${JSON.stringify(answer.body)}`);
    return answer.body.id;
  }

  async account(code: string): Promise<any> {
    const found = await this.get(`/v1/accounts?code=${code}`);
    return found.body.data.find((one: any) => one.code === code);
  }

  /** 0 for an account that was never used. */
  async balance(code: string): Promise<number> {
    return (await this.account(code))?.balance.amount ?? 0;
  }

  async available(code: string): Promise<number> {
    return (await this.account(code)).available.amount;
  }

  wallets(user: string): Promise<any[]> {
    return this.get(`/v1/wallets?user_id=${user}`).then(answer => answer.body.data);
  }

  userToken(user: string): Promise<string> {
    return this.p.userToken(user, ['read:cash_balance']);
  }

  async trialBalance(currency = 'USD'): Promise<any> {
    return (await this.get(`/v1/reports/trial-balance?currency=${currency}`)).body;
  }

  async verify(query = ''): Promise<any> {
    return (await this.get(`/v1/chain/verify${query}`)).body;
  }

  /** Waits until all that is committed is sealed. */
  async sealed(): Promise<void> {
    const open = async () =>
      (
        await this.p.sql<{ n: number }>(
          'select count(*)::int as n from accounting.ledger_transaction t where not exists (select 1 from accounting.chain_leaf l where l.transaction_id = t.id)',
        )
      )[0]!.n;
    await until('all to be sealed', open, n => n === 0);
  }

  /** As its owner emits it; answers its id. */
  async emit<E extends EventDefinition>(event: E, data: DataOf<E>, userId: string, at: string | null = null): Promise<string> {
    const meta = { source: event.owner, requestId: null, causationId: null, actor: `service:${event.owner}`, traceparent: null } as const;
    const pending = prepareEvent(event, data, { userId }, meta);
    await this.append(pending, at);
    return pending.id;
  }

  async append(pending: object, at: string | null): Promise<void> {
    const json = JSON.stringify([pending]).replaceAll("'", "''");
    await this.p.sql(`set role platform_events; select events.append('${json}', ${at ? `'${at}'` : 'null'}); reset role`);
  }

  /** Books an event as if the transport had brought it now, whatever its number in the log. */
  async delivered<E extends EventDefinition>(event: E, data: DataOf<E>, userId: string, seq: number): Promise<void> {
    const about = { user_id: userId, order_key: `u:${userId}`, seq, schema_rev: event.revision, source: event.owner, brand_id: null };
    const none = { request_id: null, causation_id: null, traceparent: null, replay_id: null };
    const envelope = { id: randomUUID(), type: event.name, occurred_at: T0, data, data_text: JSON.stringify(data), ...about, ...none };
    await this.p.host('accounting').read(ctx => bookEvent(ctx, envelope));
  }

  /** The transport brings an event again that was booked already. */
  async redelivered(id: string): Promise<void> {
    const [row] = await this.p.sql<OutboxRow>(`select ${OUTBOX_COLUMNS} from events.outbox o where o.id = $1`, [id]);
    await this.p.host('accounting').read(ctx => bookEvent(ctx, envelopeOf(row!, null)));
  }

  /** Waits until accounting has handled an event. */
  async handled(...ids: string[]): Promise<void> {
    const read = async () =>
      (await this.p.sql("select 1 from accounting.inbox where consumer = 'accounting.ledger' and event_id = any($1)", [ids])).length;
    await until('the events to be handled', read, count => count >= ids.length);
  }

  /** Emits and waits. The events of the tests occur when the service's clock says so, unless `at` says otherwise. */
  async told<E extends EventDefinition>(event: E, data: DataOf<E>, userId: string, at: string | null = null): Promise<string> {
    const id = await this.emit(event, data, userId, at);
    await this.handled(id);
    return id;
  }
}
