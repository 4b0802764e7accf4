import { sameSecret } from '../../../runtime/data/crypto.js';
import type { Config } from '../../../runtime/config.js';
import { INBOUND_SOURCES, inboundSignature, isTimely, type InboundSourceName, type InboundSourceSetting } from '../rules/inbound.js';

/** A call as it arrived. */
export interface InboundCall {
  header(name: string): string;
  body: Buffer;
}

/** Secrets of a source, the newest first; two are valid while one is replaced: `WEBHOOKS_INBOUND_SECRET_STOREFRONT=new,old`. */
export const inboundSecrets = (config: Config, source: InboundSourceName): string[] =>
  (config.setting(`WEBHOOKS_INBOUND_SECRET_${source.toUpperCase()}`) ?? '').split(',').filter(Boolean).slice(0, 2);

/** Whether a call bears a signature of one of the secrets over its raw bytes, in time; compared in constant time. @param now ms. */
export function isGenuine(source: InboundSourceName, secrets: readonly string[], { header, body }: InboundCall, now: number): boolean {
  const { scheme, headers, toleranceSeconds }: InboundSourceSetting = INBOUND_SOURCES[source];
  const timestamp = headers.timestamp === null ? '' : header(headers.timestamp);
  const given = header(headers.signature);
  const matches = secrets.map(secret => sameSecret(given, inboundSignature(scheme, secret, body, timestamp)));
  return matches.includes(true) && isTimely(timestamp, toleranceSeconds, now);
}
