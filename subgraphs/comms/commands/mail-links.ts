import type { Context } from '../../../runtime/request/context.js';
import { CommsCategory, CommsChannel, CommsSuppressionReason } from '../entities/enums.js';
import { MailToken } from '../entities/records.js';
import { Preference } from '../entities/preferences.js';
import { peopleOf } from '../ports/people.js';
import { TOPICS } from '../rules/topics.js';
import { tokenHash } from './links.js';
import { suppress } from './outcome.js';
import { hashFor } from './pipeline/decide.js';
import { switchMail } from './preferences.js';

/** A switch of the page: one topic, or the health topics together. */
export interface MailSwitch {
  key: string;
  label: string;
  on: boolean;
}

const CLINICAL = 'personal_reminders';
const switchable = TOPICS.filter(topic => !topic.mandatory && topic.allowedChannels.includes(CommsChannel.EMAIL));

export const topicsOf = (key: string): string[] =>
  key === 'all'
    ? switchable.map(topic => topic.key)
    : switchable
        .filter(topic => (topic.category === CommsCategory.CLINICAL ? CLINICAL : topic.key) === key || topic.key === key)
        .map(topic => topic.key);

/** What a link leads to; null for one that is unknown or over. */
export async function tokenRow(ctx: Context, token: string): Promise<MailToken | null> {
  return ctx.em.findOne(MailToken, { tokenHash: tokenHash(token), expiresAt: { $gt: ctx.now() } });
}

/** The e-mail switches of whoever got the mail. Health topics are one switch, so that the page names none. */
export async function switchesOf(ctx: Context, { userId, addressHash }: MailToken): Promise<MailSwitch[]> {
  const row = userId === null ? null : await ctx.em.findOne(Preference, { userId });
  const stops = await ctx.sql<{ scope: string }>(
    "select scope from comms.suppression where channel = 'email' and address_hash = $1 and reason = 'unsubscribe'",
    [addressHash],
  );
  const isOn = (key: string): boolean =>
    row?.choices.topics[key]?.email !== false && !stops.some(({ scope }) => scope === key || scope === 'all');
  const plain = switchable
    .filter(topic => topic.category !== CommsCategory.CLINICAL)
    .map(topic => ({ key: topic.key, label: topic.names.en!, on: isOn(topic.key) }));
  const clinical = switchable.filter(topic => topic.category === CommsCategory.CLINICAL);
  return [...plain, { key: CLINICAL, label: 'Personal reminders', on: clinical.some(topic => isOn(topic.key)) }];
}

/** Whether the address of the mail is still the person's. @throws Problem unavailable. */
export async function isCurrent(ctx: Context, { userId, addressHash }: MailToken): Promise<boolean> {
  const person = userId === null ? undefined : (await peopleOf(ctx, [userId])).get(userId);
  return person?.email != null && hashFor(ctx, CommsChannel.EMAIL, person.email) === addressHash;
}

const LIFT = "delete from comms.suppression where channel = 'email' and address_hash = $1 and reason = 'unsubscribe' and scope = any($2)";

/**
 * Switches topics of a mail's person, or stops its address where that is another person's now. Never what cannot be switched off.
 * Source: comms 4.8, rule 8.
 */
export async function changeMail(ctx: Context, token: MailToken, topics: readonly string[], on: boolean, current: boolean): Promise<void> {
  if (topics.length === 0) return;
  if (current && token.userId) await switchMail(ctx, token.userId, topics, on);
  else if (!on)
    for (const scope of topics)
      await suppress(ctx, {
        channel: CommsChannel.EMAIL,
        addressHash: token.addressHash,
        reason: CommsSuppressionReason.UNSUBSCRIBE,
        scope,
        source: 'link',
      });
  if (on) await ctx.sql(LIFT, [token.addressHash, topics]);
  ctx.audit(on ? 'mail.resubscribed' : 'mail.unsubscribed', token.userId, { topics: [...topics], by: 'link' });
}
