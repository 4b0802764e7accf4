import type { Context } from '../../../../runtime/request/context.js';
import { CommsCategory, CommsChannel } from '../../entities/enums.js';
import { providersOf } from '../../ports/providers.js';
import type { Rendered } from '../../ports/provider.js';
import { settingsOf } from '../../ports/settings.js';
import { amountText, filled, filledHtml, oneLine, type Values } from '../../rules/content.js';
import { footerHtml, footerText, FOOTER_MARK, type Footer } from '../../rules/layout.js';
import { topicOf } from '../../rules/topics.js';
import { linkTo, tokenOf } from '../links.js';
import type { Sending } from './decide.js';

/** What is kept of a message, sealed, for thirty days: its words, where they are not a secret. */
export interface Content {
  subject: string | null;
  title: string | null;
  body: string | null;
  text: string | null;
  why: string | null;
  /** What may be shown outside the app. */
  neutral: string | null;
}

const MAX_TTL_S = 28 * 86_400;
/** What the app hosts of a brand see of a message. */
export const linkOf = (ctx: Pick<Context, 'host'>, messageId: string): string => linkTo(ctx, `/m/${messageId}`);

/** Whether a mail of a topic bears the one-click header: whatever can be switched off. Source: comms 4.2. */
const canBeSwitchedOff = (topic: { mandatory: boolean }): boolean => !topic.mandatory;

function valuesOf(ctx: Context, { facts, values, version, auth }: Sending): Values {
  const link = auth ? auth.link : linkOf(ctx, facts.message.id);
  return {
    ...values,
    amount_text: amountText(values.amount, values.currency, version.locale),
    detail: facts.person?.shown ? 'shown' : 'hidden',
    brand: facts.brand.name,
    contact: facts.brand.supportEmail,
    link,
    has_code: values.has_code ?? (values.code ? 'yes' : 'no'),
    unsubscribe_url: linkTo(ctx, `/v1/unsubscribe/${tokenOf(ctx, facts.message.id)}`),
    preferences_url: linkTo(ctx, `/v1/preferences/link/${tokenOf(ctx, facts.message.id)}`),
  };
}

/** The words of a message. Of health topics, envelope and lock screen say no more than that there is one. Source: comms, rule 7. */
export function contentOf(ctx: Context, sending: Sending): Content {
  const { facts, version, channel } = sending;
  const values = valuesOf(ctx, sending);
  const form = { locale: version.locale, zone: facts.person?.zone.zone ?? facts.brand.timeZone };
  const fill = (text: string | null): string | null => (text === null ? null : filled(text, values, form));
  const topic = topicOf(version ? facts.message.topic : '')!;
  const neutral = fill(version.lockScreenBody);
  const guarded = topic.category === CommsCategory.CLINICAL && !facts.person?.shown;
  const open = (text: string | null): string | null => (guarded ? neutral : fill(text));
  const subject = channel === CommsChannel.EMAIL ? oneLine(open(version.subject) ?? '') : null;
  const isPush = channel === CommsChannel.PUSH;
  const title = isPush && guarded ? facts.brand.name : fill(version.title);
  return {
    subject,
    title: title && oneLine(title),
    body: isPush ? open(version.body) : fill(version.body),
    text: channel === CommsChannel.SMS ? open(version.text) : fill(version.text),
    why: fill(version.why),
    neutral,
  };
}

function footerOf(ctx: Context, { facts, auth }: Sending, content: Content): Footer {
  const { message, brand } = facts;
  const topic = topicOf(message.topic)!;
  const values = { token: tokenOf(ctx, message.id) };
  const hasPage = auth === null && message.userId !== null;
  return {
    why: content.why ?? '',
    brand: brand.name,
    support: brand.supportEmail,
    unsubscribeUrl: hasPage && canBeSwitchedOff(topic) ? linkTo(ctx, `/v1/unsubscribe/${values.token}`) : null,
    preferencesUrl: hasPage ? linkTo(ctx, `/v1/preferences/link/${values.token}`) : null,
  };
}

function headersOf(ctx: Context, { facts, auth }: Sending, footer: Footer): Record<string, string> {
  const { message, brand } = facts;
  const topic = topicOf(message.topic)!;
  const list = topic.category === CommsCategory.CLINICAL ? 'account' : topic.key;
  const oneClick: Record<string, string> = footer.unsubscribeUrl
    ? { 'List-Unsubscribe': `<${footer.unsubscribeUrl}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
    : {};
  return {
    'Message-ID': `<${message.id}@${settingsOf(ctx.host).mailDomain}>`,
    'Auto-Submitted': 'auto-generated',
    ...(auth === null && { 'List-Id': `<${list}.${brand.slug}>` }),
    ...oneClick,
  };
}

function mailOf(ctx: Context, sending: Sending, content: Content): Pick<Rendered, 'html' | 'text' | 'headers' | 'subject'> {
  const { facts, version } = sending;
  const footer = footerOf(ctx, sending, content);
  const form = { locale: version.locale, zone: facts.person?.zone.zone ?? facts.brand.timeZone };
  const html = version.html === null ? null : filledHtml(version.html, valuesOf(ctx, sending), form);
  const preheader =
    topicOf(facts.message.topic)!.category === CommsCategory.CLINICAL && !facts.person?.shown
      ? content.neutral
      : version.preheader && filled(version.preheader, valuesOf(ctx, sending), form);
  const hidden = preheader
    ? `<div style="display:none;max-height:0;overflow:hidden">${oneLine(preheader).replace(/[&<>]/g, '')}</div>`
    : '';
  const withFooter =
    html &&
    html.replace(/(<body[^>]*>)/, (_all, body: string) => body + hidden).replace(FOOTER_MARK, () => footerHtml(footer) + FOOTER_MARK);
  return {
    html: withFooter,
    text: `${content.text ?? ''}\n${footerText(footer)}\n`,
    headers: headersOf(ctx, sending, footer),
    subject: content.subject ?? '',
  };
}

/** Everything that leaves. */
export function rendered(ctx: Context, sending: Sending, content: Content, badge: number): Rendered {
  const { facts, channel, calendar } = sending;
  const { message, brand } = facts;
  const { mailFrom } = settingsOf(ctx.host);
  const rest = message.expiresAt ? Math.floor((message.expiresAt.getTime() - ctx.now().getTime()) / 1000) : MAX_TTL_S;
  const mail =
    channel === CommsChannel.EMAIL ? mailOf(ctx, sending, content) : { html: null, text: content.text ?? '', headers: {}, subject: '' };
  return {
    messageId: message.id,
    userId: message.userId,
    from: mailFrom.includes('<') ? mailFrom : `${oneLine(brand.name).replace(/["<>\\]/g, '')} <${mailFrom}>`,
    attachments:
      calendar && channel === CommsChannel.EMAIL
        ? [{ filename: calendar.name, content: calendar.text, contentType: 'text/calendar; charset=utf-8; method=PUBLISH' }]
        : [],
    push:
      channel === CommsChannel.PUSH
        ? {
            title: content.title ?? brand.name,
            body: content.body ?? '',
            deepLink: linkOf(ctx, message.id),
            badge,
            ttlSeconds: Math.max(60, Math.min(MAX_TTL_S, rest)),
            urgent: topicOf(message.topic)!.urgent,
          }
        : null,
    ...mail,
  };
}

export const hasProvider = (ctx: Context, channel: CommsChannel): boolean => providersOf(ctx.host)[channel] !== undefined;
