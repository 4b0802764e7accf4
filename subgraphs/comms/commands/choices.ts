import type { Context } from '../../../runtime/request/context.js';
import { CommsMentionDigest } from '../entities/enums.js';
import { Preference, QuietHours, ZoneHint, type StoredChoices } from '../entities/preferences.js';
import type { Person } from '../ports/people.js';
import type { Wishes, ZoneFacts } from '../rules/policy.js';
import { zoneOrNull, type QuietWindow } from '../rules/quiet-hours.js';
import { zoneOfPhone } from '../rules/zones.js';

/** What some people have chosen. */
export interface Choices {
  choices: StoredChoices;
  quiet: QuietWindow | null | undefined;
  hint: string | null;
}

const NOTHING: StoredChoices = { topics: {}, channels: {}, digest: {} };

/** Choices of people, by id. `quiet`: undefined where nothing was chosen, null where none is wanted. */
export async function choicesOf(ctx: Context, userIds: readonly string[]): Promise<(userId: string) => Choices> {
  const among = { $in: [...new Set(userIds)] };
  const preferences = await ctx.em.find(Preference, { userId: among });
  const hours = await ctx.em.find(QuietHours, { userId: among });
  const hints = await ctx.em.find(ZoneHint, { userId: among });
  return userId => {
    const own = hours.find(one => one.userId === userId);
    return {
      choices: preferences.find(one => one.userId === userId)?.choices ?? NOTHING,
      quiet: own ? (own.enabled ? { from: own.from, to: own.to } : null) : undefined,
      hint: hints.find(one => one.userId === userId)?.timeZone ?? null,
    };
  };
}

/** What a person wants, with what holds where nothing was chosen. */
export const wishesOf = ({ choices, quiet }: Choices, marketingConsent: boolean, brandQuiet: QuietWindow): Wishes => ({
  channels: { email: true, sms: true, push: true, ...choices.channels },
  topics: choices.topics,
  quiet: quiet === undefined ? brandQuiet : quiet,
  mentions: choices.digest.mentions ?? CommsMentionDigest.IMMEDIATE,
  smsConsent: choices.smsConsent?.granted === true,
  marketingConsent,
});

/** Where a person is, and how that is known. Source: comms 4.3. */
export function zoneFor({ hint }: Choices, { timeZone, phone }: Pick<Person, 'timeZone' | 'phone'>, brandZone: string): ZoneFacts {
  const own = zoneOrNull(timeZone);
  if (own) return { zone: own, source: 'settings' };
  const hinted = zoneOrNull(hint);
  if (hinted) return { zone: hinted, source: 'hint' };
  const called = phone === null ? null : zoneOfPhone(phone);
  if (called) return { zone: called, source: 'phone' };
  return { zone: zoneOrNull(brandZone) ?? 'UTC', source: 'brand' };
}
