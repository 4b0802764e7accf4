import { jwtVerify, SignJWT } from 'jose';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { LiveRole } from '../entities/enums.js';
import { streamingSettings } from './providers.js';

const ISSUER = 'embedded-chat';
const TOKEN_SECONDS = 3_600;

/** Whom a chat token stands for. */
export interface Chatter {
  sessionId: string;
  participantId: string;
  role: LiveRole.VIEWER | LiveRole.MODERATOR;
}

/** Chat of sessions; embedded is the only provider. Source: live 8. */
export interface ChatProvider {
  readonly name: string;
  readonly url: string;
  issueToken(chatter: Chatter): Promise<{ token: string; expiresAt: Date }>;
  /** Null: bad or expired. */
  readToken(token: string): Promise<Chatter | null>;
}

/** Tokens of the embedded chat, HS256. */
export function chatOf(host: ServiceHost): ChatProvider {
  const key = Buffer.from(streamingSettings(host).tokenSecret);
  return {
    name: 'embedded',
    url: '/embedded-chat',
    async issueToken({ sessionId, participantId, role }) {
      const end = Math.floor(Date.now() / 1000) + TOKEN_SECONDS;
      const claims = new SignJWT({ session: sessionId, role })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer(ISSUER)
        .setSubject(participantId);
      return { token: await claims.setExpirationTime(end).sign(key), expiresAt: new Date(end * 1000) };
    },
    async readToken(token) {
      const verified = await jwtVerify<{ session: string; role: Chatter['role'] }>(token, key, {
        algorithms: ['HS256'],
        issuer: ISSUER,
      }).catch(() => null);
      return verified && { sessionId: verified.payload.session, participantId: verified.payload.sub!, role: verified.payload.role };
    },
  };
}
