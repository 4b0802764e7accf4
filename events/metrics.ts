import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Instruments of the event machinery. Source: event-machinery 11. */
export interface EventMetrics {
  appended: Counter<'type'>;
  unpublished: Gauge;
  oldestUnpublishedSeconds: Gauge;
  publishSeconds: Histogram;
  leaseHolder: Gauge<'group'>;
  handled: Counter<'consumer' | 'type' | 'outcome'>;
  lagSeconds: Gauge<'consumer'>;
  blockedKeys: Gauge<'consumer'>;
  deadLettersOpen: Gauge<'consumer' | 'reason'>;
  outOfOrder: Counter;
  roundtripSeconds: Histogram;
}

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

/** Registers the instruments; once per registry. */
export function createEventMetrics(registry: Registry): EventMetrics {
  const registers = [registry];
  return {
    appended: new Counter({
      name: 'events_appended_total',
      help: 'Committed events, counted when first relayed',
      labelNames: ['type'],
      registers,
    }),
    unpublished: new Gauge({ name: 'outbox_unpublished', help: 'Events in the log that are not relayed yet', registers }),
    oldestUnpublishedSeconds: new Gauge({
      name: 'outbox_oldest_unpublished_seconds',
      help: 'Age of the oldest event not relayed yet',
      registers,
    }),
    publishSeconds: new Histogram({
      name: 'relay_publish_seconds',
      help: 'Time to publish and confirm a batch',
      buckets: SECONDS,
      registers,
    }),
    leaseHolder: new Gauge({
      name: 'relay_lease_holder',
      help: '1 for the relay groups that this process holds',
      labelNames: ['group'],
      registers,
    }),
    handled: new Counter({
      name: 'consumer_handled_total',
      help: 'Deliveries settled by outcome',
      labelNames: ['consumer', 'type', 'outcome'],
      registers,
    }),
    lagSeconds: new Gauge({
      name: 'consumer_lag_seconds',
      help: 'Age of the oldest event in hand, 0 when none is',
      labelNames: ['consumer'],
      registers,
    }),
    blockedKeys: new Gauge({
      name: 'consumer_blocked_keys',
      help: 'Order keys that wait behind a dead letter',
      labelNames: ['consumer'],
      registers,
    }),
    deadLettersOpen: new Gauge({ name: 'dead_letters_open', help: 'Open dead letters', labelNames: ['consumer', 'reason'], registers }),
    outOfOrder: new Counter({
      name: 'events_out_of_order_total',
      help: 'Events handled after a later one of their key; must stay 0',
      registers,
    }),
    roundtripSeconds: new Histogram({
      name: 'bus_roundtrip_seconds',
      help: 'Emit to handler of platform.canary.v1',
      buckets: SECONDS,
      registers,
    }),
  };
}
