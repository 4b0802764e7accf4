import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect } from 'vitest';
import { retestRecorded } from '../../events/catalogue/clinical.js';
import type { DataOf, EventDefinition } from '../../events/define.js';
import { appendEvents, prepareEvent, type Sql } from '../../events/outbox.js';
import { roleOf, type Slug } from '../../events/slugs.js';
import { platform, type Answer, type PlatformSetting, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';

/** Where the service's clock stands at the beginning. */
export const T0 = '2026-12-10T12:00:00.000Z';
export const DAY_MS = 86_400_000;
const MATURATION_DAYS = 2;

/** T0 plus milliseconds, RFC 3339. */
export const after = (ms: number): string => new Date(Date.parse(T0) + ms).toISOString();
/** T0 plus days, RFC 3339. */
export const day = (days: number): string => after(days * DAY_MS);

export const STAGE = 'feature.intelligence.stage';

export interface TestPolicy {
  id: string;
  policy_kind: string;
  policy_key: string;
  [key: string]: any;
}

/** The intelligence service as its callers see it, with policies of its own for each test. */
export class Loop {
  private constructor(
    readonly p: TestPlatform,
    readonly token: string,
  ) {}

  static async open(setting?: PlatformSetting): Promise<Loop> {
    const p = await platform({ services: ['intelligence'], ...setting });
    await p.clock('intelligence', { now: T0 });
    return new Loop(p, await p.serviceToken());
  }

  rest(method: string, path: string, body?: unknown, token: string | null = this.token, headers?: Record<string, string>): Promise<Answer> {
    return this.p.rest(method, `/intelligence/v1${path}`, { token, body, headers });
  }

  /** The same, which must succeed; answers the body. */
  async ok(method: string, path: string, body?: unknown, token: string | null = this.token): Promise<any> {
    const answer = await this.rest(method, path, body, token);
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return answer.body;
  }

  graphql(query: string, variables: object = {}, token = this.token) {
    return this.p.graphql(query, variables, { token });
  }

  clock(now: string): Promise<void> {
    return this.p.clock('intelligence', { now });
  }

  stage(value: string | null): Promise<void> {
    return this.p.flag('intelligence', STAGE, value);
  }

  /** A policy of its own; without guardrails, decisions mature in 2 days. */
  policy(more: object = {}): Promise<TestPolicy> {
    const key = `p_${randomUUID().slice(0, 8)}`;
    const schemas = {
      context_schema: { type: 'object', properties: { goal: { enum: ['heart', 'sleep'] }, age_band: { type: 'string', maxLength: 8 } } },
    };
    return this.ok('POST', '/policies', {
      policy_kind: 'recommendation',
      policy_key: key,
      outcome_metric: 'retest',
      maturation_days: MATURATION_DAYS,
      control_share: 0,
      ...schemas,
      ...more,
    });
  }

  /** Registers parameters and makes them the champion. */
  async champion(policy: TestPolicy, parameters: object): Promise<any> {
    const version = await this.register(policy, parameters);
    return this.ok('POST', `/registry/${version.id}/promote`, {});
  }

  register(policy: TestPolicy, parameters: object = {}): Promise<any> {
    return this.ok('POST', '/registry', { policy_id: policy.id, parameters });
  }

  /** Body of POST /v1/rank with candidates by id. */
  question(policy: TestPolicy, ids: readonly string[] = ['a', 'b'], more: object = {}): Record<string, any> {
    const { policy_kind, policy_key, brand_id = null } = policy;
    const candidates = ids.map(id => ({ id, features: {}, tags: [], codes: ['ldl_c'] }));
    return {
      decision_key: randomUUID(),
      policy_kind,
      policy_key,
      brand_id,
      entity: { type: 'user', id: randomUUID() },
      context: {},
      candidates,
      ...more,
    };
  }

  rank(policy: TestPolicy, ids?: readonly string[], more?: object): Promise<any> {
    return this.ok('POST', '/rank', this.question(policy, ids, more));
  }

  decision(id: string): Promise<any> {
    return this.ok('GET', `/decisions/${id}`);
  }

  outcome(id: string, label = 'improved', more: object = {}): Promise<Answer> {
    return this.rest('POST', `/decisions/${id}/outcome`, { label, source_event_id: randomUUID(), ...more });
  }

  /** Decisions of which the first so many are joined. */
  async decisions(policy: TestPolicy, count: number, joined: number, label: (index: number) => string = () => 'improved'): Promise<any[]> {
    const made: any[] = [];
    for (let index = 0; index < count; index++) made.push(await this.rank(policy));
    for (let index = 0; index < joined; index++) expect((await this.outcome(made[index]!.id, label(index))).status).toBe(201);
    return made;
  }

  /** Trains, and waits until the job has ended the run. */
  async trained(policy: TestPolicy, rankers: readonly string[], more: object = {}): Promise<any> {
    const { id, status } = await this.ok('POST', '/training-runs', { policy_id: policy.id, rankers, ...more });
    expect(status).toBe('running');
    return until(
      'a training to end',
      () => this.ok('GET', `/training-runs/${id}`),
      run => run.status !== 'running',
    );
  }

  tick(token: string = this.token, headers?: Record<string, string>): Promise<Answer> {
    return this.rest('POST', '/loop/tick', undefined, token, headers);
  }

  async metrics(query = ''): Promise<any[]> {
    return (await this.ok('GET', `/loop/meta-metrics?limit=100${query}`)).data;
  }

  /** The newest record of a metric of a policy. */
  async metric(policy: TestPolicy, name: string): Promise<any> {
    return (await this.metrics(`&metric=${name}&policy_key=${policy.policy_key}`))[0];
  }

  async proposals(policy: TestPolicy, query = ''): Promise<any[]> {
    return (await this.ok('GET', `/governance/proposals?policy_key=${policy.policy_key}${query}`)).data;
  }

  /** A policy with an open proposal: 4 decisions past their deadline, 1 joined. */
  async proposed(): Promise<{ policy: TestPolicy; proposal: any }> {
    const policy = await this.policy();
    await this.decisions(policy, 4, 1);
    await this.passDeadline();
    expect((await this.tick()).status).toBe(200);
    const [proposal] = await this.proposals(policy, '&status=raised');
    return { policy, proposal };
  }

  async passDeadline(): Promise<void> {
    const [row] = await this.p.sql<{ at: Date }>(`select max(matures_at) as at from intelligence.decision where status = 'pending'`);
    await this.clock(new Date(row!.at.getTime() + 1).toISOString());
  }

  async now(): Promise<string> {
    return (await this.p.sql<{ now: Date }>('select now from intelligence.test_clock'))[0]!.now.toISOString();
  }

  /** Publishes an event as its owner would, and waits until a consumer of this service has settled it. */
  async event<E extends EventDefinition>(definition: E, userId: string | null, data: DataOf<E>, consumer: string): Promise<string> {
    const about = userId === null ? { subject: 'test' } : { userId };
    const origin = { source: definition.owner, requestId: randomUUID(), causationId: null, actor: 'system:test', traceparent: null };
    const at = new Date(await this.now()); // at this service's time: its owner's clock would run its sweeps
    const events = [prepareEvent(definition, data, about, origin as never)];
    const owner = this.p.running.hosts.get(definition.owner);
    if (owner) await owner.transaction(ctx => appendEvents(ctx.sql, events, at));
    else await appendEvents(this.#sqlAs(definition.owner), events, at); // a service that is not begun
    const [row] = await this.p.sql<{ id: string }>('select id from events.outbox where type = $1 order by seq desc limit 1', [
      definition.name,
    ]);
    await this.settled(row!.id, consumer);
    return row!.id;
  }

  /** SQL as the role of a service that has no process; its events are its own. */
  #sqlAs(slug: Slug): Sql {
    return async (text, params = []) => {
      const literal = (value: unknown): string => (value === null ? 'null' : pg.escapeLiteral(String(value)));
      const filled = text.replace(/\$(\d+)/g, (_, place) => literal(params[Number(place) - 1]));
      return this.p.sql(`begin; set local role ${roleOf(slug)}; ${filled}; commit`);
    };
  }

  async settled(eventId: string, consumer: string): Promise<void> {
    const read = () => this.p.sql('select 1 from intelligence.inbox where event_id = $1 and consumer = $2', [eventId, consumer]);
    await until(`${consumer} to settle an event`, read, rows => rows.length === 1);
  }

  /** The Outcome Record of a re-test. */
  retested(userId: string, code: string, direction: 'improved' | 'worsened' | 'unchanged'): Promise<string> {
    return this.event(retestRecorded, userId, { code, direction, days_to_retest: 95 }, 'intelligence.outcomes');
  }

  async counter(name: string): Promise<number> {
    const found = await this.p.host('intelligence').metrics.registry.getSingleMetric(name)?.get();
    return found?.values[0]?.value ?? 0;
  }
}
