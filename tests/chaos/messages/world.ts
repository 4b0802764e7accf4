import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { messageSendRequested } from '../../../events/catalogue/comms.js';
import { appendEvents, prepareEvent } from '../../../events/outbox.js';
import { BRAND, DEMO, type RemotePlatform } from '../../support/platform.js';
import { until } from '../../support/until.js';

/** Between two tries of a caller who was not answered, ms. */
const ANSWERED_MS = 180_000;
/** Noon in Berlin: nothing waits for the morning. */
const START = '2027-01-12T12:00:00.000Z';
/** Of ten messages: three mails, three items of the app, three texts, an advert. */
const USERS_PER_MESSAGE = 0.4;
const TEXT = 'chaos_text';

export type Wanted = Readonly<Record<'template' | 'channel', string>> & { user: number };

const PEOPLE = `
with made as (insert into identity."user" select (jsonb_populate_record(null::identity."user", to_jsonb(u) || jsonb_build_object('id', i.id::text,
    'phone', '+1415' || (2000000 + i.n), 'phone_verified_at', now()))).* from identity."user" u, unnest($2::uuid[]) with ordinality i(id, n) where u.id = $1 returning id),
  mails as (insert into identity.user_email (user_id, email, email_key, verified_at)
    select id, 'person' || n || '@mail.test', 'person' || n || '@mail.test', now() from unnest($2::uuid[]) with ordinality i(id, n))
insert into identity.user_settings (user_id, marketing_consent, time_zone, time_zone_set_at) select i, true, 'Europe/Berlin', now() from unnest($2::uuid[]) i`;

/** People who are to be told something, and how they are asked for. */
export class World {
  /** As the service that asks by events: an outbox takes a service's own ones only. */
  readonly #emitter: pg.Pool;

  private constructor(
    readonly p: RemotePlatform,
    readonly token: string,
    /** Ids; the place, from 1, stands in address and number. */
    readonly people: readonly string[],
  ) {
    this.#emitter = new pg.Pool({ connectionString: p.env.DATABASE_URL!, max: 2, options: '-c role=platform_workflow' });
    this.#emitter.on('error', () => undefined);
  }

  close(): Promise<void> {
    return this.#emitter.end();
  }

  static async around(p: RemotePlatform, messages: number): Promise<World> {
    const people = Array.from({ length: Math.ceil(messages * USERS_PER_MESSAGE) }, () => randomUUID());
    await p.sql(PEOPLE, [DEMO, people]);
    const world = new World(p, await p.serviceToken(), people);
    await p.clock('comms', { now: START });
    await world.#textTemplate();
    return world;
  }

  /** No template of ours that a service asks for goes by SMS without an owner's data. */
  async #textTemplate(): Promise<void> {
    const made = await this.answered('/v1/admin/templates', {
      key: TEXT,
      topic: 'account',
      variables: { type: 'object', properties: {} },
      example: {},
    });
    const version = { channel: 'sms', locale: 'en', text: 'There is news.' };
    const { id } = await this.answered(`/v1/admin/templates/${made.id}/versions`, version);
    await this.answered(`/v1/admin/templates/${made.id}/versions/${id}/publish`);
  }

  /** Asks again until there is an answer, as a careful client does. */
  async answered(path: string, body?: object): Promise<{ id: string }> {
    const ask = () => this.p.rest('POST', `/comms${path}`, { token: this.token, ...(body && { body }) }).catch(() => null);
    const answer = await until(`an answer of ${path}`, ask, one => one !== null && one.status < 500, ANSWERED_MS);
    if (answer!.status >= 300) throw new Error(`${path}: ${answer!.status} ${JSON.stringify(answer!.body)}`);
    return answer!.body;
  }

  /** Everything that a person is to get. */
  wantedBy(user: number): Wanted[] {
    if (user % 4 === 0) return [{ user, template: 'win_back', channel: 'email' }];
    return [
      { user, template: 'welcome', channel: 'email' },
      { user, template: 'welcome', channel: 'in_app' },
      { user, template: TEXT, channel: 'sms' },
    ];
  }

  /** Asks for all that a person is to get: of every second one by HTTP, of the others by events. @param user from 1. */
  async ask(user: number): Promise<void> {
    const [params, id] = [{ offer_key: 'come_back_20', ends_at: '2027-02-01T12:00:00.000Z' }, this.people[user - 1]!];
    for (const template of new Set(this.wantedBy(user).map(one => one.template))) {
      const channels = this.wantedBy(user).flatMap(one => (one.template === template ? [one.channel] : []));
      const asked = { dedupe_key: `${template}:${user}`, template, channels, params: template === 'win_back' ? params : {} };
      if (user % 2 === 0) await this.answered('/v1/messages', { ...asked, user_id: id });
      else await this.#emit(id, asked);
    }
  }

  async #emit(userId: string, asked: object): Promise<void> {
    const data = {
      request_id: randomUUID(),
      recipient_type: 'user',
      recipient_id: null,
      send_after: null,
      category: 'transactional',
      ...asked,
    };
    const meta = { source: 'workflow', requestId: null, causationId: null, actor: 'service:svc-workflow', traceparent: null } as const;
    const event = prepareEvent(messageSendRequested, data as never, { userId, brandId: BRAND }, meta);
    await appendEvents(async (text, values) => (await this.#emitter.query(text, [...(values ?? [])])).rows as never, [event], null);
  }

  /**
   * What an operator does whom the alarm calls. That an event was being handled at two kills in a row looks as if it took its process down, so it
   * waits for somebody, and may for that one reason alone. @returns how many there were.
   */
  async replaySuspects(): Promise<number> {
    const letters = await this.p.sql<{ id: string; reason: string }>(`select id, reason from events.dead_letter where status = 'dead'`);
    const others = letters.filter(({ reason }) => reason !== 'crash_loop');
    if (others.length > 0) throw new Error(`dead letters: ${JSON.stringify(others)}`);
    for (const { id } of letters) {
      const { status, body } = await this.p.rest('POST', `/events/v1/dead-letters/${id}/replay`, {
        token: this.token,
        body: { reason: 'killed' },
      });
      if (status !== 202) throw new Error(`a dead letter cannot be replayed: ${status} ${JSON.stringify(body)}`);
    }
    return letters.length;
  }

  /** Goes on to when the next message is due. @returns how many are not over; requests that events ask for may still come. */
  async goOn(): Promise<number> {
    const [found] = await this.p.sql<{ left: number; next: Date | null; now: Date }>(LEFT);
    const { left, next, now } = found!;
    if (left > 0 && next !== null) await this.p.clock('comms', { now: (next > now ? next : now).toISOString() }).catch(() => undefined);
    return left;
  }
}

const LEFT = `select count(*)::int as left, min(next_at) filter (where status <> 'sending' and lease_until is null) as next, (select now from comms.test_clock) as now
  from comms.message where status in ('pending', 'scheduled', 'queued', 'sending')`;
