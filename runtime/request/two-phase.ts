import type { Context } from './context.js';
import type { Problem } from './errors.js';

/** What is asked of an outside processor. */
export interface Intent {
  /** Of the row that `intend` wrote; the processor is given it as its idempotency key, so that a repeated call has one effect. */
  readonly id: string;
  /** An earlier request may have made the call already: it did not come back to write the outcome. */
  readonly isResumed: boolean;
}

export interface Phases<Args, Outcome> {
  /** Transaction 1: writes the intent and returns its id. What it throws leaves nothing behind. */
  intend(ctx: Context, args: Args): Promise<string>;
  /**
   * Calls the processor, outside any transaction; finds the intent's row by its id, because a resumed intent is another request's.
   * A refusal of the processor is an outcome. What it throws leaves the intent open, for a repeat or the service's sweep.
   */
  call(ctx: Context, intent: Intent): Promise<Outcome>;
}

interface Called<Outcome> {
  readonly intent: Intent;
  readonly outcome: Outcome;
}

export interface TwoPhases<Args, Outcome> extends Phases<Args, Outcome> {
  /** The outcome, for transaction 2. @throws Error where the running work is not that. */
  of(ctx: Context): Called<Outcome>;
}

/** An operation whose processor has answered. */
interface Running extends Called<unknown> {
  readonly phases: object;
  /** The outcome is this problem. */
  refusal?: Problem;
}

/** Contexts that are in transaction 2. */
export const running = new WeakMap<Context, Running>();

/** Declares what comes before an operation's outcome: `const charge = twoPhases({ intend: ..., call: ... })`. */
export function twoPhases<Args, Outcome>(phases: Phases<Args, Outcome>): TwoPhases<Args, Outcome> {
  const declaration: TwoPhases<Args, Outcome> = {
    ...phases,
    of(ctx) {
      const known = running.get(ctx);
      if (known?.phases !== declaration) throw new Error('this work is not in its second transaction');
      return known as Called<Outcome>;
    },
  };
  return declaration;
}

/** Root fields have one namespace over all services (conventions 2), so their names suffice as keys. */
const declared = new Map<string, TwoPhases<any, any>>();

/**
 * The operation asks an outside processor in two short transactions, and no lock or connection is held in between. Its method is
 * transaction 2: it takes `charge.of(ctx)`, locks the intent's row, writes the outcome unless a sweep was first, and returns its answer,
 * or the `Problem` that is the outcome, which commits too. What it throws rolls transaction 2 back and leaves the intent open. Nested
 * fields are read in transaction 2, so they cannot ask other services. Source: architecture 3, conventions 8.
 */
export const TwoPhase =
  (phases: TwoPhases<any, any>): MethodDecorator =>
  (_target, name) =>
    void declared.set(String(name), phases);

export const twoPhasesOf = (field: string): TwoPhases<unknown, unknown> | undefined => declared.get(field);
