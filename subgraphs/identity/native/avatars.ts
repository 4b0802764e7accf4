import type { FastifyInstance } from 'fastify';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import type { NativePath } from '../../../runtime/service.js';
import { blobsOf } from '../../../runtime/blobs/blobs.js';
import { AVATAR_PATH } from '../rules/avatar.js';

/** Our own re-encoded bytes, but a browser is to treat them as nothing but a picture. */
const HEADERS = {
  'content-type': 'image/webp',
  'cache-control': 'public, max-age=31536000, immutable',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
};

/** Serves avatars; an address names its content, so it is never stale. */
export function serveAvatars(app: FastifyInstance, host: ServiceHost): void {
  app.get<{ Params: { owner: string; file: string } }>('/identity/v1/avatars/:owner/:file', async ({ params: { owner, file } }, reply) => {
    const path = `${owner}/${file}`;
    const bytes = AVATAR_PATH.test(path) ? await blobsOf(host).get(`avatars/${path}`) : null;
    if (!bytes) fail('not_found', 'Not found');
    return reply.headers(HEADERS).send(bytes);
  });
}

export const avatarPaths: readonly NativePath[] = [
  {
    method: 'GET',
    path: '/v1/avatars/{owner}/{file}',
    summary: 'A picture of a profile',
    status: 200,
    public: true,
    response: { contentType: 'image/webp', schema: { type: 'string', contentMediaType: 'image/webp' } },
  },
];
