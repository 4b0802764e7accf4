import { createHmac } from 'node:crypto';
import type { Config } from '../../../runtime/config.js';
import type { ServiceHost } from '../../../runtime/request/context.js';

const MIN_CHARACTERS = 32;

/** `GIFT_PEPPER`: without it a stolen table of hashes could be searched for codes. @throws Error naming the variable. */
export function readPepper(config: Config): string {
  const pepper = config.setting('GIFT_PEPPER');
  if (!pepper || pepper.length < MIN_CHARACTERS)
    throw new Error(`GIFT_PEPPER must have at least ${MIN_CHARACTERS} characters; make one with: openssl rand -base64 48`);
  return pepper;
}

const known = new WeakMap<ServiceHost, string>();

/** The pepper of a running service, read once. */
export function pepperOf(host: ServiceHost): string {
  let pepper = known.get(host);
  if (!pepper) known.set(host, (pepper = readPepper(host.config)));
  return pepper;
}

/** By which a gift is found: its code in normal form, hashed with the pepper. */
export const giftCodeHash = (host: ServiceHost, code: string): Buffer =>
  createHmac('sha256', pepperOf(host)).update(`gift:${code}`).digest();
