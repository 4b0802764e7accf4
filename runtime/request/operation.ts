import type { Context } from './context.js';

/**
 * Facts found out before a transaction begins, for example by asking other services: `run` is called by the machinery of
 * mutations (`@Prepare`) and of consumers (`prepare`), `of` gives its answer, typed, to the work inside the transaction.
 */
export interface Preparation<Asked, Facts> {
  readonly run: (ctx: Context, asked: Asked) => Promise<Prepared<Facts>>;
  /** @throws Error where the running work was not prepared by this. */
  of(ctx: Pick<Context, 'facts'>): Facts;
}

/** Facts with the preparation that found them, which alone reads them. */
class Prepared<Facts> {
  constructor(
    readonly by: object,
    readonly facts: Facts,
  ) {}
}

/** Declares what is to be found out before a transaction: `const patient = preparation(async (ctx, { input }: { input: StartInput }) => ...)`. */
export function preparation<Asked, Facts>(find: (ctx: Context, asked: Asked) => Promise<Facts>): Preparation<Asked, Facts> {
  const key = {};
  return {
    run: async (ctx, asked) => new Prepared(key, await find(ctx, asked)),
    of({ facts: known }) {
      if (!(known instanceof Prepared) || known.by !== key) throw new Error('this work was not prepared');
      return known.facts as Facts;
    },
  };
}

/** Arguments of a mutation; their types are those of its input classes. */
type Prepares = Preparation<any, any>;
type Find = (ctx: Context, args: any) => Promise<unknown>;

/** Root fields have one namespace over all services (conventions 2), so their names suffice as keys. */
const preparations = new Map<string, Find>();
const ownTransactions = new Map<string, string>();

/** Runs after access and validation and before the transaction. Source: architecture 3. */
export const Prepare =
  (work: Prepares | Find): MethodDecorator =>
  (_target, name) =>
    void preparations.set(String(name), typeof work === 'function' ? work : work.run);

/**
 * The mutation opens its own transactions (`host.transaction`), which do not claim its `Idempotency-Key`: `repeat` says why running it
 * again is harmless. One that asks an outside processor for what must not happen twice is `@TwoPhase`.
 */
export const OwnTransactions =
  (repeat: string): MethodDecorator =>
  (_target, name) =>
    void ownTransactions.set(String(name), repeat);

export const preparationOf = (field: string): Find | undefined => preparations.get(field);
export const opensOwnTransactions = (field: string): boolean => ownTransactions.has(field);

/** Why a repeat of each mutation with its own transactions is harmless. */
export const harmlessRepeats = (): ReadonlyMap<string, string> => ownTransactions;
