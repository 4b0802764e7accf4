/** Lanes are divided into 64 shards, never more or fewer. Source: rule 20. */
export const SHARDS = 64;

/** FNV-1a, 32 bit. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}

const shardOfPart = (subscriptionId: string, part: number): number => hash(`${subscriptionId}:${part}`) % SHARDS;

/** Shard of a lane: all users of a subscription share one, or `spread` of them. */
export const shardOf = (subscriptionId: string, userId: string, spread: number): number =>
  shardOfPart(subscriptionId, hash(userId) % spread);

/** Shards of a subscription, one entry per part, so that equal ones count as often as they carry users. */
export const shardsOf = (subscriptionId: string, spread: number): number[] =>
  Array.from({ length: spread }, (_, part) => shardOfPart(subscriptionId, part));
