import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { codeOf, Problem, PROBLEMS } from '../runtime/errors.js';
import { problemHeaders, problemOf } from '../runtime/http.js';

/** Extensions that a caller may see; anything else a subgraph or library put there stays inside. */
const SHOWN = ['reason', 'errors', 'scope', 'maxAge', 'retryAfter'] as const;

/** graphql-js repeats the value that it refused; what a caller sent may be a health value, so only the place and the rule are told. */
const withoutValue = (message: string): string =>
  message.replace(/got invalid value [\s\S]* at ("[^"]*"; )/, 'is invalid at $1').replace(/got invalid value [\s\S]*; (?=[^;]*$)/, 'is invalid: ');

/** One error of the GraphQL face: message, path, `extensions.code` in upper case; internals masked. Source: conventions 6. */
export function formatError(error: Pick<GraphQLFormattedError, 'message' | 'path' | 'locations' | 'extensions'>): GraphQLFormattedError {
  const code = codeOf(error.extensions);
  const masked = code === 'internal';
  const extensions = Object.fromEntries(SHOWN.map(key => [key, error.extensions?.[key]]).filter(([, value]) => value !== undefined && value !== null));
  return {
    message: masked ? 'Something went wrong on our side' : withoutValue(error.message), ...(error.locations && { locations: error.locations }), ...(error.path && { path: error.path }),
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
