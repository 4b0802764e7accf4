import type { Handler } from './consumer.js';
import type { EventDefinition } from './define.js';
import { systemNow, timeOfId, type Envelope } from './envelope.js';
import type { Failure } from './failure.js';
import { isOpenAt } from './payload.js';
import type { Delivery } from './transport/port.js';

export type HandlerTable<Ctx> = ReadonlyMap<string, { definition: EventDefinition; run: Handler<Ctx> }>;

export type DeadReason = 'schema_invalid' | 'handler_error' | 'permanent' | 'crash_loop' | 'too_old' | 'unknown_type';

/** Why an event cannot be handled. `retrying` has a time, the others wait for an operator. */
export interface Verdict {
  status: 'dead' | 'retrying';
  reason: DeadReason;
  failure?: Failure;
}

/** Inbox rows are kept 35 days; an older event could not be recognised as handled. Source: event-machinery 7. */
const INBOX_MS = 35 * 86_400_000;

export const dead = (reason: DeadReason, failure?: Failure): Verdict => ({ status: 'dead', reason, ...(failure && { failure }) });

/** What is wrong with an event before any handler runs; null when it can run. */
export function refusalOf<Ctx>({ event, malformed }: Pick<Delivery, 'event' | 'malformed'>, handlers: HandlerTable<Ctx>): Verdict | null {
  if (malformed) return dead('schema_invalid', { errorClass: 'Malformed', errorMessage: malformed, permanent: true });
  if (timeOfId(event.id) < systemNow() - INBOX_MS) return dead('too_old');
  const known = handlers.get(event.type);
  return known ? invalid(known.definition, event) : dead('unknown_type');
}

/** A missing key or wrong type is refused; keys and values of open enums that this version does not know pass, so a newer emitter is no poison. */
function invalid({ schema, user }: EventDefinition, event: Envelope): Verdict | null {
  const newer = ({ code, path }: { code: string; path: PropertyKey[] }): boolean =>
    code === 'unrecognized_keys' || (code === 'invalid_value' && isOpenAt(schema, path));
  const issues = (schema.safeParse(event.data).error?.issues ?? []).filter(issue => !newer(issue));
  const problems = issues.map(issue => `/data/${issue.path.join('/')} (${issue.code})`);
  if (user === 'required' && !event.user_id) problems.push('/user_id (missing)');
  if (problems.length === 0) return null;
  return dead('schema_invalid', { errorClass: 'SchemaInvalid', errorMessage: problems.join(', ').slice(0, 500), permanent: true });
}
