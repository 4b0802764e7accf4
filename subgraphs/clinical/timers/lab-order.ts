import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { askLabs } from '../commands/lab-order.js';
import { LabOrderProgress } from '../entities/lab-order.js';
import { leasedRows } from '../../../runtime/time/leased-rows.js';

/** Asks labs what is measured for an order: its event's handler must not wait. Source: clinical 5. */
export const labOrderTimer = leasedRows({
  name: 'lab_order.ask',
  everySeconds: 5,
  entity: LabOrderProgress,
  due: 'askAt',
  waiting: 'ask_at is not null',
  most: 20,
  leaseMs: MINUTE_MS,
  work: askLabs,
});
