/** A signing secret with its place in a rotation. */
export interface PlacedSecret {
  status: 'current' | 'next' | 'previous';
  /** When a next secret takes over, ms. */
  activatesAt: number | null;
  /** When a previous secret ends, ms. */
  expiresAt: number | null;
}

const isOver = (secret: PlacedSecret, at: number): boolean =>
  secret.status === 'previous' && secret.expiresAt !== null && secret.expiresAt <= at;
const takesOver = (secret: PlacedSecret, at: number): boolean =>
  secret.status === 'next' && secret.activatesAt !== null && secret.activatesAt <= at;

/**
 * The secrets as they stand at an instant (ms), whether or not that has been written down yet: a previous one that has ended is gone, a
 * next one whose time has come is the current one and the old current one is gone. Source: section 4, rotate-secret.
 */
export function settledSecrets<Secret extends PlacedSecret>(secrets: readonly Secret[], at: number): Secret[] {
  const next = secrets.find(secret => takesOver(secret, at));
  if (next) return [{ ...next, status: 'current', activatesAt: null }];
  return secrets.filter(secret => !isOver(secret, at));
}
