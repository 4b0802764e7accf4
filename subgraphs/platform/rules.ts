import { domainToASCII } from 'node:url';
import type { Violation } from '../../runtime/errors.js';
import { FlagConditionAttribute, type FlagCondition } from './entities/flag.js';

const HOST = /^[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63})+$/;
const MAX_HOST = 253;

/** A host as it is stored: lower-case A-label, no trailing dot, no port; null for what is no host name. */
export function storedHost(host: string): string | null {
  if (/[:/@?#\\%]/.test(host)) return null;
  const ascii = domainToASCII(host.replace(/\.$/, ''));
  return ascii.length <= MAX_HOST && HOST.test(ascii) ? ascii : null;
}

/** What a user may say about its own evaluation; the rest is known from the token and entitlements. Source: platform 4. */
const SAID_BY_USERS = ['locale', 'appVersion'];

/** Attributes that a user token may not set. */
export const attributeViolations = (attributes: Readonly<Record<string, unknown>>): Violation[] =>
  Object.keys(attributes)
    .filter(name => attributes[name] != null && !SAID_BY_USERS.includes(name))
    .map(name => ({ pointer: `/input/attributes/${name}`, message: 'may be set by a service only' }));

/** Conditions without a user: an emptied list stays, because a rule without its condition would hold for everybody. */
export const withoutUser = (conditions: readonly FlagCondition[], userId: string): FlagCondition[] =>
  conditions.map(condition =>
    condition.attribute === FlagConditionAttribute.USER
      ? { ...condition, values: condition.values.filter(value => value !== userId) }
      : condition,
  );

/** What stands for an erased user in change records. */
const ERASED = 'erased';

/** A JSON value with every mention of a user's id blotted out, inside longer texts (`staff:<id>`) too. */
export function blotted<Value>(value: Value, userId: string): Value {
  return JSON.parse(JSON.stringify(value).replaceAll(userId, ERASED)) as Value;
}
