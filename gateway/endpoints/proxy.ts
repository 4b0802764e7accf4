import replyFrom from '@fastify/reply-from';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Slug } from '../../events/slugs.js';
import { Problem } from '../../runtime/request/errors.js';
import { sendProblem } from '../../runtime/http/server.js';

const UPSTREAM_MS = 30_000;

/** Headers of a proxied request: host and scheme of the issuer, from which the service builds canonical URLs. */
function forwarded(issuer: URL, request: FastifyRequest, headers: Record<string, unknown>): Record<string, string> {
  return {
    ...(headers as Record<string, string>),
    host: issuer.host,
    'x-forwarded-proto': issuer.protocol.slice(0, -1),
    'x-forwarded-for': request.ip,
    'x-request-id': request.info.id,
  };
}

/**
 * Reverse proxy for services in other processes: their health and native paths are streamed as raw bytes. REST rows never get here, because
 * an exact route takes precedence over these wildcards.
 */
export async function proxyServices(app: FastifyInstance, urls: Readonly<Partial<Record<Slug, string>>>, issuer: string): Promise<void> {
  await app.register(async scope => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    await scope.register(replyFrom, { undici: { connections: 64, headersTimeout: UPSTREAM_MS, bodyTimeout: UPSTREAM_MS } });
    const pass = (prefix: string, base: string): void => {
      scope.all(prefix, (request, reply) => {
        if (/^\/[a-z-]+\/graphql$/.test(request.url.split('?')[0]!))
          return sendProblem(reply, new Problem('not_found', 'There is nothing at this address'));
        return reply.from(new URL(request.url, base).toString(), {
          rewriteRequestHeaders: (_raw, headers) => forwarded(new URL(issuer), request, headers),
          onError: current =>
            void sendProblem(current as never, new Problem('unavailable', 'The service cannot be reached right now', { retryAfter: 1 })),
        });
      });
    };
    for (const [slug, base] of Object.entries(urls)) pass(`/${slug}/*`, base!);
    if (urls.identity) for (const path of ['/identity', '/.well-known/*']) pass(path, urls.identity);
  });
}
