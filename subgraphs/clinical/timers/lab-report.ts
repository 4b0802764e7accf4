import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { readReport } from '../commands/report-reading.js';
import { LabReport } from '../entities/lab-report.js';
import { leasedRows } from '../../../runtime/time/leased-rows.js';

/** Reads reports, in the service's own thread of a parser. Source: clinical 4.2. */
export const reportTimer = leasedRows({
  name: 'lab_report.parse',
  everySeconds: 2,
  entity: LabReport,
  due: 'dueAt',
  waiting: 'due_at is not null',
  most: 5,
  leaseMs: 2 * MINUTE_MS,
  work: readReport,
});
