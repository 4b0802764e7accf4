/** Errors of an execution -> the one problem that a REST answer shows. Rendering is `runtime/http`'s. Source: conventions 6. */
import { codeOf, Problem, PROBLEMS, type ProblemCode, type Violation } from '../runtime/request/errors.js';
import { problemOf } from '../runtime/http/server.js';

/** An error as GraphQL shows it. */
export interface ShownError {
  readonly message: string;
  readonly path?: readonly (string | number)[] | undefined;
  readonly extensions?: Record<string, unknown> | undefined;
}

/** Violations that one answer lists; the detail says how many there were. */
const MAX_VIOLATIONS = 100;

/** `internal` is the least telling, then `unavailable`; among equals the first one stands. */
const VAGUENESS: Partial<Record<ProblemCode, number>> = { internal: 2, unavailable: 1 };
const vaguenessOf = (error: ShownError): number => VAGUENESS[codeOf(error.extensions)] ?? 0;

const violationsOf = (error: ShownError): readonly Violation[] =>
  Array.isArray(error.extensions?.errors) ? (error.extensions.errors as Violation[]) : [];

const isInvalid = (error: ShownError): boolean => codeOf(error.extensions) === 'invalid_request';

/** Messages of ours may be shown; those of graphql-js and Apollo repeat values and camelCase names. */
const isOurs = (error: ShownError): boolean => String(error.extensions?.code).toLowerCase() === codeOf(error.extensions);

/** The problem of an input with violations. */
export const invalid = (violations: readonly Violation[]): Problem =>
  new Problem('invalid_request', `The request has ${violations.length === 1 ? 'one violation' : `${violations.length} violations`}`, {
    errors: violations.slice(0, MAX_VIOLATIONS),
  });

/**
 * Of several errors the first with the most telling status; the violations of all invalid inputs are put together, with pointers
 * into what the caller wrote.
 * @param errors at least one
 */
export function problemOfErrors(errors: readonly ShownError[], wirePointer: (pointer: string) => string): Problem {
  const chosen = errors.reduce((best, error) => (vaguenessOf(error) < vaguenessOf(best) ? error : best));
  const { message, extensions = {} } = chosen;
  const shown = isOurs(chosen) ? message : PROBLEMS[codeOf(extensions)].title;
  const violations = (isInvalid(chosen) ? errors.filter(isInvalid) : [chosen])
    .flatMap(violationsOf)
    .map(({ pointer, message: why }) => ({ pointer: wirePointer(pointer), message: why }));
  return problemOf({ message: shown, extensions: { ...extensions, errors: violations.slice(0, MAX_VIOLATIONS) } });
}
