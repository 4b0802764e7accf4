import { after, DAY_MS } from '../../../runtime/time/durations.js';

/** A new key every 90 days, published a day before its first use. Source: identity 7, rule 8. */
const ROTATE_MS = 90 * DAY_MS;
const PUBLISH_AHEAD_MS = DAY_MS;

export interface KeyTimes {
  kid: string;
  activeFrom: Date;
  /** Longest life of a token that it has signed. */
  maxTtlSeconds: number;
}

const byActivation = (a: KeyTimes, b: KeyTimes): number => a.activeFrom.getTime() - b.activeFrom.getTime();

/** The key that signs now: the newest that is active, else the first. Null: there is none. */
export function currentKey<Key extends KeyTimes>(keys: readonly Key[], now: Date): Key | null {
  const sorted = [...keys].sort(byActivation);
  return sorted.findLast(key => key.activeFrom <= now) ?? sorted[0] ?? null;
}

/** When the next key is due to be made; null: now, because there is none. */
export function rotationDue(keys: readonly KeyTimes[]): Date | null {
  const newest = [...keys].sort(byActivation).at(-1);
  return newest ? after(newest.activeFrom, ROTATE_MS - PUBLISH_AHEAD_MS) : null;
}

/** First use of a key that is made now: a day later, or at once when there is no other. */
export function activationOf(keys: readonly KeyTimes[], now: Date): Date {
  const due = rotationDue(keys);
  if (due === null) return now;
  return new Date(Math.max(due.getTime(), now.getTime()) + PUBLISH_AHEAD_MS);
}

/** Current, next, and every key that an unexpired token was signed with. */
export function publishedKeys<Key extends KeyTimes>(keys: readonly Key[], now: Date): Key[] {
  const sorted = [...keys].sort(byActivation);
  return sorted.filter((key, index) => {
    const successor = sorted[index + 1];
    return !successor || successor.activeFrom.getTime() + key.maxTtlSeconds * 1000 > now.getTime();
  });
}

/** Keys that nobody needs any more, oldest first. One that is dead but younger than a living one stays: it tells when that one was relieved. */
export function removableKeys<Key extends KeyTimes>(keys: readonly Key[], now: Date): Key[] {
  const published = publishedKeys(keys, now);
  const sorted = [...keys].sort(byActivation);
  return sorted.slice(
    0,
    sorted.findIndex(key => published.includes(key)),
  );
}
