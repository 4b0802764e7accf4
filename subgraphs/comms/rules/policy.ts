import { CommsCategory, CommsChannel } from '../entities/enums.js';
import { MARKETING_SMS_QUIET, quietUntil, widened, type QuietWindow } from './quiet-hours.js';

export interface TopicFacts {
  key: string;
  category: CommsCategory;
  defaultChannels: readonly CommsChannel[];
  allowedChannels: readonly CommsChannel[];
  mandatory: boolean;
  digestible: boolean;
  urgent: boolean;
}

/** Where a person is: what they said, else what is guessed, and from what. */
export interface ZoneFacts {
  zone: string;
  source: 'settings' | 'hint' | 'phone' | 'address' | 'brand';
}

/** What a person wants, with the defaults filled in. */
export interface Wishes {
  /** Master switches. */
  channels: Readonly<Record<'email' | 'sms' | 'push', boolean>>;
  /** Overrides by topic and channel. */
  topics: Readonly<Record<string, Readonly<Partial<Record<string, boolean>>>>>;
  quiet: QuietWindow | null;
  mentions: 'immediate' | 'daily' | 'weekly' | 'off';
  smsConsent: boolean;
  marketingConsent: boolean;
}

export interface LookFacts {
  now: Date;
  channel: CommsChannel;
  topic: TopicFacts;
  /** Null: staff, a client's contact, somebody who gets a gift. */
  person: { userId: string; status: string; zone: ZoneFacts; wishes: Wishes } | null;
  /** Null: it does not exist. */
  template: { missing: readonly string[] } | null;
  sendAfter: Date | null;
  expiresAt: Date | null;
  /** Messages that counted against the caps: adverts in a week, pushes in a day. */
  sentLately: number;
}

export interface Check {
  check: string;
  passed: boolean;
  fact: string | null;
}

export type Verdict = { go: true } | { skip: string } | { at: Date };
export interface Look {
  verdict: Verdict;
  checks: Check[];
}

/** Adverts in a week, pushes in a day. Source: comms, rule 10. */
export const MARKETING_PER_WEEK = 3;
export const PUSHES_PER_DAY = 10;

const { EMAIL, SMS, PUSH, IN_APP } = CommsChannel;

export type Cap = 'marketing' | 'push';

/** How many may leave in the time of a cap. */
export const mostOf = (cap: Cap | null): number => (cap === null ? Infinity : { marketing: MARKETING_PER_WEEK, push: PUSHES_PER_DAY }[cap]);

/** Whether a message counts against a cap, and which. */
export function capOf(channel: CommsChannel, topic: Pick<TopicFacts, 'category' | 'urgent'>): Cap | null {
  if (channel === IN_APP) return null;
  if (topic.category === CommsCategory.MARKETING) return 'marketing';
  return channel === PUSH && !topic.urgent ? 'push' : null;
}

/** The member sets these hours, so quiet hours do not hold. */
const OWN_HOUR = new Set(['dose_reminders']);

const waits = (channel: CommsChannel, topic: TopicFacts): boolean =>
  !topic.urgent &&
  !OWN_HOUR.has(topic.key) &&
  (channel === PUSH || channel === SMS || (channel === EMAIL && topic.category === CommsCategory.MARKETING));

/** Whether a topic's messages go by a channel, by the person's switches. */
export function switchOf(
  { channels, topics }: Pick<Wishes, 'channels' | 'topics'>,
  topic: TopicFacts,
  channel: CommsChannel,
): 'on' | 'channel_off' | 'topic_off' {
  if (topic.mandatory || channel === IN_APP) {
    const off = topics[topic.key]?.[channel] === false && !topic.mandatory;
    return off ? 'topic_off' : 'on';
  }
  if (!channels[channel]) return 'channel_off';
  return topics[topic.key]?.[channel] === false ? 'topic_off' : 'on';
}

