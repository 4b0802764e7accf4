import type { ServiceHost } from '../request/context.js';
import { ANONYMOUS, type Caller } from '../request/caller.js';
import { fail } from '../request/errors.js';

/** How long a ticket opens its stream, s; it may be used again, for reconnects. Source: live 4.8. */
const TICKET_SECONDS = 900;

const KEPT = ['clientId', 'userId', 'brandId', 'firstParty', 'jti', 'sid', 'gid', 'csi', 'issuedAt', 'expiresAt'] as const;
type Claims = Pick<Caller, (typeof KEPT)[number]> & { scopes: string[] };

export interface Ticket {
  ticket: string;
  expiresAt: Date;
}

const contextOf = (stream: string): string => `stream-ticket:${stream}`;

/**
 * What opens one stream in the address of an `EventSource`, which cannot send headers: the caller's claims and an end, sealed by the
 * encryption keys for this stream only, so that neither user nor grant stands in the address. Tokens' times are the system clock's.
 * @param stream key of the stream, as {@link Feed.keyOf}.
 */
export function issueTicket({ sealer }: Pick<ServiceHost, 'sealer'>, stream: string, caller: Caller): Ticket {
  const end = Math.min(Math.floor(Date.now() / 1000) + TICKET_SECONDS, caller.expiresAt ?? Number.POSITIVE_INFINITY);
  const claims: Claims = {
    ...(Object.fromEntries(KEPT.map(name => [name, caller[name]])) as unknown as Claims),
    scopes: [...caller.scopes],
  };
  const sealed = sealer.seal(JSON.stringify({ end, claims }), contextOf(stream));
  return { ticket: sealed.toString('base64url'), expiresAt: new Date(end * 1000) };
}

const refuse = (): never => fail('unauthenticated', 'The ticket is not valid', { reason: 'invalid_token' });

function opened({ sealer }: Pick<ServiceHost, 'sealer'>, stream: string, ticket: string): { end: number; claims: Claims } {
  try {
    return JSON.parse(sealer.open(Buffer.from(ticket, 'base64url'), contextOf(stream)));
  } catch {
    return refuse();
  }
}

/** Whom a ticket stands for; a person, without a role. @throws Problem unauthenticated for one of another stream, changed, or past its end; revoked ones too. */
export function callerOfTicket(host: Pick<ServiceHost, 'sealer' | 'revocations'>, stream: string, ticket: string): Caller {
  const { end, claims } = opened(host, stream, ticket);
  if (end <= Date.now() / 1000) refuse();
  const caller: Caller = { ...ANONYMOUS, ...claims, kind: 'user', scopes: new Set(claims.scopes) };
  if (host.revocations.isRevoked(caller)) refuse();
  return caller;
}
