import type { Violation } from '../../../runtime/request/errors.js';
import type { TransitionTable } from '../../../runtime/request/states.js';
import { DAY_MS } from '../../../runtime/time/durations.js';
import { type CheckInQuestion, CheckInQuestionType as Type, CheckInStatus as Status } from '../entities/check-in.js';

export type CheckInTrigger = 'submit' | 'skip' | 'miss';

/** Check-in states. Source: clinical 3. */
export const CHECK_IN_STATES = {
  [Status.DUE]: { submit: Status.SUBMITTED, skip: Status.SKIPPED, miss: Status.MISSED },
  [Status.SUBMITTED]: {},
  [Status.MISSED]: {},
  [Status.SKIPPED]: {},
} as const satisfies TransitionTable<Status, CheckInTrigger>;

/** A check-in is missed so long after it was due. */
export const MISSED_AFTER_MS = 7 * DAY_MS;
const LONGEST_TEXT = 2000;

function fault({ type, min, max, options }: CheckInQuestion, answer: unknown): string | null {
  if (type === Type.BOOLEAN) return typeof answer === 'boolean' ? null : 'must be true or false';
  if (type === Type.TEXT)
    return typeof answer === 'string' && [...answer].length <= LONGEST_TEXT ? null : `must be a text of at most ${LONGEST_TEXT} characters`;
  if (type === Type.CHOICE) return options.includes(answer as string) ? null : `must be one of ${options.join(', ')}`;
  const inside = typeof answer === 'number' && Number.isFinite(answer) && answer >= (min ?? -Infinity) && answer <= (max ?? Infinity);
  return inside ? null : `must be a number from ${min} to ${max}`;
}

/** Everything that is wrong with the answers to a questionnaire; messages name no answer. */
export function violationsOfAnswers(questions: readonly CheckInQuestion[], answers: Readonly<Record<string, unknown>>): Violation[] {
  if (typeof answers !== 'object' || Array.isArray(answers)) return [{ pointer: '/input/answers', message: 'must be an object' }];
  const at = (key: string): string => `/input/answers/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const known = new Set(questions.map(one => one.key));
  const unknown = Object.keys(answers).filter(key => !known.has(key));
  return [
    ...questions.flatMap(question => {
      const answer = answers[question.key] ?? null;
      if (answer === null) return question.required ? [{ pointer: at(question.key), message: 'is required' }] : [];
      const message = fault(question, answer);
      return message ? [{ pointer: at(question.key), message }] : [];
    }),
    ...unknown.map(key => ({ pointer: at(key), message: 'is not a question of this check-in' })),
  ];
}
