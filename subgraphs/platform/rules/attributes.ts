import type { Violation } from '../../../runtime/request/errors.js';

/** Attributes of an evaluation that a user token sets itself; the rest is known from the token and entitlements. Source: platform 4. */
export const OWN_ATTRIBUTES: readonly string[] = ['locale', 'appVersion'];

/** Attributes that a user token may not set. */
export const attributeViolations = (attributes: Readonly<Record<string, unknown>>): Violation[] =>
  Object.keys(attributes)
    .filter(name => attributes[name] != null && !OWN_ATTRIBUTES.includes(name))
    .map(name => ({ pointer: `/input/attributes/${name}`, message: 'may be set by a service only' }));
