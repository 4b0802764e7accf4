import type { TransitionTable } from '../../runtime/request/states.js';
import { DAY_MS } from '../../runtime/time/durations.js';
import type { ConsumerStatus, DeadLetterStatus, EventReplayStatus, HandlingStatus } from './entities/enums.js';

export type ConsumerTrigger = 'pause' | 'resume' | 'detach' | 'attach';

/** What operators may do to a consumer. Source: events 3. */
export const CONSUMER_STATES = {
  active: { pause: 'paused', detach: 'detached' },
  paused: { resume: 'active', detach: 'detached' },
  detached: { attach: 'active' },
} as const satisfies TransitionTable<ConsumerStatus, ConsumerTrigger>;

/** What operators may do to a replay; the machinery runs it. Source: events 3. */
export const REPLAY_STATES = {
  pending: { cancel: 'cancelled' },
  running: { cancel: 'cancelled' },
  completed: {},
  failed: {},
  cancelled: {},
} as const satisfies TransitionTable<EventReplayStatus, 'cancel'>;

/** How long consumers remember what they have handled, ms: the inbox is kept 35 days. Source: event-machinery 7. */
const REMEMBERED_MS = 35 * DAY_MS;

/** What is known of an event at a consumer. */
export interface KnownOfConsumer {
  /** Its last dead letter there. */
  letter: { status: DeadLetterStatus; at: Date } | undefined;
  handledAt: Date | null;
  /** When the consumer began; null for one that does not take the type any more. */
  since: Date | null;
}

/** By its last letter; a discarded one was never handled. A resolved one stands in the inbox, too. */
const STATUS_OF_LETTER = {
  retrying: 'retrying',
  dead: 'dead',
  parked: 'parked',
  discarded: 'dead',
  resolved: 'handled',
} as const satisfies Record<DeadLetterStatus, HandlingStatus>;

/**
 * What became of an event at a consumer. An open letter comes before the inbox: a replay may have failed after the first handling.
 * @param event when it was made and relayed, both by the system clock
 */
export function handlingOf(
  { made, publishedAt }: { made: Date; publishedAt: Date | null },
  { letter, handledAt, since }: KnownOfConsumer,
  now: Date,
): { status: HandlingStatus; at: Date | null } {
  if (letter && letter.status !== 'resolved' && letter.status !== 'discarded')
    return { status: STATUS_OF_LETTER[letter.status], at: letter.at };
  if (handledAt) return { status: 'handled', at: handledAt };
  if (letter) return { status: STATUS_OF_LETTER[letter.status], at: letter.at };
  if (now.getTime() - made.getTime() > REMEMBERED_MS) return { status: 'unknown', at: null };
  if (since === null || (publishedAt !== null && publishedAt < since)) return { status: 'not_subscribed', at: null };
  return { status: 'pending', at: null };
}

/** Something that is reported to developers. `key` is the consumer, where it is about one. */
export interface Alarm {
  kind: 'unpublished' | 'consumer_lag' | 'roundtrip' | 'dead_letter' | 'out_of_order';
  key: string;
  params: Readonly<Record<string, number | string>>;
}

/** Source: events 5, alarms. */
const MOST = { unpublishedSeconds: 60, lagSeconds: 300, roundtripMs: 2_000 } as const;

/** Which lasting conditions of the bus are alarms. */
export function alarmsOf(bus: {
  unpublishedSeconds: number;
  /** Why the oldest waits, such as the queue that does not confirm; null where nothing is known. */
  cause: string | null;
  lags: ReadonlyMap<string, number>;
  roundtripP95Ms: number | null;
}): Alarm[] {
  const { unpublishedSeconds, cause, lags, roundtripP95Ms } = bus;
  const slow = [...lags].filter(([, seconds]) => seconds > MOST.lagSeconds);
  return [
    ...(unpublishedSeconds > MOST.unpublishedSeconds
      ? [{ kind: 'unpublished' as const, key: '', params: { seconds: Math.round(unpublishedSeconds), ...(cause && { cause }) } }]
      : []),
    ...slow.map(([key, seconds]) => ({ kind: 'consumer_lag' as const, key, params: { seconds: Math.round(seconds) } })),
    ...(roundtripP95Ms !== null && roundtripP95Ms > MOST.roundtripMs
      ? [{ kind: 'roundtrip' as const, key: '', params: { p95_ms: Math.round(roundtripP95Ms) } }]
      : []),
  ];
}
