import type { Context } from './context.js';

/** Facts found out before the transaction begins, for example by asking other services. */
export type Prepare = (ctx: Context, args: any) => Promise<unknown>;

/** Root fields have one namespace over all services (conventions 2), so their names suffice as keys. */
const prepared = new Map<string, Prepare>();
const ownTransactions = new Set<string>();

/** Runs after access and validation and before the transaction; the resolver reads `ctx.facts`. Source: architecture 3. */
export const Prepare =
  (prepare: Prepare): MethodDecorator =>
  (_target, name) =>
    void prepared.set(String(name), prepare);

/** The mutation opens its own transactions (`host.transaction`): it waits for an outside processor or moves a clock. */
export const OwnTransactions = (): MethodDecorator => (_target, name) => void ownTransactions.add(String(name));

export const preparationOf = (field: string): Prepare | undefined => prepared.get(field);
export const opensOwnTransactions = (field: string): boolean => ownTransactions.has(field);
