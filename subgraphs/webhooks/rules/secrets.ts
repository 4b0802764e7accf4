/** Where a signing secret stands in a rotation. */
export interface SecretState {
  status: 'current' | 'next' | 'previous';
  /** When a next secret takes over, ms. */
  activatesAt: number | null;
  /** When a previous secret ends, ms. */
  expiresAt: number | null;
}

const isOver = (secret: SecretState, at: number): boolean =>
  secret.status === 'previous' && secret.expiresAt !== null && secret.expiresAt <= at;
const takesOver = (secret: SecretState, at: number): boolean =>
  secret.status === 'next' && secret.activatesAt !== null && secret.activatesAt <= at;

/**
 * The secrets as they stand at an instant (ms), whether or not that has been written down yet: a previous one that has ended is gone, a
 * next one whose time has come is the current one and the old current one is gone. Source: section 4, rotate-secret.
 */
export function settledSecrets<Secret extends SecretState>(secrets: readonly Secret[], at: number): Secret[] {
  const next = secrets.find(secret => takesOver(secret, at));
  if (next) return [{ ...next, status: 'current', activatesAt: null }];
  return secrets.filter(secret => !isOver(secret, at));
}
