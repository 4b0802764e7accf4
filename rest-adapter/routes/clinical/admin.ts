import { body, type Route } from '../../route.js';

export const ADMIN: Route[] = [
  {
    method: 'POST',
    path: '/v1/admin/erasure',
    status: [200],
    summary: "Delete a patient's clinical record",
    document:
      'mutation EraseClinicalRecord($input: EraseClinicalRecordInput!) { result: eraseClinicalRecord(input: $input) { patientId outcome records basis } }',
    variables: { input: body() },
  },
  {
    method: 'POST',
    path: '/v1/admin/test-clock',
    status: [200],
    summary: 'Move the manual clock (development and tests)',
    document: 'mutation SetClinicalClock($input: SetClockInput!) { result: setClinicalClock(input: $input) { now } }',
    variables: { input: body() },
  },
  {
    method: 'POST',
    path: '/v1/admin/test-flags',
    status: [200],
    summary: 'Override a flag (development and tests)',
    document: 'mutation SetClinicalTestFlags($input: SetTestFlagInput!) { result: setClinicalTestFlags(input: $input) { key value } }',
    variables: { input: body() },
  },
  {
    method: 'POST',
    path: '/v1/admin/test-faults',
    status: [200],
    summary: 'Inject a fault (development and tests)',
    document: 'mutation SetClinicalTestFault($input: SetTestFaultInput!) { result: setClinicalTestFault(input: $input) { point times } }',
    variables: { input: body() },
  },
];
