const ends: (() => Promise<unknown>)[] = [];

/** Runs after the tests of the file, the last one first; may be called at any time, from a hook or a test too. */
export const atEnd = (end: () => Promise<unknown>): void => void ends.push(end);

/** Called by the set-up of every file, because vitest forgets an `afterAll` that is called inside a `beforeAll`. One that fails stops no other. */
export async function runEnds(): Promise<void> {
  const errors: unknown[] = [];
  for (const end of ends.splice(0).reverse())
    await Promise.resolve()
      .then(end)
      .catch(error => errors.push(error));
  if (errors.length > 0) throw errors.length === 1 ? errors[0] : new AggregateError(errors, errors.map(String).join('; '));
}
