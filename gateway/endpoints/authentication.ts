import type { FastifyRequest } from 'fastify';
import { bearerOf, type TokenVerifier } from '../../runtime/access/token.js';
import type { Authenticate } from '../../runtime/service.js';

/** All `Authorization` headers, because Node keeps only the first and a request with two must be refused. Source: identity A3.1. */
function authorizationOf({ headers, raw }: FastifyRequest): string | string[] | undefined {
  const names = raw.rawHeaders.filter((_, index) => index % 2 === 0);
  const sent = names.filter(name => name.toLowerCase() === 'authorization');
  return sent.length > 1 ? sent : headers.authorization;
}

/** Puts a request's verified caller and token into its info; without a token the caller is anonymous. @throws Problem unauthenticated. */
export function authenticator(verifier: TokenVerifier): Authenticate {
  return async request => {
    const token = bearerOf(authorizationOf(request));
    if (token !== null) request.info = { ...request.info, token, caller: await verifier.verify(token) };
    return request.info;
  };
}
