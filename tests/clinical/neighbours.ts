import { vi } from 'vitest';
import { Problem } from '../../runtime/request/errors.js';
import type { Clinic } from './clinic.js';

/** What a neighbour that is not built yet answers, by the name of the operation that clinical asks; an Error is thrown, a promise awaited. */
export type Answers = Record<string, object | Error | Promise<object>>;

/** Puts answers in the place of neighbours that are not in the federation yet; everything else is asked for real. Returns the names asked. */
export function neighbours(clinic: Clinic, answers: Answers): string[] {
  const { federation } = clinic.p.host('clinical');
  const real = federation.run.bind(federation);
  const asked: string[] = [];
  vi.spyOn(federation, 'run').mockImplementation(async (document, ...rest) => {
    const name = /^\s*(?:query|mutation)\s+(\w+)/.exec(document.source)?.[1] ?? '';
    const answer = answers[name];
    if (answer === undefined) return real(document, ...rest) as never;
    asked.push(name);
    if (answer instanceof Error) throw answer;
    return answer as never;
  });
  return asked;
}

/** A neighbour that cannot be reached. */
export const unreachable = (): Error => new Problem('unavailable', 'The federation cannot be reached');

export const demographics = (known: object | null, codes: string[] = []): object => ({
  patientDemographics: [known],
  patient: { contraindicationCodes: codes },
});
