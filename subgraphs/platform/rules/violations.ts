import type { Violation } from '../../../runtime/request/errors.js';

/** One violation where something is wrong, else none. */
export const when = (wrong: boolean, pointer: string, message: string): Violation[] => (wrong ? [{ pointer, message }] : []);

/** Violations of a part as those of the whole, in which the part stands at `pointer`. */
export const below = (pointer: string, found: readonly Violation[]): Violation[] =>
  found.map(one => ({ ...one, pointer: `${pointer}${one.pointer}` }));
