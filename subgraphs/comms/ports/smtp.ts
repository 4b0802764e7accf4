import type { Readable } from 'node:stream';
import { lazyPackage } from '../../../runtime/lazy.js';
import { CommsChannel } from '../entities/enums.js';
import type { ChannelProvider, Outcome, Rendered, Target } from './provider.js';
import type { CommsSettings } from './settings.js';

const nodemailer = lazyPackage<typeof import('nodemailer')>(import.meta.url, 'nodemailer');

const DEADLINE_MS = 20_000;

/**
 * What DKIM signs. The library's own list lacks `List-Unsubscribe-Post`, without which mailbox vendors show no one-click.
 * Source: comms, rule 12.
 */
export const SIGNED_HEADERS = [
  'from',
  'sender',
  'reply-to',
  'subject',
  'date',
  'message-id',
  'to',
  'mime-version',
  'content-type',
  'list-id',
  'list-unsubscribe',
  'list-unsubscribe-post',
  'auto-submitted',
].join(':');

interface SmtpError extends Error {
  responseCode?: number;
  response?: string;
  code?: string;
}

/** `5.1.1` of `550 5.1.1 no such user`. */
const enhanced = (error: SmtpError): string =>
  /\b([245]\.\d{1,3}\.\d{1,3})\b/.exec(error.response ?? '')?.[1] ?? String(error.responseCode ?? error.code ?? 'error').toLowerCase();

const NO_MAILBOX = new Set(['5.1.1', '5.1.2', '5.1.3', '5.1.6', '5.1.10']);

/** The stream of a mail that is on its way: read once the server has asked for the mail's text. */
interface Handover {
  stream?: Readable;
}

function refused(error: SmtpError, { stream }: Handover): Outcome {
  const code = enhanced(error);
  if (error.responseCode === undefined && stream?.readableDidRead) return { kind: 'unknown', code };
  const status = error.responseCode ?? 0;
  if (status >= 500 && status < 600) return { kind: 'permanent', code, bounced: true, invalid: NO_MAILBOX.has(code) };
  return { kind: 'transient', code };
}

/** Real mail. A second copy is recognised by its `Message-ID` only where a mailbox does so, so the provider is not idempotent. */
export function smtpProvider({ smtpUrl, dkim }: Pick<CommsSettings, 'smtpUrl' | 'dkim'>): ChannelProvider {
  const url = new URL(smtpUrl!);
  const transport = nodemailer().createTransport({
    host: url.hostname,
    port: Number(url.port || (url.protocol === 'smtps:' ? 465 : 587)),
    secure: url.protocol === 'smtps:',
    ...(url.username && { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    pool: true,
    maxConnections: 4,
    maxMessages: 200,
    tls: { minVersion: 'TLSv1.2', ...(url.searchParams.get('verify') === 'off' && { rejectUnauthorized: false }) },
    connectionTimeout: DEADLINE_MS,
    greetingTimeout: DEADLINE_MS,
    socketTimeout: DEADLINE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(dkim && { dkim: { domainName: dkim.domain, keySelector: dkim.selector, privateKey: dkim.key, headerFieldNames: SIGNED_HEADERS } }),
  } as never);
  transport.use('stream', ({ data, message }, done) => {
    const open = message.createReadStream.bind(message);
    message.createReadStream = options => ((data as { handover: Handover }).handover.stream = open(options));
    done();
  });
  return {
    name: 'smtp',
    channel: CommsChannel.EMAIL,
    idempotent: false,
    async send(rendered: Rendered, target: Target) {
      const { subject, text, html, headers, from, attachments } = rendered;
      const { 'Message-ID': messageId, ...others } = headers;
      const handover: Handover = {};
      try {
        const sent = await transport.sendMail({
          from,
          to: (target as { address: string }).address,
          subject,
          text,
          ...(html && { html }),
          messageId,
          headers: others,
          attachments: attachments.map(({ filename, content, contentType }) => ({ filename, content, contentType })),
          handover,
        } as never);
        return { kind: 'accepted', ref: /(?:queued as|id[=:]) ?(\S+)/i.exec(sent.response)?.[1] ?? null };
      } catch (error) {
        return refused(error as SmtpError, handover);
      }
    },
    close: async () => transport.close(),
  };
}
