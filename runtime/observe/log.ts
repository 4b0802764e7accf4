import { pino, type Logger as PinoLogger } from 'pino';
import { Problem } from '../request/errors.js';
import { loggable } from '../request/graphql-messages.js';

export type Logger = PinoLogger;

/** Keys whose values are masked in log lines, at the first three levels. Source: must-not-happen 13, 24. */
const SECRET_KEYS = [
  'authorization',
  'token',
  'access_token',
  'refresh_token',
  'secret',
  'client_secret',
  'password',
  'otp',
  'email',
  'phone',
  'address',
  'value',
  'data',
  'variables',
  'body',
  'cookie',
  'signing_secret',
];
const paths = SECRET_KEYS.flatMap(key => [key, `*.${key}`, `*.*.${key}`]);

/** The process's logger: JSON lines on stderr; `npm start` prints its messages for people on stdout. */
export const createLogger = (level: string): Logger =>
  pino(
    { level, base: null, redact: { paths, censor: '***' }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );

/** The part of an error that a log may hold. */
interface LoggedError {
  name: string;
  message?: string;
  stack?: string;
  sqlState?: string;
  table?: string;
  column?: string;
  constraint?: string;
}

const frames = (stack: string | undefined): string =>
  (stack ?? '')
    .split('\n')
    .filter(line => /^\s+at /.test(line))
    .join('\n');

/** Errors of libraries whose messages repeat what they refuse: graphql-js, `JSON.parse`, MikroORM. */
const REPEATING = new Set(['GraphQLError', 'SyntaxError', 'ValidationError']);

/**
 * An error for the log. PostgreSQL's messages and details repeat the row ("Failing row contains …"), which may hold health values
 * and contact data, so of a database error only its state and the names of table, column and constraint are kept. Of a message of
 * graphql-js, which repeats the input, what {@link loggable} leaves is kept.
 */
export function loggedError(error: unknown): LoggedError {
  if (!(error instanceof Error)) return { name: typeof error };
  const { name, message, stack } = error;
  const { code, table, column, constraint } = error as Error & Record<string, string | undefined>;
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code))
    return { name, sqlState: code, table, column, constraint, stack: frames(stack) };
  if (REPEATING.has(name) && !(error instanceof Problem)) return { name, message: loggable(message), stack: frames(stack) };
  return { name, message, stack };
}

/** What a library's log message is about, without the text of the error that it ends with: `Unexpected error: …` -> `Unexpected error`. */
export const subjectOf = (message: unknown): string => String(message).split(':', 1)[0]!;
