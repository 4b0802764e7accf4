import { CATALOGUE } from '../../../events/catalogue.js';
import type { EventDefinition } from '../../../events/define.js';
import { MAX_DATA_BYTES } from '../../../events/outbox.js';
import { adminScopeOf } from '../../../events/slugs.js';
import type { Caller } from '../../../runtime/request/caller.js';
import { fail, type Violation, requireValid } from '../../../runtime/request/errors.js';
import { isUuid } from '../../../runtime/data/ids.js';
import type { PublishEventInput } from '../inputs/publish.js';

/** An input whose type is known and may be published. */
export interface Publication {
  event: EventDefinition;
  input: PublishEventInput;
}

/** Who publishes in the name of a service holds that service's admin scope. @throws Problem insufficient_scope naming the first that is missing. */
function requireOwnersScopes(caller: Caller, inputs: readonly PublishEventInput[]): void {
  const owners = inputs.flatMap(({ type }) => CATALOGUE.get(type)?.owner ?? []);
  const missing = owners.map(adminScopeOf).find(scope => !caller.scopes.has(scope));
  if (missing) fail('insufficient_scope', `The token lacks ${missing}`, { scope: missing });
}

/** @throws Problem payload_too_large. */
function requireSmallData(inputs: readonly PublishEventInput[]): void {
  if (inputs.some(({ data }) => Buffer.byteLength(JSON.stringify(data)) > MAX_DATA_BYTES))
    fail('payload_too_large', `data has at most ${MAX_DATA_BYTES} bytes of JSON`);
}

/** Everything that is wrong with an input; pointers begin with `at`. Messages name rules, never values. */
function violationsOf(input: PublishEventInput, at: string, now: Date): Violation[] {
  const event = CATALOGUE.get(input.type);
  if (!event) return [{ pointer: `${at}/type`, message: 'is not an event type' }];
  return [
    ...typeViolations(event, now),
    ...userViolations(event, input),
    ...dataViolations(event, input.data),
    ...sourceViolations(event, input.source),
    ...(input.causationId != null && !isUuid(input.causationId) ? [{ pointer: '/causationId', message: 'is not an event id' }] : []),
  ].map(({ pointer, message }) => ({ pointer: at + pointer, message }));
}

function typeViolations({ deprecated }: EventDefinition, now: Date): Violation[] {
  if (!deprecated || new Date(deprecated.sunset) > now) return [];
  return [{ pointer: '/type', message: `is past its sunset; ${deprecated.replacedBy} replaces it` }];
}

function userViolations({ user }: EventDefinition, { userId, subject }: PublishEventInput): Violation[] {
  if (userId == null) return user === 'required' ? [{ pointer: '/userId', message: 'is required by this type' }] : [];
  return [
    ...(user === 'none' ? [{ pointer: '/userId', message: 'is refused by this type: it concerns no user' }] : []),
    ...(isUuid(userId) ? [] : [{ pointer: '/userId', message: 'must be a UUID' }]),
    ...(subject == null ? [] : [{ pointer: '/subject', message: 'is for events without a user' }]),
  ];
}

function dataViolations({ schema }: EventDefinition, data: unknown): Violation[] {
  const issues = schema.safeParse(data).error?.issues ?? [];
  return issues.flatMap(issue => {
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map(key => ({ pointer: pointerTo(...issue.path, key), message: 'is not a known key' }));
    return [{ pointer: pointerTo(...issue.path), message: issue.message }];
  });
}

/** Pointer to a part of the payload. */
const pointerTo = (...path: PropertyKey[]): string => ['/data', ...path.map(key => segment(String(key)))].join('/');

/** A key in a pointer (RFC 6901), cut so that a caller's long key does not come back whole. */
const segment = (key: string): string => key.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1');

function sourceViolations({ owner, emitters }: EventDefinition, source: string | null | undefined): Violation[] {
  if (source == null || source === owner || (emitters as readonly string[]).includes(source)) return [];
  return [{ pointer: '/source', message: 'is not a declared emitter of this type' }];
}

/** @throws Problem insufficient_scope, payload_too_large, or invalid_request with every violation. */
export function publicationsOf(
  inputs: readonly PublishEventInput[],
  at: (index: number) => string,
  caller: Caller,
  now: Date,
  keyViolations: readonly Violation[],
): Publication[] {
  requireOwnersScopes(caller, inputs);
  requireSmallData(inputs);
  requireValid([...keyViolations, ...inputs.flatMap((input, index) => violationsOf(input, at(index), now))]);
  return inputs.map(input => ({ event: CATALOGUE.get(input.type)!, input }));
}
