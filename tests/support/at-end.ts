import { afterAll } from 'vitest';

const ends: (() => Promise<unknown>)[] = [];

/** Registered while the file is collected: vitest forgets an `afterAll` that is called inside a `beforeAll`. */
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Runs after the tests of the file, the last one first; may be called at any time, from a hook or a test too. */
export const atEnd = (end: () => Promise<unknown>): void => void ends.push(end);