class Checks {
  readonly list: Check[] = [];
  /** @returns whether the check failed. */
  fails(check: string, passed: boolean, fact: string | null = null): boolean {
    this.list.push({ check, passed, fact });
    return !passed;
  }
}

/** Erased people get nothing; others only of their account's security while they are not active. Source: comms 3. */
const isReachable = (status: string, topic: TopicFacts): boolean =>
  status === 'ACTIVE' || (topic.key === 'security' && status !== 'ERASED');

function consentReason(wishes: Wishes, topic: TopicFacts, channel: CommsChannel): string | null {
  if (topic.category !== CommsCategory.MARKETING) return null;
  if (!wishes.marketingConsent) return 'topic_off';
  return channel === SMS && !wishes.smsConsent ? 'channel_off' : null;
}

function quietEnd({ now, channel, topic, person }: LookFacts): Date | null {
  if (!person || !waits(channel, topic)) return null;
  const { zone, wishes, userId } = person;
  const ends = [wishes.quiet && (zone.source === 'settings' ? wishes.quiet : widened(wishes.quiet))]
    .concat(topic.category === CommsCategory.MARKETING && channel === SMS ? [MARKETING_SMS_QUIET] : [])
    .flatMap(window => (window ? [quietUntil(now, window, zone.zone, userId)] : []))
    .filter(end => end !== null);
  return ends.length ? new Date(Math.max(...ends.map(Number))) : null;
}

/**
 * Whether, and when, a message may leave, in the fixed order of section 3; freshness and address come after it, because they are asked at
 * the moment of sending only. The same look is taken again when a scheduled message is due.
 */
export function look(facts: LookFacts): Look {
  const { now, topic, person, template, sendAfter, expiresAt } = facts;
  const checks = new Checks();
  const done = (verdict: Verdict): Look => ({ verdict, checks: checks.list });
  if (person && checks.fails('user_active', isReachable(person.status, topic), person.status.toLowerCase()))
    return done({ skip: person.status === 'ERASED' || person.status === 'ERASING' ? 'erased' : 'not_active' });
  if (checks.fails('template', template !== null)) return done({ skip: 'no_template' });
  if (checks.fails('variables', template!.missing.length === 0, template!.missing.join(' ') || null))
    return done({ skip: 'missing_variable' });
  if (person) {
    const refused = wishReason(facts, checks);
    if (refused) return done({ skip: refused });
  }
  if (checks.fails('expiry', expiresAt === null || expiresAt > now, expiresAt?.toISOString() ?? null)) return done({ skip: 'expired' });
  const after = [sendAfter, quietEnd(facts)].filter(at => at !== null && at > now).map(Number);
  if (person) checks.fails('time_zone', true, `${person.zone.source} ${person.zone.zone}`);
  if (after.length === 0) return done({ go: true });
  const at = new Date(Math.max(...after));
  if (checks.fails('quiet_hours', expiresAt === null || expiresAt > at, at.toISOString())) return done({ skip: 'quiet_hours_expired' });
  return done({ at });
}

function wishReason({ channel, topic, person, sentLately }: LookFacts, checks: Checks): string | null {
  const { wishes, zone } = person!;
  const state = switchOf(wishes, topic, channel);
  if (checks.fails('topic', state === 'on', `${topic.key}/${channel} ${state === 'on' ? 'on' : state}`)) return state;
  const consent = consentReason(wishes, topic, channel);
  if (checks.fails('consent', consent === null, consent)) return consent;
  const marketingSms = topic.category === CommsCategory.MARKETING && channel === SMS;
  if (marketingSms && checks.fails('zone_known', zone.source === 'settings', zone.source)) return 'no_time_zone';
  if (checks.fails('frequency', sentLately < mostOf(capOf(channel, topic)), `${sentLately} lately`)) return 'channel_off';
  const bundled = topic.digestible && channel === PUSH && wishes.mentions !== 'immediate';
  return checks.fails('digest', !bundled, wishes.mentions) ? 'merged_into_digest' : null;
}
