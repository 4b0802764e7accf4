import type { Envelope, OutboxRow } from '../envelope.js';
import type { Pressure } from '../replay-pace.js';
import type { Slug } from '../slugs.js';

export type Partitions = 1 | 2 | 4 | 8 | 16 | 32 | 64;

/** What the broker must know of a consumer. */
export interface ConsumerSpec {
  /** `<service>.<what>`, `^[a-z-]+\.[a-z_]+$`. */
  name: `${Slug}.${string}`;
  types: readonly string[];
  partitions: Partitions;
  /** Grows when `partitions` changes. */
  generation: number;
  /** Whether a replay may run handlers again that have run before. */
  onReplay?: 'dedupe' | 'rerun';
  /** RFC 3339: a consumer that is new is fed with what occurred since; default: it begins with what comes. */
  startAt?: string | undefined;
}

/** Per event: the broker has it; refused it; has it, but nobody is bound to it; did not say so in time. */
export type PublishResult = 'confirmed' | 'nacked' | 'unroutable' | 'timeout';

/** `done`: the effect is committed, or was before. `parked`: it stands in the dead letters. Both are acknowledged. */
export type Settled = 'done' | 'parked';

/** One event for one consumer. */
export interface Delivery {
  event: Envelope;
  slot: number;
  /** Why the message is none of ours (its body or headers are broken); null when it is well-formed. */
  malformed: string | null;
  /** How often it was handed out before without being settled. */
  deliveries: number;
  /** It stands in `events.queue` and is taken in the handler's transaction. */
  queued: boolean;
  /** Sent by a replay that runs handlers again. */
  rerun: boolean;
  /** Its payload was erased after it was relayed; no handler can run. */
  erased: boolean;
  /** It will be delivered again, so a handler that has not begun need not begin. */
  stale(): boolean;
}

/** A consumption; it begins paused. Events that are not settled when it pauses or closes are delivered again, in order. */
export interface Subscription {
  /** Stops taking events until `resume`; the ones that wait are given back. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  close(): Promise<void>;
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** Hints beside the events: to every process, lossy, unordered, after the commit. Whoever listens must be right without them. */
export type Channel = 'auth.revocations' | 'entitlements.invalidate' | 'realtime' | 'cache' | 'jobs';

export interface HintSubscription {
  stop(): void;
}

export interface Depth {
  ready: number;
  /** In hand, in all processes. */
  unacked: number;
  /** When the oldest event that waits or is in hand was emitted; null when there is none. Events of replays do not count. */
  oldestAt: Date | null;
}

export interface Readiness {
  ok: boolean;
  /** Set when not ok; holds no address and no credential. */
  reason: string | null;
}

/** The replay that an event is sent by, and whether handlers that declare it run again. */
export interface ReplayMark {
  id: string;
  mode: 'dedupe' | 'rerun';
}

/** The relay's right to publish a group: checked again inside an atomic publish. */
export interface GroupLease {
  group: number;
  /** null: leases are off (two relays at once, in tests). */
  epoch: number | null;
}

/**
 * How events reach consumers. `AMQP_URL` set: RabbitMQ; not set: embedded. Both pass one conformance suite.
 * Source: event-machinery 2.
 */
export interface Transport {
  readonly kind: 'rabbitmq' | 'embedded';
  /** A batch is published as a whole or not at all, and `publish` also marks it published. */
  readonly atomic: boolean;
  /** Declares what the consumers need and registers them. Idempotent. */
  ensureTopology(consumers: readonly ConsumerSpec[]): Promise<void>;
  /** One result per row. @throws LeaseLost by an atomic transport whose group has a new holder. */
  publish(batch: readonly OutboxRow[], lease: GroupLease): Promise<PublishResult[]>;
  /**
   * Sends events of the log to one consumer again, in their order per key. All of them or, where it throws, some: sending them again does no harm.
   * @throws Error when the broker did not take one.
   */
  replay(consumer: ConsumerSpec, rows: readonly OutboxRow[], replay: ReplayMark): Promise<void>;
  /** What the consumer has before it, as it was after `since` (the database's clock); null while that is not known. */
  pressure(consumer: ConsumerSpec, since: Date | null): Promise<Pressure | null>;
  /** Whether a publish can succeed now; false while the broker is away or asks for a pause. */
  accepting(): boolean;
  /** Slots with a queue that does not answer: nothing of theirs is to be published now, all others go on. Absent where that cannot happen. */
  heldSlots?(): readonly number[];
  /** The queue that holds a slot back and what is wrong with it; null of a slot that is not held. */
  causeOfHold?(slot: number): string | null;
  /** Hands out events in order per key; `onMessage` settles each of them. A rejection leaves it unsettled. */
  consume(spec: ConsumerSpec, onMessage: (delivery: Delivery) => Promise<Settled>): Promise<Subscription>;
  /**
   * Removes what waits for a consumer, and its queues; it is marked as detached already, so nobody takes events for it any more.
   * Answers ids of events that waited, the oldest surely among them. @throws Error when the broker is away or a process still consumes.
   */
  detach(consumer: ConsumerSpec): Promise<readonly string[]>;
  /** What waits for consumers, in their order. */
  depths(consumers: readonly string[]): Promise<Depth[]>;
  hint(channel: Channel, key: string, body: Json): void;
  /** `key` `*` hears every key of the channel. */
  onHint(channel: Channel, key: string, listener: (body: Json, key: string) => void): HintSubscription;
  /** Events were committed: shortens the relay's wait. Lossy; the relay polls anyway. */
  wake(): void;
  /** @param isAlone whether nobody else needs to be woken, because all the work is the listener's. */
  onWake(listener: () => void, isAlone?: () => boolean): HintSubscription;
  /** Events that the broker itself gave up, to be filed before they are acknowledged; absent where that cannot happen. */
  onGivenUp?(file: (consumer: string, delivery: Delivery) => Promise<void>): Promise<Subscription>;
  /** Not ok when broker or queue poll is older than 10 s. */
  ready(): Readiness;
  close(options: { drainMs: number }): Promise<void>;
}

/** The lease of a relay group is with somebody else; nothing was published. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

/** Queue of a partition holds every slot that is congruent to it. */
export const partitionOf = (slot: number, partitions: number): number => slot % partitions;
