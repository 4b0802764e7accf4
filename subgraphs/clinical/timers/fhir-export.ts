import { MINUTE_MS } from '../../../runtime/time/durations.js';
import { makeExport } from '../commands/fhir-export.js';
import { FhirExport } from '../entities/fhir-export.js';
import { leasedRows } from '../../../runtime/time/leased-rows.js';

/** Makes exports, and deletes those whose time is over. Source: clinical 4, FHIR export. */
export const exportTimer = leasedRows({
  name: 'fhir_export',
  everySeconds: 2,
  entity: FhirExport,
  due: 'dueAt',
  waiting: "status = 'running'",
  ended: "status <> 'running'",
  sets: 'attempts = attempts + 1',
  most: 1,
  leaseMs: 2 * MINUTE_MS,
  work: makeExport,
});
