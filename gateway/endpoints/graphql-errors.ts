import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { codeOf, Problem, PROBLEMS } from '../../runtime/request/errors.js';
import { problemHeaders, problemOf } from '../../runtime/http/server.js';

/** Extensions that a caller may see; anything else a subgraph or library put there stays inside. */
const SHOWN = ['reason', 'errors', 'scope', 'maxAge', 'retryAfter'] as const;

/** What a gateway in another process is told beside it: further members of the REST problem, as it would see them in process. */
export const SHOWN_TO_GATEWAYS = [...SHOWN, 'members'] as const;

const REFUSED_VARIABLE = /^Variable "(\$\w+)" got invalid value /;
const SAFE_REASON = /Field "\w+" (of required type "[^"]+" was not provided|is not defined by type "[^"]+")/;

/**
 * graphql-js repeats the value of a variable that it refuses; what a caller sent may be a health value, so only the place and, where
 * it names no value, the reason are told.
 */
function withoutValue(message: string): string {
  const variable = REFUSED_VARIABLE.exec(message)?.[1];
  if (!variable) return message;
  const place = / at "([\w.[\]]+)"; /.exec(message)?.[1];
  const reason = SAFE_REASON.exec(message)?.[0];
  return `Variable "${variable}" is invalid${place ? ` at "${place}"` : ''}${reason ? `: ${reason}` : ''}`;
}

/** One error of the GraphQL face: message, path, `extensions.code` in upper case; internals masked. Source: conventions 6. */
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

export interface GraphqlAnswer {
  status: number;
  headers: Record<string, string>;
}

/** HTTP status and headers of an answer: 200 while there is data, else those of its first error. */
export function answerOf(data: unknown, errors: readonly GraphQLFormattedError[] | undefined): GraphqlAnswer {
  const hasData = data !== null && data !== undefined && Object.values(data as object).some(value => value !== null);
  if (hasData || !errors?.length) return { status: 200, headers: {} };
  const problem = problemOf(errors[0]!);
  return { status: PROBLEMS[problem.code].status, headers: problemHeaders(problem) };
}

/** A problem as a whole GraphQL answer, for what fails before execution. */
export const errorAnswer = (problem: Problem): string => JSON.stringify({ errors: [formatError(problem as GraphQLError)] });
