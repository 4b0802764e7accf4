import { PROBLEMS, type Problem } from '../request/errors.js';

/** RFC 9457 body of a problem. Source: conventions 6. */
export function problemBody(problem: Problem, requestId: string): object {
  const { title, status } = PROBLEMS[problem.code];
  const { reason, errors, members } = problem.options;
  const further = Object.fromEntries(
    Object.entries(members ?? {}).map(([name, value]) => [name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`), value]),
  );
  return {
    ...further,
    type: `/problems/${problem.code}`,
    title,
    status,
    detail: problem.message,
    code: problem.code,
    ...(reason && { reason: reason.toLowerCase() }),
    request_id: requestId,
    errors: errors ?? [],
  };
}
