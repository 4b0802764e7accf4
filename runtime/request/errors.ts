import { GraphQLError } from 'graphql';

/** One violation: `pointer` is an RFC 6901 JSON pointer into the input as the caller wrote it. */
export interface Violation {
  pointer: string;
  message: string;
}

/** Code -> HTTP status and title. Source: conventions 6. */
export const PROBLEMS = {
  invalid_request: { status: 400, title: 'Invalid request' },
  unauthenticated: { status: 401, title: 'Unauthenticated' },
  step_up_required: { status: 401, title: 'Recent sign-in required' },
  payment_declined: { status: 402, title: 'Payment declined' },
  insufficient_scope: { status: 403, title: 'Insufficient scope' },
  forbidden: { status: 403, title: 'Forbidden' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  conflict: { status: 409, title: 'Conflict' },
  payload_too_large: { status: 413, title: 'Payload too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  idempotency_mismatch: { status: 422, title: 'Idempotency key reused' },
  rate_limited: { status: 429, title: 'Too many requests' },
  internal: { status: 500, title: 'Internal error' },
  unavailable: { status: 503, title: 'Unavailable' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof PROBLEMS;

export interface ProblemOptions {
  /** Finer machine-readable word beside the code, lower_snake. */
  reason?: string;
  errors?: readonly Violation[];
  /** The scope that was missing, for `WWW-Authenticate`. */
  scope?: string;
  /** Seconds, for `step_up_required`. */
  maxAge?: number;
  /** Seconds, for `rate_limited` and `unavailable`. */
  retryAfter?: number;
  /** Further members of the problem, camelCase, for example `declineCode`; REST shows them in snake_case. */
  members?: Readonly<Record<string, unknown>>;
  /** Kept for the log, never shown. */
  cause?: unknown;
}

/** An error that a caller may see. Everything else that is thrown is masked as `internal`. */
export class Problem extends GraphQLError {
  readonly code: ProblemCode;
  readonly options: ProblemOptions;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    const { cause, ...shown } = options;
    super(detail, {
      extensions: { code: code.toUpperCase(), ...shown, ...(shown.reason && { reason: shown.reason.toUpperCase() }) },
      ...(cause instanceof Error && { originalError: cause }),
    });
    this.code = code;
    this.options = options;
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }
}

/** Throws the problem `code`; `detail` names the thing and its state, and never holds a health value, secret or contact data. */
export function fail(code: ProblemCode, detail: string, options?: ProblemOptions): never {
  throw new Problem(code, detail, options);
}

/** Throws `invalid_request` with every violation; does nothing where there is none. */
export function requireValid(errors: readonly Violation[]): void {
  if (errors.length > 0) fail('invalid_request', 'The input is invalid', { errors });
}

/** Throws `invalid_request` for the one violation at `pointer`, for example `/input/file`. */
export function invalid(pointer: string, message: string, options: Omit<ProblemOptions, 'errors'> = {}): never {
  fail('invalid_request', 'The input is invalid', { ...options, errors: [{ pointer, message }] });
}

/** Problem code of an error's GraphQL extensions, `internal` for anything unknown. */
export function codeOf(extensions: Readonly<Record<string, unknown>> | undefined): ProblemCode {
  const code = String(extensions?.code ?? '').toLowerCase();
  return code in PROBLEMS ? (code as ProblemCode) : (GRAPHQL_CODES[code] ?? 'internal');
}

/** What graphql-js and Apollo call a malformed or invalid request. */
const GRAPHQL_CODES: Record<string, ProblemCode> = {
  bad_user_input: 'invalid_request',
  graphql_validation_failed: 'invalid_request',
  graphql_parse_failed: 'invalid_request',
  invalid_graphql: 'invalid_request', // the planner knows less of introspection than graphql-js, which validates
  bad_request: 'invalid_request',
  operation_resolution_failure: 'invalid_request',
  persisted_query_not_found: 'invalid_request',
  persisted_query_not_supported: 'invalid_request',
};
