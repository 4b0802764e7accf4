import { CATALOGUE } from '../../../events/catalogue.js';
import type { Context } from '../../../runtime/request/context.js';
import { fail, type Violation } from '../../../runtime/request/errors.js';
import type { WebhookHeaderInput } from '../inputs/subscription.js';
import { settingsOf } from '../ports/settings.js';
import { clientViolation, typeViolation, type ClientFacts } from '../rules/filter.js';
import { urlViolation } from '../rules/url.js';
import { headerViolation } from '../rules/wire.js';

/** The parts of an input that are more than a bound. */
export interface Checked {
  url?: string | null;
  eventTypes?: readonly string[] | null;
  headers?: readonly WebhookHeaderInput[] | null;
}

function typeViolations(types: readonly string[], client: ClientFacts | null): Violation[] {
  return types.flatMap((type, index) => {
    const message = typeViolation(CATALOGUE.get(type), client);
    return message ? [{ pointer: `/input/eventTypes/${index}`, message }] : [];
  });
}

function headerViolations(headers: readonly WebhookHeaderInput[]): Violation[] {
  const names = headers.map(header => header.name.toLowerCase());
  return headers.flatMap((header, index) => {
    const wrong = headerViolation(header) ?? (names.indexOf(names[index]!) < index ? { field: 'name', message: 'is there twice' } : null);
    return wrong ? [{ pointer: `/input/headers/${index}/${wrong.field}`, message: wrong.message }] : [];
  });
}

/** Every violation of client, URL, event types and headers; of an unfit client's types, those that no client may have. Source: rules 14 and 15. */
function violationsOf(
  ctx: Context,
  { url, eventTypes, headers }: Checked,
  client: ClientFacts | null,
  unfit = clientViolation(client),
): Violation[] {
  const refusedUrl = url == null ? null : urlViolation(url, settingsOf(ctx.host).egress);
  return [
    ...(unfit ? [{ pointer: '/input/clientId', message: unfit }] : []),
    ...typeViolations(eventTypes ?? [], unfit ? null : client),
    ...(refusedUrl ? [{ pointer: '/input/url', message: refusedUrl }] : []),
    ...headerViolations(headers ?? []),
  ];
}

/** @throws Problem conflict listing why a subscription as it is stored may not be enabled. */
export function checkStored(ctx: Context, stored: Checked, client: ClientFacts | null): void {
  const errors = violationsOf(ctx, stored, client).map(({ pointer, message }) => ({ pointer: pointer.replace('/input', ''), message }));
  if (errors.length) fail('conflict', 'The client, the URL or an event type is not allowed any more', { reason: 'not_allowed', errors });
}

/** @throws Problem invalid_request listing every violation. */
export function checkSubscription(ctx: Context, input: Checked, client: ClientFacts | null): void {
  const errors = violationsOf(ctx, input, client);
  if (errors.length) fail('invalid_request', 'The subscription is invalid', { errors });
}

/** For an input that names no client where one must be named. @throws Problem invalid_request listing every violation. */
export const missingClient = (ctx: Context, input: Checked): never =>
  fail('invalid_request', 'The client is missing', { errors: violationsOf(ctx, input, null, 'is required') });

/** Fields of a merge patch that may be left out, but not be null. */
const NOT_NULL = ['name', 'url', 'eventTypes', 'timeoutMs', 'maxConcurrency', 'spread', 'headers', 'standardHeaders'] as const;

/** @throws Problem invalid_request for a null where there must be a value. */
export function checkNulls(input: Partial<Record<(typeof NOT_NULL)[number], unknown>>): void {
  const errors = NOT_NULL.filter(name => input[name] === null).map(name => ({ pointer: `/input/${name}`, message: 'must not be null' }));
  if (errors.length) fail('invalid_request', 'The subscription is invalid', { errors });
}
