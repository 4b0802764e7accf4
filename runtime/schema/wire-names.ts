/** Names between GraphQL and the wire: `camelCase` <-> `snake_case`, `SCREAMING_SNAKE` <-> `lower_snake`. Source: conventions 2. */

/** `_` before capitals only: `userId` -> `user_id`, `line1` -> `line1`, `rejected24h` -> `rejected24h`. */
export const toSnake = (name: string): string => name.replace(/[A-Z]/g, capital => `_${capital.toLowerCase()}`);

/** Inverse of {@link toSnake} for names that it made; `line_1` stays as it is, so it is no key of anything. */
export const toCamel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** `BASELINE_SET` -> `baseline_set`. */
export const toWireEnum = (value: string): string => value.toLowerCase();

/** `LoopProposal` -> `loop_proposal`, as `__typename` is shown. */
export const toWireType = (name: string): string => toSnake(name).replace(/^_/, '');
