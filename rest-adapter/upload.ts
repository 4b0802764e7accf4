import type { FastifyRequest } from 'fastify';
import { fail } from '../runtime/request/errors.js';
import type { Upload } from './route.js';

/** Text fields beside the file; none is expected, so there is no need for more than a complaint about them. */
const LIMITS = { files: 1, fields: 10, parts: 11, fieldSize: 1024, fieldNameSize: 100 };

export const isMultipart = (type: string | undefined): boolean => /^multipart\/form-data\s*(;|$)/i.test(type ?? '');

/**
 * The body that the row's variables expect, from a multipart form: `{"<field>": "<base64 of the file>"}`. What else the form holds
 * keeps its own name, so that validation names it. @throws Problem payload_too_large, invalid_request.
 */
export async function readUpload(request: FastifyRequest, { field, maxBytes }: Upload): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = {};
  for await (const part of request.parts({ limits: { ...LIMITS, fileSize: maxBytes } })) {
    if (Object.hasOwn(body, part.fieldname)) fail('invalid_request', `The form has two parts named ${part.fieldname}`);
    body[part.fieldname] = part.type === 'file' ? (await part.toBuffer()).toString('base64') : part.value;
  }
  if (!Object.hasOwn(body, field))
    fail('invalid_request', 'The input is invalid', { errors: [{ pointer: `/${field}`, message: 'is required' }] });
  return body;
}
