/** Thrown by a handler that must never be retried; the reason is a code or short sentence without values. */
export class Permanent extends Error {
  override name = 'Permanent';
}

/** The event will be delivered again, here or elsewhere; nothing was done. */
export class GivenBack extends Error {}

/** What is kept of an error: never payload, never values. */
export interface Failure {
  errorClass: string;
  /** At most 500 characters. */
  errorMessage: string;
  permanent: boolean;
}

const MAX_MESSAGE = 500;
const QUOTED = /"[^"]*"|'[^']*'|`[^`]*`|\([^)]*\)=\([^)]*\)/g;
const EMAIL = /\S+@\S+/g;
const NUMBERS = /[0-9a-f]{8}-[0-9a-f-]{27}|\d[\d.,:/-]*/gi;

/** An error's text without what could be a value: quoted parts, addresses, numbers, ids. */
export const redact = (text: string): string => text.replace(QUOTED, '…').replace(EMAIL, '…').replace(NUMBERS, '#').slice(0, MAX_MESSAGE);

/** SQLSTATE of a database error, else undefined. */
export const sqlStateOf = (error: unknown): string | undefined => {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
};

/** PostgreSQL repeats values in its messages, so only the state and the constraint are kept. */
function databaseMessage(error: object, state: string): string {
  const constraint = (error as { constraint?: unknown }).constraint;
  return typeof constraint === 'string' ? `SQLSTATE ${state}, constraint ${constraint}` : `SQLSTATE ${state}`;
}

export function describe(error: unknown): Failure {
  if (!(error instanceof Error)) return { errorClass: typeof error, errorMessage: '', permanent: false };
  const state = sqlStateOf(error) ?? sqlStateOf(error.cause);
  const errorMessage = state ? databaseMessage(sqlStateOf(error) ? error : (error.cause as object), state) : redact(error.message);
  return { errorClass: error.name, errorMessage, permanent: error instanceof Permanent };
}
