import type { Violation } from '../../../runtime/errors.js';
import type { FlagCondition, FlagSnapshot } from '../../../runtime/flags.js';

/** What a user may say about its own evaluation; the rest is known from the token and entitlements. Source: platform 4. */
const SAID_BY_USERS = ['locale', 'appVersion'];

/** Attributes that a user token may not set. */
export const attributeViolations = (attributes: Readonly<Record<string, unknown>>): Violation[] =>
  Object.keys(attributes)
    .filter(name => attributes[name] != null && !SAID_BY_USERS.includes(name))
    .map(name => ({ pointer: `/input/attributes/${name}`, message: 'may be set by a service only' }));

/** Whether the value of one of the flags may depend on an attribute, by a rule of its own or of a prerequisite. */
export function dependOn({ flags }: FlagSnapshot, keys: readonly string[], attribute: FlagCondition['attribute']): boolean {
  const reached = new Set(keys); // grows while it is walked; a cycle of prerequisites ends it
  for (const key of reached) {
    const flag = flags.get(key);
    if (flag?.rules.some(({ conditions }) => conditions.some(one => one.attribute === attribute))) return true;
    for (const prerequisite of flag?.prerequisites ?? []) reached.add(prerequisite.key);
  }
  return false;
}
