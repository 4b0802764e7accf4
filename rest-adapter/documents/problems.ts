/** Problem answers of the OpenAPI documents, one shared response per status. Source: conventions 6. */
import { PROBLEMS, type ProblemCode } from '../../runtime/request/errors.js';
import type { Json } from './schemas.js';

const REQUEST_ID = '0190b3a0-0000-7000-8000-00000000f00d';

/** RFC 9457 problem. */
export const PROBLEM_SCHEMA: Json = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code', 'request_id', 'errors'],
  description: 'RFC 9457 problem.',
  properties: {
    type: { type: 'string', format: 'uri-reference', description: '`/problems/<code>`.' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'What was refused, and the state it is in.' },
    code: { type: 'string', enum: Object.keys(PROBLEMS) },
    reason: { type: 'string', description: 'Finer machine-readable word.' },
    request_id: { type: 'string', description: 'Equals the header X-Request-Id.' },
    errors: {
      type: 'array',
      description: 'Every violation of an invalid request.',
      items: {
        type: 'object',
        required: ['pointer', 'message'],
        properties: {
          pointer: { type: 'string', description: 'RFC 6901 pointer into the body, or `/` and the parameter.' },
          message: { type: 'string' },
        },
      },
    },
  },
};

export const REQUEST_ID_HEADER: Json = {
  description: "The caller's id of the request if it sent a valid one, else ours.",
  schema: { type: 'string' },
  example: REQUEST_ID,
};

const AUTHENTICATE: Json = {
  'WWW-Authenticate': { description: 'What the token lacks, by RFC 6750 and RFC 9470.', schema: { type: 'string' } },
};
const RETRY: Json = { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer', minimum: 0 } } };

interface Documented {
  /** Component name. */
  name: string;
  description: string;
  /** The code shown as example. */
  code: ProblemCode;
  detail: string;
  headers?: Json;
  errors?: readonly Json[];
}

/** By status, all that the adapter and the services answer. */
const DOCUMENTED: Readonly<Record<number, Documented>> = {
  400: {
    name: 'InvalidRequest',
    description: 'Malformed or invalid input; every violation is listed.',
    code: 'invalid_request',
    detail: 'The request has one violation',
    errors: [{ pointer: '/baseline/unit', message: 'is required' }],
  },
  401: {
    name: 'Unauthenticated',
    description: 'No, malformed, expired or revoked token; or a sign-in that is too old (`step_up_required`).',
    code: 'unauthenticated',
    detail: 'A bearer token is required',
    headers: AUTHENTICATE,
  },
  402: {
    name: 'PaymentDeclined',
    description: 'The processor or the issuer refused; `decline_code` says why.',
    code: 'payment_declined',
    detail: 'The issuer declined the charge',
  },
  403: {
    name: 'Forbidden',
    description: 'The token lacks the scope (`insufficient_scope`), or this caller may not (`forbidden`).',
    code: 'insufficient_scope',
    detail: 'The token lacks the scope',
    headers: AUTHENTICATE,
  },
  404: { name: 'NotFound', description: "Absent, or another user's.", code: 'not_found', detail: 'Not found' },
  409: {
    name: 'Conflict',
    description: 'The state machine refuses the transition, a unique value is taken, or another writer was first.',
    code: 'conflict',
    detail: 'A retested cycle cannot be prompted',
  },
  413: {
    name: 'PayloadTooLarge',
    description: 'The body is larger than this path takes.',
    code: 'payload_too_large',
    detail: 'The body is too large',
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The media type is not the documented one.',
    code: 'unsupported_media_type',
    detail: 'This media type is not accepted here',
  },
  422: {
    name: 'IdempotencyMismatch',
    description: 'The same `Idempotency-Key` with another body.',
    code: 'idempotency_mismatch',
    detail: 'The key was used with another body',
  },
  429: { name: 'RateLimited', description: 'Too many requests.', code: 'rate_limited', detail: 'Too many requests', headers: RETRY },
  500: {
    name: 'InternalError',
    description: 'A bug on our side; the request id finds it.',
    code: 'internal',
    detail: 'Something went wrong on our side',
  },
  503: {
    name: 'Unavailable',
    description: 'A dependency is down; nothing is half-done.',
    code: 'unavailable',
    detail: 'A service that this needs is down',
    headers: RETRY,
  },
};

function component({ description, code, detail, headers, errors = [] }: Documented): Json {
  const { status, title } = PROBLEMS[code];
  const example = { type: `/problems/${code}`, title, status, detail, code, request_id: REQUEST_ID, errors };
  return {
    description,
    headers: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' }, ...headers },
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' }, example } },
  };
}

/** What an operation can be refused with. */
export interface Refusals {
  isPublic: boolean;
  isMutation: boolean;
  isPost: boolean;
  hasBody: boolean;
  /** Has path parameters or a nullable answer. */
  mayBeAbsent: boolean;
  /** The route's own descriptions by status. */
  own: Readonly<Record<number, string>>;
}

function statuses({ isPublic, isMutation, isPost, hasBody, mayBeAbsent, own }: Refusals): number[] {
  const all = [
    400,
    ...(isPublic ? [] : [401, 403]),
    ...(mayBeAbsent ? [404] : []),
    ...(isMutation ? [409] : []),
    ...(hasBody ? [413, 415] : []),
    ...(isMutation && isPost ? [422] : []),
    429,
    500,
    503,
    ...Object.keys(own).map(Number),
  ];
  return [...new Set(all)].sort((a, b) => a - b);
}

/** The problem responses of an operation. @throws Error for a status of `own` that no problem has. */
export function problemResponses(refusals: Refusals): Json {
  const reference = (status: number): Json => {
    const documented = DOCUMENTED[status];
    if (!documented) throw new Error(`no problem has status ${status}`);
    const description = refusals.own[status];
    return { $ref: `#/components/responses/${documented.name}`, ...(description && { description }) };
  };
  return Object.fromEntries(statuses(refusals).map(status => [status, reference(status)]));
}

/** The shared responses that the document refers to. */
export function problemComponents(isUsed: (reference: string) => boolean): Json {
  const used = Object.values(DOCUMENTED).filter(({ name }) => isUsed(`#/components/responses/${name}`));
  return Object.fromEntries(used.map(documented => [documented.name, component(documented)]));
}
