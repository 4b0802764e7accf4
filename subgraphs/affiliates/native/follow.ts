import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServiceHost } from '../../../runtime/request/context.js';
import type { Authenticate, NativePath } from '../../../runtime/service.js';
import { DAY_MS, SECOND_MS } from '../../../runtime/time/durations.js';
import { isWithinLimit } from '../commands/click-limit.js';
import { follow } from '../commands/click.js';
import { CLICK_DAYS } from '../ports/click-tokens.js';

const COOKIE = 'affiliate_click';
const MAX_AGE = (CLICK_DAYS * DAY_MS) / SECOND_MS;

const cookieOf = ({ headers }: FastifyRequest): string | null =>
  /(?:^|;\s*)affiliate_click=([\w.-]{1,2000})/.exec(headers.cookie ?? '')?.[1] ?? null;

/** Leads a visitor to the page of a link, remembering that it did. The page is the link's: nothing of the address says where to. */
export async function serveLinks(app: FastifyInstance, host: ServiceHost, authenticate: Authenticate): Promise<void> {
  const isSecure = host.config.baseUrl.startsWith('https:') ? '; Secure' : '';
  app.get<{ Params: { slug: string }; Querystring: { consent?: string } }>('/affiliates/v1/r/:slug', async (request, reply) => {
    const { ip } = await authenticate(request);
    const { target, token } = await follow(host, request.params.slug, {
      ip,
      userAgent: request.headers['user-agent'] ?? '',
      token: cookieOf(request),
      isCounted: isWithinLimit(host, ip),
      hasConsent: request.query.consent === '1',
    });
    if (token) reply.header('set-cookie', `${COOKIE}=${token}; Max-Age=${MAX_AGE}; Path=/; HttpOnly; SameSite=Lax${isSecure}`);
    return reply.headers({ location: target, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).code(302).send();
  });
}

export const linkPaths: readonly NativePath[] = [
  { method: 'GET', path: '/v1/r/{slug}', summary: 'Follow the link of an affiliate', status: 302, public: true },
];
