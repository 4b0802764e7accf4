import type { Context } from '../../../../runtime/request/context.js';
import { CommsChannel, CommsSuppressionReason } from '../../entities/enums.js';
import { CommsSuppression } from '../../entities/suppression.js';
import { audienceMissing } from '../absent.js';
import { displayOf, markerNames, vendorReceipt } from '../../ports/display.js';
import { authDelivery, clientContacts, giftDelivery, staffContact, type AuthDelivery } from '../../ports/people.js';
import { settingsOf } from '../../ports/settings.js';
import { fileTemplates } from '../../ports/template-files.js';
import { addressHash } from '../../rules/addresses.js';
import { missingIn, type Values, type Variables } from '../../rules/content.js';
import { at, freshness, promptedCodes } from '../../rules/freshness.js';
import { look, type Check } from '../../rules/policy.js';
import { isSuppressed } from '../../rules/suppression.js';
import { topicOf } from '../../rules/topics.js';
import type { Facts } from './facts.js';
import { templateFor, versionFor } from './versions.js';
import type { CommsTemplateVersion } from '../../entities/template.js';

/** What is to be done with a message now. */
export type Decision = { checks: Check[] } & (
  | { kind: 'skip'; reason: string }
  | { kind: 'fail'; reason: string }
  | { kind: 'later'; at: Date; scheduled: boolean }
  | { kind: 'go'; send: Sending }
);

/** Everything that a message is made of. In memory only. */
export interface Sending {
  facts: Facts;
  version: CommsTemplateVersion;
  values: Values;
  address: string | null;
  hash: string | null;
  channel: CommsChannel;
  auth: AuthDelivery | null;
  calendar: { name: string; text: string } | null;
  codes: readonly string[];
  count: number;
}

/** While an owner does not answer, and while a flag is hidden, ms. */
const OWNER_AGAIN_MS = 30_000;
const HIDDEN_AGAIN_MS = 15 * 60_000;
const HIDDEN_FOR_MS = 25 * 3_600_000;
const IDENTITY_AGAIN_MS = 2_000;

const passed = (check: string, fact: string | null = null): Check => ({ check, passed: true, fact });
const failed = (check: string, fact: string | null = null): Check => ({ check, passed: false, fact });

/** The address of who is no user, or of a user by a channel; and why there is none. */
async function addressOf(
  ctx: Context,
  { message, person }: Facts,
): Promise<{ address: string | null; reason: string | null; extra?: Values }> {
  const { recipientType, recipientKey, channel } = message;
  if (recipientType === 'staff') return wanted((await staffContact(ctx, recipientKey))?.email);
  if (recipientType === 'client_owner') {
    const [clientId, place] = recipientKey.split('#');
    return wanted((await clientContacts(ctx, clientId!))[Number(place)]);
  }
  if (recipientType === 'gift') {
    const gift = await giftDelivery(ctx, recipientKey);
    return { ...wanted(gift?.email), extra: { code: gift?.code ?? null, message: gift?.message ?? null } };
  }
  if (recipientType === 'phone') {
    const body = await vendorReceipt(ctx, recipientKey);
    return wanted(typeof body?.From === 'string' ? body.From : null);
  }
  const { email, emailVerified, phone, phoneVerified } = person!.person;
  if (channel === CommsChannel.EMAIL)
    return email === null ? wanted(null) : emailVerified ? wanted(email) : { address: null, reason: 'unverified_address' };
  return phone === null ? wanted(null) : phoneVerified ? wanted(phone) : { address: null, reason: 'unverified_address' };
}

const wanted = (address: string | null | undefined): { address: string | null; reason: string | null } =>
  address ? { address, reason: null } : { address: null, reason: 'no_address' };

async function stopsOf(ctx: Context, channel: CommsChannel, hash: string): Promise<CommsSuppression[]> {
  return ctx.em.find(CommsSuppression, { channel, addressHash: hash });
}

export const hashFor = ({ host }: Pick<Context, 'host'>, channel: CommsChannel, address: string): string =>
  addressHash(settingsOf(host).addressKey, channel, address);

/** Link and code come from identity at each attempt; nothing of it is kept. Source: comms 4.1, auth delivery. */
async function decideAuth(ctx: Context, facts: Facts): Promise<Decision> {
  const { message, params } = facts;
  if (message.expiresAt !== null && message.expiresAt <= ctx.now()) return { kind: 'skip', reason: 'expired', checks: [failed('expiry')] };
  const auth = await authDelivery(ctx, String(params.challenge_id));
  if (!auth) return { kind: 'fail', reason: 'expired', checks: [failed('challenge', 'over')] };
  const channel = auth.channel === 'SMS' ? CommsChannel.SMS : CommsChannel.EMAIL;
  const hash = hashFor(ctx, channel, auth.to);
  const stops = await stopsOf(ctx, channel, hash);
  if (isSuppressed(stops, topicOf('security')!, true, ctx.now()))
    return { kind: 'skip', reason: 'suppressed', checks: [failed('suppression', CommsSuppressionReason.HARD_BOUNCE)] };
  const template = await templateFor(ctx, auth.template, facts.brand.id);
  const chain = [...(auth.locale ? [auth.locale, auth.locale.split('-')[0]!] : []), ...facts.chain];
  const version = template && versionFor(template, channel, chain);
  if (!version) return { kind: 'skip', reason: 'no_template', checks: [failed('template', auth.template)] };
  const values = { code: auth.code, link: auth.link, expires_at: auth.expiresAt, has_code: auth.code === null ? 'no' : 'yes' };
  return {
    kind: 'go',
    checks: [passed('challenge'), passed('suppression')],
    send: { facts, version, values, address: auth.to, hash, channel, auth, calendar: null, codes: [], count: 1 },
  };
}

