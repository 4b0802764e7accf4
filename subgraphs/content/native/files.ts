import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { blobsOf } from '../../../runtime/blobs/blobs.js';
import { isUuid } from '../../../runtime/data/ids.js';
import { plugin } from '../../../runtime/http/plugin.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import type { NativePath } from '../../../runtime/service.js';
import { blobName, claimUpload, rendition, takeBytes, widthFor } from '../commands/media.js';
import { FORMATS, MAX_PDF_BYTES } from '../ports/pictures.js';
import { isSigned } from '../ports/signatures.js';
import { filePath, IS_PUBLIC } from '../queries/media.js';

/** A browser is to show a picture, and nothing else. */
const HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'cross-origin-resource-policy': 'cross-origin',
};
const PUBLIC = 'public, max-age=300';
const PRIVATE = 'private, no-store';

interface FoundFile {
  item_id: string;
  sha256: string;
  mime_type: string;
  is_public: boolean;
}

/** Bytes that are not what was stored are given to nobody. */
const IS_WHOLE = `a.status = 'READY' and not exists (select 1 from content.damaged_file d where d.item_id = a.item_id)`;
const BY_HASH = `select a.item_id, a.sha256, a.mime_type, ${IS_PUBLIC} as is_public from content.media_asset a where a.sha256 = $1 and ${IS_WHOLE}
  union all
  select a.item_id, m.sha256, 'image/' || lower(m.format), ${IS_PUBLIC} from content.media_rendition m join content.media_asset a on a.item_id = m.item_id
    where m.sha256 = $1 and ${IS_WHOLE}`;
const BY_ID = `select a.item_id, a.sha256, a.mime_type, ${IS_PUBLIC} as is_public from content.media_asset a where a.item_id = $1 and ${IS_WHOLE}`;

type Signed = { expires?: string; signature?: string; width?: string; format?: string };

const nothing = (): never => fail('not_found', 'Not found');

/** The public one first: equal bytes may belong to several. */
const found = async (host: ServiceHost, text: string, value: string): Promise<FoundFile | undefined> =>
  (await host.read((ctx: Context) => ctx.sql<FoundFile>(text, [value]))).sort((a, b) => Number(b.is_public) - Number(a.is_public))[0];

async function sendFile(
  host: ServiceHost,
  request: FastifyRequest<{ Params: { file: string }; Querystring: Signed }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const hash = /^([0-9a-f]{64})\.[a-z]{3,4}$/.exec(request.params.file)?.[1] ?? nothing();
  const file = (await found(host, BY_HASH, hash)) ?? nothing();
  if (filePath(hash, file.mime_type) !== `/content/v1/files/${request.params.file}`) nothing();
  const now = await host.read(async ctx => ctx.now());
  if (!file.is_public && !isSigned(host.config, `/content/v1/files/${request.params.file}`, request.query, now)) nothing();
  const bytes = (await blobsOf(host).get(blobName(hash))) ?? nothing();
  const isDocument = file.mime_type === 'application/pdf';
  return reply
    .headers({ ...HEADERS, 'content-type': file.mime_type, 'cache-control': file.is_public ? PUBLIC : PRIVATE })
    .headers(isDocument ? { 'content-disposition': `attachment; filename="${hash.slice(0, 12)}.pdf"` } : {})
    .send(bytes);
}

async function leadToFile(
  host: ServiceHost,
  request: FastifyRequest<{ Params: { id: string }; Querystring: Signed }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { width, format = 'webp' } = request.query;
  const file = (isUuid(request.params.id) && (await found(host, BY_ID, request.params.id.toLowerCase()))) || nothing();
  const path = `/content/v1/files/by-id/${file.item_id}${width === undefined ? '' : `?width=${width}&format=${format}`}`;
  const now = await host.read(async ctx => ctx.now());
  if (!file.is_public && !isSigned(host.config, path, request.query, now)) nothing();
  if (width === undefined || file.mime_type === 'application/pdf') return lead(reply, file, filePath(file.sha256, file.mime_type));
  const asked = Number(width);
  const kind = format.toUpperCase() as keyof typeof FORMATS;
  if (!Number.isInteger(asked) || asked < 1 || asked > 4096 || !(kind in FORMATS))
    fail('invalid_request', 'The width or format is not one that is made');
  const hash = await rendition(host, file.item_id, file.sha256, widthFor(asked), kind);
  return lead(reply, file, filePath(hash, FORMATS[kind]));
}

const lead = (reply: FastifyReply, file: FoundFile, path: string): FastifyReply =>
  reply
    .headers({ ...HEADERS, location: path, 'cache-control': file.is_public ? PUBLIC : PRIVATE })
    .code(302)
    .send();

/** Counts while they come. @throws Problem payload_too_large, invalid_request. */
async function received(stream: AsyncIterable<Buffer>, declared: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > declared) fail('payload_too_large', 'There are more bytes than were declared');
    chunks.push(chunk);
  }
  if (size !== declared) fail('invalid_request', 'There are fewer bytes than were declared');
  return Buffer.concat(chunks);
}

async function take(host: ServiceHost, request: FastifyRequest<{ Params: { token: string } }>, reply: FastifyReply): Promise<FastifyReply> {
  const claimed = await claimUpload(host, request.params.token);
  const bytes = await received(request.body as AsyncIterable<Buffer>, claimed.bytes);
  await takeBytes(host, claimed, bytes);
  return reply.code(204).send();
}

/** In production files lie at a host where no page of ours is, so that nothing in them can act there. @throws Error that says so. */
export function requireMediaHost({ config }: Pick<ServiceHost, 'config'>): void {
  const base = config.setting('MEDIA_BASE_URL');
  if (!config.production) return;
  if (!base) throw new Error('MEDIA_BASE_URL is required in production: the base URL of a host of its own for files');
  if (new URL(base).host === new URL(config.issuer).host) throw new Error("MEDIA_BASE_URL must not be at identity's host");
}

/** Files, and the one way in which they come. */
export async function serveFiles(app: FastifyInstance, host: ServiceHost): Promise<void> {
  requireMediaHost(host);
  app.get<{ Params: { id: string }; Querystring: Signed }>('/content/v1/files/by-id/:id', (request, reply) =>
    leadToFile(host, request, reply),
  );
  app.get<{ Params: { file: string }; Querystring: Signed }>('/content/v1/files/:file', (request, reply) => sendFile(host, request, reply));
  await app.register(
    plugin('uploads of content', async scope => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
      scope.put<{ Params: { token: string } }>('/content/v1/uploads/:token', { bodyLimit: MAX_PDF_BYTES + 1 }, (request, reply) =>
        take(host, request, reply),
      );
    }),
  );
}

const bytes = (contentType: string) => ({ contentType, schema: { type: 'string', contentMediaType: contentType } });

export const filePaths: readonly NativePath[] = [
  {
    method: 'GET',
    path: '/v1/files/{file}',
    summary: 'A file by the hash of its bytes',
    status: 200,
    public: true,
    response: bytes('application/octet-stream'),
  },
  { method: 'GET', path: '/v1/files/by-id/{id}', summary: 'Leads to a file, or to its rendition of a width', status: 302, public: true },
  {
    method: 'PUT',
    path: '/v1/uploads/{token}',
    summary: 'Puts the bytes of an announced file',
    status: 204,
    public: true,
    requestBody: bytes('application/octet-stream'),
  },
];
