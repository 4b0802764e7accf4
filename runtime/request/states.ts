import { fail } from './errors.js';

/** State × trigger -> next state. A pair that is not listed is a conflict. Source: conventions 8. */
export type TransitionTable<State extends string, Trigger extends string> = Readonly<
  Record<State, Partial<Readonly<Record<Trigger, State>>>>
>;

/** The next state. @throws Problem conflict naming the state ("a retested re-test cycle cannot be prompted"). */
export function move<S extends string, T extends string>(table: TransitionTable<S, T>, thing: string, from: S, trigger: T): S {
  const next = table[from][trigger];
  if (next === undefined)
    fail('conflict', `a ${thing} that is ${from.toLowerCase().replaceAll('_', ' ')} cannot ${trigger.replaceAll('_', ' ')}`);
  return next as S;
}