/** Owners' data that a template shows and depends on. */
async function displayed(
  ctx: Context,
  facts: Facts,
): Promise<
  { values: Values; calendar: Sending['calendar']; codes: readonly string[]; state: 'fresh' | 'stale' | 'wait' } | { absent: string }
> {
  const { message, params, codes } = facts;
  const file = fileTemplates().get(message.template);
  if (!file?.document) return { values: {}, calendar: null, codes, state: 'fresh' };
  const shown = await displayOf(ctx, file, params, message.userId);
  if ('absent' in shown) return { absent: shown.absent };
  const { answer } = shown;
  const state = freshness(file.fresh, answer, params, codes);
  const values = Object.fromEntries(
    Object.entries(file.display).map(([name, path]) => [name, (at(answer, path) as string | undefined) ?? null]),
  );
  const ics = file.calendar && at(answer, file.calendar.path);
  const calendar = file.calendar && typeof ics === 'string' ? { name: file.calendar.name, text: ics } : null;
  if (file.fresh?.rule !== 'retest') return { values, calendar, codes, state };
  const open = codes.filter((code, index) => promptedCodes(answer).has(code) && codes.indexOf(code) === index);
  return { values, calendar, codes: open, state };
}

/** Looks at a message: whether, when, where and in which words it leaves. @throws Problem unavailable while somebody does not answer. */
export async function decide(ctx: Context, facts: Facts): Promise<Decision> {
  const { message, params, person, template, request } = facts;
  if (message.isAuth) return decideAuth(ctx, facts);
  const topic = topicOf(message.topic)!;
  const file = fileTemplates().get(message.template);
  const later = [
    ...Object.keys(file?.display ?? {}),
    ...(message.recipientType === 'gift' ? ['code'] : []),
    ...(message.digestId ? ['count'] : []),
  ];
  const version = template && versionFor(template, message.channel, facts.chain);
  const { verdict, checks } = look({
    now: ctx.now(),
    channel: message.channel,
    topic,
    person: person && { userId: message.userId!, status: person.person.status, zone: person.zone, wishes: person.wishes },
    template: version && { missing: missingIn(template!.template.variables as unknown as Variables, params, later) },
    sendAfter: request?.sendAfter ?? null,
    expiresAt: message.expiresAt,
    sentLately: facts.sentLately,
  });
  if ('skip' in verdict) return { kind: 'skip', reason: verdict.skip, checks };
  if ('at' in verdict) return { kind: 'later', at: verdict.at, scheduled: true, checks };
  return reach(ctx, facts, version!, checks);
}

/** Freshness and address: asked at the moment of sending, and only then. */
async function reach(ctx: Context, facts: Facts, version: CommsTemplateVersion, checks: Check[]): Promise<Decision> {
  const { message, params, person } = facts;
  const topic = topicOf(message.topic)!;
  const data = await displayed(ctx, facts);
  if ('absent' in data) {
    await audienceMissing(ctx, data.absent);
    return { kind: 'skip', reason: 'owner_absent', checks: [...checks, failed('owner', data.absent)] };
  }
  const now = ctx.now();
  if (data.state === 'wait' && now.getTime() - message.createdAt.getTime() < HIDDEN_FOR_MS)
    return {
      kind: 'later',
      at: new Date(now.getTime() + HIDDEN_AGAIN_MS),
      scheduled: true,
      checks: [...checks, failed('freshness', 'not visible yet')],
    };
  if (data.state !== 'fresh') return { kind: 'skip', reason: 'stale', checks: [...checks, failed('freshness', 'no longer so')] };
  const fresh = [...checks, passed('freshness')];
  const count = message.digestId ? data.codes.length : 1;
  const isRetest = fileTemplates().get(message.template)?.fresh?.rule === 'retest';
  const markers = isRetest && (message.channel === CommsChannel.IN_APP || person?.shown) ? await markerNames(ctx, data.codes) : null;
  const values: Values = {
    ...params,
    ...data.values,
    ...(message.digestId && { count, markers: markers && new Intl.ListFormat(version.locale).format(markers) }),
  };
  const base = { facts, version, values, channel: message.channel, auth: null, calendar: data.calendar, codes: data.codes, count };
  if (message.channel === CommsChannel.IN_APP) return { kind: 'go', checks: fresh, send: { ...base, address: null, hash: null } };
  if (message.channel === CommsChannel.PUSH) {
    if (facts.devices.length === 0) return { kind: 'skip', reason: 'no_address', checks: [...fresh, failed('address', 'no device')] };
    return {
      kind: 'go',
      checks: [...fresh, passed('address', `${facts.devices.length} devices`)],
      send: { ...base, address: null, hash: null },
    };
  }
  const { address, reason, extra } = await addressOf(ctx, facts);
  if (address === null) return { kind: 'skip', reason: reason!, checks: [...fresh, failed('address', reason)] };
  const hash = hashFor(ctx, message.channel, address);
  const stops = await stopsOf(ctx, message.channel, hash);
  if (isSuppressed(stops, topic, false, now))
    return { kind: 'skip', reason: 'suppressed', checks: [...fresh, passed('address'), failed('suppression', stops[0]!.reason)] };
  return {
    kind: 'go',
    checks: [...fresh, passed('address'), passed('suppression')],
    send: { ...base, values: { ...values, ...extra }, address, hash },
  };
}

/** What an unanswered question means: it is asked again, and no attempt is used. */
export const unanswered = (ctx: Context, { message }: Facts): Decision => ({
  kind: 'later',
  at: new Date(ctx.now().getTime() + (message.isAuth ? IDENTITY_AGAIN_MS : OWNER_AGAIN_MS)),
  scheduled: false,
  checks: [failed('owner', 'does not answer')],
});
