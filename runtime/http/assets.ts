import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Reads a document when it is asked for: all of them are 6 MB, and few processes are asked for any. */
export type Reader = () => Promise<string | Buffer>;

/** A file with its media type. */
export interface Asset {
  type: string;
  body: Reader;
  /** Known after the first request, so that a 304 reads nothing. */
  etag?: string;
}

export const asset = (type: string, body: Reader | string): Asset => ({ type, body: typeof body === 'string' ? async () => body : body });

const etagOf = (body: string | Buffer): string => `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`;

const knows = (request: FastifyRequest, etag: string): boolean =>
  request.headers['if-none-match']?.split(',').some(one => one.trim().replace(/^W\//, '') === etag) ?? false;

/** Answers with an asset and its ETag, or with 304 to who has it. @param headers besides. */
export async function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  asset: Asset,
  headers: Readonly<Record<string, string>> = {},
): Promise<FastifyReply> {
  const { type, etag: known } = asset;
  const body = known && knows(request, known) ? '' : await asset.body();
  const etag = (asset.etag ??= etagOf(body));
  reply.headers({ 'cache-control': 'public, no-cache', ...headers, etag });
  return knows(request, etag) ? reply.code(304).send() : reply.type(type).send(body);
}
