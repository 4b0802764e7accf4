import { fail, invalid } from '../../../runtime/request/errors.js';
import type { Context } from '../../../runtime/request/context.js';
import { CommsChannel, CommsLockScreenDetail, CommsMentionDigest } from '../entities/enums.js';
import { Preference, QuietHours, type CommsPreferences, type StoredChoices } from '../entities/preferences.js';
import type { CommsTopicChannelsInput, CommsTopicPreferenceInput, UpdateCommsPreferencesInput } from '../inputs/preferences.js';
import type { QuietWindow } from '../rules/quiet-hours.js';
import { TOPICS, topicOf } from '../rules/topics.js';

type Channel = 'email' | 'sms' | 'push' | 'in_app';
const NAMES: Readonly<Record<keyof CommsTopicChannelsInput, Channel>> = { email: 'email', sms: 'sms', push: 'push', inApp: 'in_app' };

/** Without a row: nothing is chosen. */
const NONE: StoredChoices = { topics: {}, channels: {}, digest: {} };

export const WINDOW: QuietWindow = { from: '21:00', to: '08:00' };

/** What a person has chosen, with what holds where nothing was. */
export async function preferencesOf(ctx: Context, userId: string): Promise<CommsPreferences> {
  const id = userId.toLowerCase();
  const row = await ctx.em.findOne(Preference, { userId: id });
  const hours = await ctx.em.findOne(QuietHours, { userId: id });
  const { topics, channels, digest, lockScreenDetail, smsConsent } = row?.choices ?? NONE;
  return {
    userId: id,
    topics: TOPICS.filter(one => one.key !== 'staff_alerts').map(topic => {
      const on = (channel: CommsChannel): boolean =>
        topic.allowedChannels.includes(channel) && (topics[topic.key]?.[channel] ?? topic.defaultChannels.includes(channel));
      return {
        topic: topic.key,
        channels: { email: on(CommsChannel.EMAIL), sms: on(CommsChannel.SMS), push: on(CommsChannel.PUSH), inApp: on(CommsChannel.IN_APP) },
      };
    }),
    channels: { email: true, sms: true, push: true, ...channels },
    quietHours: hours ? { enabled: hours.enabled, from: hours.from, to: hours.to } : { enabled: true, ...WINDOW },
    digest: { mentions: CommsMentionDigest.IMMEDIATE, hour: 9, weekday: 1, ...digest },
    lockScreenDetail: lockScreenDetail ?? CommsLockScreenDetail.HIDDEN,
    smsConsent: smsConsent ? { ...smsConsent, at: new Date(smsConsent.at) } : null,
    version: row?.version ?? 0,
  };
}

/** @throws Problem invalid_request, conflict `mandatory_topic`. */
function withTopic(choices: StoredChoices, { topic: key, channels }: CommsTopicPreferenceInput, index: number): void {
  const topic = topicOf(key);
  if (!topic || key === 'staff_alerts') invalid(`/input/topics/${index}/topic`, 'is no topic');
  if (channels == null) return void delete choices.topics[key];
  const own = (choices.topics[key] = { ...choices.topics[key] });
  for (const [name, value] of Object.entries(channels) as [keyof CommsTopicChannelsInput, boolean | null | undefined][]) {
    if (value === undefined) continue;
    const channel = NAMES[name];
    if (!topic.allowedChannels.includes(channel as CommsChannel))
      invalid(`/input/topics/${index}/channels/${name}`, 'is no channel of the topic');
    if (topic.mandatory && value === false) fail('conflict', `${key} cannot be switched off`, { reason: 'mandatory_topic' });
    if (value === null) delete own[channel];
    else own[channel] = value;
  }
}

const merged = <T extends object>(old: T, change: object | null | undefined): T => {
  const result = { ...old } as Record<string, unknown>;
  for (const [name, value] of Object.entries(change ?? {})) {
    if (value === null) delete result[name];
    else if (value !== undefined) result[name] = value;
  }
  return result as T;
};

const LOCK = "select pg_advisory_xact_lock(hashtextextended('comms-preference:' || $1, 7))";

export async function lockPreference(ctx: Context, userId: string): Promise<Preference> {
  await ctx.sql(LOCK, [userId]);
  const old = await ctx.em.findOne(Preference, { userId });
  return old ?? Object.assign(new Preference(), { userId, choices: structuredClone(NONE), updatedAt: ctx.now() });
}

/** Changes what a person wants; what is not named stays. @throws Problem invalid_request, conflict. */
export async function updatePreferences(ctx: Context, input: UpdateCommsPreferencesInput): Promise<CommsPreferences> {
  const userId = ctx.subject(input.userId, '/input/userId').toLowerCase();
  const row = await lockPreference(ctx, userId);
  const known = (await ctx.em.count(Preference, { userId })) ? row.version : 0;
  if (input.version != null && input.version !== known) fail('conflict', 'It was changed meanwhile', { reason: 'version_conflict' });
  const choices = structuredClone(row.choices);
  (input.topics ?? []).forEach((topic, index) => withTopic(choices, topic, index));
  choices.channels = merged(choices.channels, input.channels);
  choices.digest = merged(choices.digest, input.digest);
  if (input.lockScreenDetail) choices.lockScreenDetail = input.lockScreenDetail;
  if (input.smsConsent) choices.smsConsent = { ...input.smsConsent, at: ctx.now().toISOString() };
  Object.assign(row, { choices, updatedAt: ctx.now() });
  await changeHours(ctx, userId, input);
  await ctx.em.persist(row).flush();
  ctx.audit('preferences.updated', userId, { changed: Object.keys(input).filter(name => !['userId', 'version'].includes(name)) });
  return preferencesOf(ctx, userId);
}

async function changeHours(ctx: Context, userId: string, { quietHours }: UpdateCommsPreferencesInput): Promise<void> {
  if (quietHours === undefined) return;
  if (quietHours === null) return void (await ctx.em.nativeDelete(QuietHours, { userId }));
  await ctx.em.upsert(QuietHours, { userId, ...quietHours });
}

/** Switches the e-mail of topics by a link of a mail. */
export async function switchMail(ctx: Context, userId: string, topics: readonly string[], on: boolean): Promise<void> {
  const row = await lockPreference(ctx, userId);
  const choices = structuredClone(row.choices);
  for (const key of topics) choices.topics[key] = { ...choices.topics[key], email: on };
  Object.assign(row, { choices, updatedAt: ctx.now() });
  ctx.em.persist(row);
}
