import type { GraphQLFormattedError } from 'graphql';
import { codeOf, Problem, PROBLEMS } from '../../runtime/request/errors.js';
import { loggable, withoutValues } from '../../runtime/request/graphql-messages.js';
import { loggedError, type Logger } from '../../runtime/observe/log.js';
import { problemHeaders, problemOf } from '../../runtime/http/server.js';
import { Refusal } from '../limits/validation.js';
import type { FederatedResult } from '../plans/executor.js';

/** Extensions that a client may see. Any other is removed. */
const SHOWN = ['reason', 'errors', 'scope', 'maxAge', 'retryAfter'] as const;

/** Extensions that a gateway in another process may see: also the further members of a REST problem, as in process. */
export const SHOWN_TO_GATEWAYS = [...SHOWN, 'members'] as const;

/** What a client is told of a value that does not fit its type. */
const UNFIT = 'A service answered a value that does not fit its type';

/** An error as the GraphQL API shows it: message, path, `extensions.code` in upper case. Internal errors are masked. Source: conventions 6. */
export function formatError(
  error: Pick<GraphQLFormattedError, 'message' | 'path' | 'locations' | 'extensions'>,
  shown: readonly string[] = SHOWN,
): GraphQLFormattedError {
  const code = codeOf(error.extensions);
  const masked = code === 'internal';
  const extensions = Object.fromEntries(
    shown.map(key => [key, error.extensions?.[key]]).filter(([, value]) => value !== undefined && value !== null),
  );
  return {
    message: masked && error.message !== UNFIT ? 'Something went wrong on our side' : withoutValues(error.message),
    ...(error.locations && { locations: error.locations }),
    ...(error.path && { path: error.path }),
    extensions: { ...(masked ? {} : extensions), code: code.toUpperCase() },
  };
}

/** Logs an error that no service made, so none has logged it: of the server, of the planner, of a wrong answer of a subgraph. */
export function logUnknown(error: Pick<GraphQLFormattedError, 'extensions'>, cause: unknown, log: Logger): void {
  if (codeOf(error.extensions) !== 'internal' || error.extensions?.code === 'INTERNAL') return;
  log.error({ err: loggedError(cause) }, 'an operation failed at the gateway');
}

/**
 * Errors of a result. A value that does not fit its type is one, because its null could be taken for an answer; it is a fault of a service
 * that nobody has logged.
 */
export function errorsOf({ errors, extensions }: FederatedResult, log: Logger): readonly GraphQLFormattedError[] {
  const faults = (extensions?.valueCompletion ?? []) as readonly GraphQLFormattedError[];
  for (const { message } of faults) log.error({ fault: loggable(message) }, 'a service answered a value that does not fit its type');
  if (faults.length === 0) return errors;
  return [...errors, ...faults.map(({ path }) => ({ message: UNFIT, path, extensions: { code: 'INTERNAL' } }))];
}

interface GraphqlAnswer {
  status: number;
  headers: Record<string, string>;
}

/** HTTP status and headers of an answer: 200 if there is data, else those of the first error. */
export function answerOf(data: unknown, errors: readonly GraphQLFormattedError[] | undefined): GraphqlAnswer {
  const hasData = data !== null && data !== undefined && Object.values(data as object).some(value => value !== null);
  if (hasData || !errors?.length) return { status: 200, headers: {} };
  const problem = problemOf(errors[0]!);
  return { status: PROBLEMS[problem.code].status, headers: problemHeaders(problem) };
}

/** Body of the answer to a request that failed before its operation ran. */
export const errorAnswer = (problem: Problem): string =>
  JSON.stringify({ errors: (problem instanceof Refusal ? problem.errors : [problem]).map(error => formatError(error.toJSON())) });
