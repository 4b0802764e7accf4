import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { codeOf, Problem, PROBLEMS } from '../../runtime/request/errors.js';
import { problemHeaders, problemOf } from '../../runtime/http/server.js';

/** Extensions that a client may see. Any other is removed. */
const SHOWN = ['reason', 'errors', 'scope', 'maxAge', 'retryAfter'] as const;

/** Extensions that a gateway in another process may see: also the further members of a REST problem, as in process. */
export const SHOWN_TO_GATEWAYS = [...SHOWN, 'members'] as const;

const INVALID_VARIABLE = /^Variable "(\$\w+)" got invalid value /;
const SAFE_REASON = /Field "\w+" (of required type "[^"]+" was not provided|is not defined by type "[^"]+")/;

/**
 * Removes values from graphql-js's message about an invalid variable, because a value may be health data. What remains is the variable, the
 * path in it and, when it names no value, the reason.
 */
function withoutValue(message: string): string {
  const variable = INVALID_VARIABLE.exec(message)?.[1];
  if (!variable) return message;
  const path = / at "([\w.[\]]+)"; /.exec(message)?.[1];
  const reason = SAFE_REASON.exec(message)?.[0];
  return `Variable "${variable}" is invalid${path ? ` at "${path}"` : ''}${reason ? `: ${reason}` : ''}`;
}

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
    message: masked ? 'Something went wrong on our side' : withoutValue(error.message),
    ...(error.locations && { locations: error.locations }),
    ...(error.path && { path: error.path }),
    extensions: { ...(masked ? {} : extensions), code: code.toUpperCase() },
  };
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
export const errorAnswer = (problem: Problem): string => JSON.stringify({ errors: [formatError(problem as GraphQLError)] });
