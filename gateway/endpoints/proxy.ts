import replyFrom from '@fastify/reply-from';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Slug } from '../../events/slugs.js';
import { proxyCredential, SUBGRAPH_SECRET_HEADER } from '../../runtime/access/subgraph-secret.js';
import type { Config } from '../../runtime/config.js';
import { Problem } from '../../runtime/request/errors.js';
import { sendProblem } from '../../runtime/http/server.js';
import { plugin } from '../../runtime/http/plugin.js';
import { isLost } from '../sources/unanswered.js';
import { IDLE_MS } from '../sources/wire/connection.js';
import { isStream, StreamProxy } from './stream-proxy.js';

const UPSTREAM_MS = 30_000;
const CONNECTION = {
  connections: 64,
  headersTimeout: UPSTREAM_MS,
  bodyTimeout: UPSTREAM_MS,
  keepAliveTimeout: IDLE_MS,
  keepAliveMaxTimeout: IDLE_MS,
};

/**
 * A read whose connection the service closed just as it was used is asked once more, 1 ms later. Nothing else is: by itself reply-from asks ten
 * times more for what is unavailable.
 */
const whenAgain = ({ err, req, attempt }: { err: Error | null; req: { method?: string }; attempt: number }): number | null =>
  attempt === 0 && err && isLost(err) && (req.method === 'GET' || req.method === 'HEAD') ? 1 : null;

/**
 * Headers of a proxied request: host and scheme of the issuer, from which the service builds canonical URLs, and the client's address, which it
 * believes because of the credential.
 */
const forwarded = (issuer: URL, credential: string, { info }: FastifyRequest, headers: object): Record<string, string> => ({
  ...headers,
  host: issuer.host,
  'x-forwarded-proto': issuer.protocol.slice(0, -1),
  'x-forwarded-for': info.ip ?? '',
  'x-request-id': info.id,
  [SUBGRAPH_SECRET_HEADER]: credential,
});

/**
 * Reverse proxy for services in other processes: their health and native paths are streamed as raw bytes. REST rows never get here, because
 * an exact route takes precedence over these wildcards.
 */
export async function proxyServices(
  app: FastifyInstance,
  urls: Readonly<Partial<Record<Slug, string>>>,
  { issuer, subgraphSecret }: Pick<Config, 'issuer' | 'subgraphSecret'>,
): Promise<void> {
  if (subgraphSecret === null) return; // the configuration has no other process, see `loadConfig`
  const [canonical, credential] = [new URL(issuer), proxyCredential(subgraphSecret)];
  await app.register(
    plugin('proxy', async scope => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
      await scope.register(replyFrom, { undici: CONNECTION });
      const streams = new StreamProxy(app);
      const pass = (prefix: string, base: string): void => {
        const { origin } = new URL(base);
        scope.all(prefix, (request, reply) => {
          const url = `${origin}${request.url}`;
          if (isStream(request)) return streams.pass(reply, url, forwarded(canonical, credential, request, request.headers));
          return reply.from(url, {
            retryDelay: whenAgain,
            rewriteRequestHeaders: (_raw, headers) => forwarded(canonical, credential, request, headers),
            onError: current =>
              void sendProblem(current as never, new Problem('unavailable', 'The service cannot be reached right now', { retryAfter: 1 })),
          });
        });
      };
      for (const [slug, base] of Object.entries(urls)) pass(`/${slug}/*`, base!);
      // the link of every message, and a stream whose path a row's would match
      if (urls.comms) for (const path of ['/m/*', '/comms/v1/inbox/stream']) pass(path, urls.comms);
      if (urls.identity) for (const path of ['/identity', '/.well-known/*']) pass(path, urls.identity);
    }),
  );
}
