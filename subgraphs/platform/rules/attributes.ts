import type { Violation } from '../../../runtime/request/errors.js';

/** What a user may say about its own evaluation; the rest is known from the token and entitlements. Source: platform 4. */
const SAID_BY_USERS = ['locale', 'appVersion'];

/** Attributes that a user token may not set. */
export const attributeViolations = (attributes: Readonly<Record<string, unknown>>): Violation[] =>
  Object.keys(attributes)
    .filter(name => attributes[name] != null && !SAID_BY_USERS.includes(name))
    .map(name => ({ pointer: `/input/attributes/${name}`, message: 'may be set by a service only' }));
