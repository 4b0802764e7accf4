import { createECDH, hkdfSync } from 'node:crypto';
import type { Config } from '../../../runtime/config.js';
import { parseNetworks, type Network } from '../../../runtime/http/public-address.js';
import type { ServiceHost } from '../../../runtime/request/context.js';

/** What the environment sets for this service. Source: comms 8. */
export interface CommsSettings {
  email: 'capture' | 'smtp' | 'none';
  sms: 'capture' | 'twilio' | 'none';
  push: 'capture' | 'web' | 'none';
  /** `smtp://user:password@host:port`, or `smtps://`. */
  smtpUrl: string | null;
  mailFrom: string;
  mailDomain: string;
  dkim: { domain: string; selector: string; key: string } | null;
  twilio: { url: string; account: string; token: string; from: string } | null;
  vapid: { subject: string; publicKey: string; privateKey: string };
  egress: readonly Network[];
  /** Secret of embedded delivery reports. */
  reportSecret: string;
  /** Key of the hashes of addresses; never changed, or suppressions are lost. */
  addressKey: Buffer;
  linkBase: string;
  /** First-party client by which the pages of messages sign in. */
  webClientId: string;
  /** Whether what is captured may be shown. */
  showsCaptured: boolean;
}

const derived = (root: string, name: string): Buffer => Buffer.from(hkdfSync('sha256', root, 'comms', name, 32));
const hostOf = (url: string): string => new URL(url).hostname;

function choice<T extends string>(value: string | undefined, name: string, allowed: readonly T[], production: boolean): T | 'none' {
  if (value === undefined) return production ? 'none' : allowed[0]!;
  if ((allowed as readonly string[]).includes(value) && !(production && value === 'capture')) return value as T;
  throw new Error(`${name} must be one of ${allowed.filter(one => !production || one !== 'capture').join(', ')}`);
}

function vapidOf(config: Config, root: string): CommsSettings['vapid'] {
  const subject = config.setting('COMMS_VAPID_SUBJECT') ?? 'mailto:push@example.test';
  const privateKey = config.setting('COMMS_VAPID_PRIVATE_KEY') ?? derived(root, 'vapid').toString('base64url');
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(Buffer.from(privateKey, 'base64url'));
  return { subject, privateKey, publicKey: curve.getPublicKey('base64url') };
}

function dkimOf(config: Config): CommsSettings['dkim'] {
  const [domain, selector, key] = [
    config.setting('COMMS_DKIM_DOMAIN'),
    config.setting('COMMS_DKIM_SELECTOR'),
    config.setting('COMMS_DKIM_KEY'),
  ];
  if (!domain && !selector && !key) return null;
  if (!domain || !selector || !key) throw new Error('COMMS_DKIM_DOMAIN, COMMS_DKIM_SELECTOR and COMMS_DKIM_KEY go together');
  return { domain, selector, key: key.includes('-----BEGIN') ? key.replaceAll('\\n', '\n') : Buffer.from(key, 'base64').toString() };
}

function twilioOf(config: Config): CommsSettings['twilio'] {
  const [account, token, from] = [config.setting('COMMS_SMS_ACCOUNT'), config.setting('COMMS_SMS_TOKEN'), config.setting('COMMS_SMS_FROM')];
  if (!account || !token || !from)
    throw new Error('COMMS_SMS_ACCOUNT, COMMS_SMS_TOKEN and COMMS_SMS_FROM are needed where COMMS_SMS is twilio');
  return { url: (config.setting('COMMS_SMS_URL') ?? 'https://api.twilio.com').replace(/\/+$/, ''), account, token, from };
}

/** Settings of this service. @throws Error naming the variable that is wrong. */
export function readSettings(config: Config): CommsSettings {
  const { production } = config;
  const root = (config.encryptionKeys ?? '').split(',').at(-1)!; // the oldest key: a new one in front changes no hash
  const email = choice(config.setting('COMMS_EMAIL'), 'COMMS_EMAIL', ['capture', 'smtp'], production) as CommsSettings['email'];
  const sms = choice(config.setting('COMMS_SMS'), 'COMMS_SMS', ['capture', 'twilio'], production) as CommsSettings['sms'];
  const push = choice(config.setting('COMMS_PUSH'), 'COMMS_PUSH', ['capture', 'web'], production) as CommsSettings['push'];
  const cidrs = config.setting('COMMS_EGRESS_ALLOW_CIDRS');
  if (production && cidrs !== undefined) throw new Error('COMMS_EGRESS_ALLOW_CIDRS is for development and tests');
  const smtpUrl = config.setting('COMMS_SMTP_URL') ?? null;
  if (email === 'smtp' && smtpUrl === null) throw new Error('COMMS_SMTP_URL is not set, and COMMS_EMAIL is smtp');
  const mailFrom = config.setting('COMMS_MAIL_FROM') ?? `no-reply@${hostOf(config.baseUrl)}`;
  return {
    email,
    sms,
    push,
    smtpUrl,
    mailFrom,
    mailDomain: mailFrom.split('@').at(-1)!.replace('>', ''),
    dkim: dkimOf(config),
    twilio: sms === 'twilio' ? twilioOf(config) : null,
    vapid: vapidOf(config, root),
    egress: parseNetworks(cidrs ?? ''),
    reportSecret: config.setting('COMMS_REPORT_SECRET') ?? derived(root, 'report').toString('base64url'),
    addressKey: derived(config.setting('COMMS_ADDRESS_KEY') ?? root, 'address'),
    linkBase: (config.setting('COMMS_LINK_BASE') ?? `${config.baseUrl}/comms`).replace(/\/+$/, ''),
    webClientId: config.setting('COMMS_WEB_CLIENT_ID') ?? 'demo-messages',
    showsCaptured: !production && email === 'capture',
  };
}

const known = new WeakMap<ServiceHost, CommsSettings>();

/** Settings of a running service, read once. */
export function settingsOf(host: ServiceHost): CommsSettings {
  let settings = known.get(host);
  if (!settings) known.set(host, (settings = readSettings(host.config)));
  return settings;
}
