import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Config } from '../../../runtime/config.js';

/** How long a signed address shows a file that is not published, s. Source: content 2.3. */
const LIFE_SECONDS = 15 * 60;

const keyOf = (config: Config): string => `content-files:${config.encryptionKeys ?? ''}`;
const mac = (config: Config, path: string, expires: number): string =>
  createHmac('sha256', keyOf(config)).update(`${path}\n${expires}`).digest('base64url');

/** `?expires=…&signature=…` for a path. */
export function signed(config: Config, path: string, now: Date): string {
  const expires = Math.floor(now.getTime() / 1000) + LIFE_SECONDS;
  return `${path}${path.includes('?') ? '&' : '?'}expires=${expires}&signature=${mac(config, path, expires)}`;
}

/** Whether an address was signed by us and has not expired. */
export function isSigned(
  config: Config,
  path: string,
  { expires, signature }: { expires?: string; signature?: string },
  now: Date,
): boolean {
  const until = Number(expires);
  if (!signature || !Number.isInteger(until) || until * 1000 <= now.getTime()) return false;
  const [given, right] = [Buffer.from(signature), Buffer.from(mac(config, path, until))];
  return given.length === right.length && timingSafeEqual(given, right);
}
