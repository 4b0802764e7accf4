import { pino, type Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

/** Keys whose value never reaches a log line, at any of the first three levels. Source: must-not-happen 13, 24. */
const SECRET_KEYS = [
  'authorization', 'token', 'access_token', 'refresh_token', 'secret', 'client_secret', 'password', 'otp', 'email', 'phone', 'address', 'value', 'data',
  'variables', 'body', 'cookie', 'signing_secret',
];
const paths = SECRET_KEYS.flatMap(key => [key, `*.${key}`, `*.*.${key}`]);

/** The process's logger: JSON lines on stderr, so that what `npm start` prints for people stays on stdout. */
export const createLogger = (level: string): Logger =>
  pino({ level, base: null, redact: { paths, censor: '***' }, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: false }));
