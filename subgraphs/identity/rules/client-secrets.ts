import { after } from '../../../runtime/time/durations.js';
import { OAuthClientSecretStatus } from '../entities/client-secret.js';
import { OAuthClientKind, OAuthClientTokenEndpointAuthMethod } from '../entities/client.js';

/** A secret without end is active; with an end in the future it is in the overlap of a rotation. */
export function secretStatus({ expiresAt }: { expiresAt: Date | null }, now: Date): OAuthClientSecretStatus {
  if (expiresAt === null) return OAuthClientSecretStatus.ACTIVE;
  return expiresAt <= now ? OAuthClientSecretStatus.RETIRED : OAuthClientSecretStatus.RETIRING;
}

interface LivingSecret {
  id: string;
  expiresAt: Date | null;
  createdAt: Date;
}

/** Secrets that work now, oldest first. */
export const livingSecrets = <Secret extends LivingSecret>(secrets: readonly Secret[], now: Date): Secret[] =>
  secrets
    .filter(one => one.expiresAt === null || one.expiresAt > now)
    .sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1));

export interface Retirement<Secret> {
  /** Secret and when it ends. */
  ends: { secret: Secret; at: Date }[];
  /** More than two would be alive. */
  refused: boolean;
}

/** What becomes of the living secrets when a new one comes: with `force` the oldest of two ends at once. Source: identity 4.9. */
export function retire<Secret extends LivingSecret>(
  secrets: readonly Secret[],
  { overlapSeconds, force }: { overlapSeconds: number; force: boolean },
  now: Date,
): Retirement<Secret> {
  const living = livingSecrets(secrets, now);
  if (living.length > 1 && !force) return { ends: [], refused: true };
  const [newest, ...older] = living.toReversed();
  if (!newest) return { ends: [], refused: false };
  const end = after(now, overlapSeconds * 1000);
  const last = newest.expiresAt !== null && newest.expiresAt < end ? newest.expiresAt : end;
  return { ends: [...older.map(secret => ({ secret, at: now })), { secret: newest, at: last }], refused: false };
}

/** Whether a client authenticates by a secret: public ones have none, and others may sign instead. */
export const hasSecret = (client: { kind: OAuthClientKind; tokenEndpointAuthMethod: OAuthClientTokenEndpointAuthMethod }): boolean =>
  client.kind !== OAuthClientKind.PUBLIC && client.tokenEndpointAuthMethod !== OAuthClientTokenEndpointAuthMethod.PRIVATE_KEY_JWT;
