import { randomUUID } from 'node:crypto';
import { platform, type Answer, type TestPlatform } from '../support/platform.js';

/** Where the service's clock stands at the beginning. */
export const T0 = '2026-12-10T12:00:00.000Z';

/** T0 plus milliseconds, RFC 3339. */
export const after = (ms: number): string => new Date(Date.parse(T0) + ms).toISOString();

/** The entitlements service as its callers see it. */
export class Counter {
  private constructor(
    readonly p: TestPlatform,
    readonly token: string,
  ) {}

  static async open(): Promise<Counter> {
    const p = await platform({ services: ['entitlements', 'membership'] });
    for (const service of ['entitlements', 'membership'] as const) await p.clock(service, { now: T0 });
    return new Counter(p, await p.serviceToken('admin:entitlements'));
  }

  rest(method: string, path: string, body?: unknown, token: string | null = this.token, headers?: Record<string, string>): Promise<Answer> {
    return this.p.rest(method, `/entitlements/v1${path}`, { token, body, headers });
  }

  graphql(query: string, variables: object = {}, token = this.token) {
    return this.p.graphql(query, variables, { token });
  }

  clock(now: string): Promise<void> {
    return this.p.clock('entitlements', { now });
  }

  /** A user whom nobody knows. */
  stranger(): string {
    return randomUUID();
  }

  /** A feature of its own; answers its key. */
  async feature(more: { key?: string; [name: string]: unknown } = {}): Promise<string> {
    const { key = `test.${randomUUID().slice(0, 8)}` } = more;
    const answer = await this.rest('POST', '/admin/features', { key, name: 'A feature', kind: 'boolean', ...more });
    if (answer.status !== 201) throw new Error(`no feature: ${JSON.stringify(answer.body)}`);
    return key;
  }

  override(user_id: string, feature_key: string, more: object = {}, token = this.token): Promise<Answer> {
    return this.rest('POST', '/admin/overrides', { user_id, feature_key, allow: true, reason: 'a test', ...more }, token);
  }

  async check(userId: string, key: string): Promise<any> {
    return (await this.rest('GET', `/entitlements/check/${key}?user_id=${userId}`)).body;
  }

  async all(userId: string): Promise<any> {
    return (await this.rest('GET', `/entitlements?user_id=${userId}`)).body;
  }

  consume(user_id: string, key: string, more: object = {}): Promise<Answer> {
    return this.rest('POST', '/entitlements/usage', { user_id, key, idempotency_key: randomUUID(), ...more });
  }

  giveBack(user_id: string, key: string, idempotency_key: string): Promise<Answer> {
    return this.rest('POST', '/entitlements/usage/return', { user_id, key, idempotency_key });
  }
}
