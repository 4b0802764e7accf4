import { get, post, type Exceptions, type Route } from '../../route.js';
import { aBrand, aDraw, aPatient, CYCLE, INTERVENTION, SWEEP } from './selections.js';

const RUNS = { 409: 'It runs already' };
const PROTOCOL_EXAMPLE = { kind: 'protocol', key: 'lipid_reset', started_on: '2026-08-01', time_zone: 'Europe/Berlin' };

const change = (action: string, summary: string, exceptions?: Exceptions): Route =>
  post(`/v1/protocols/{id}/${action}`, 'changeIntervention', INTERVENTION, summary, {
    as: `${action}Intervention`,
    constant: { action: action.toUpperCase() },
    problems: { 409: 'The intervention is in another state' },
    ...exceptions,
  });

const interventions: Route[] = [
  get('/v1/protocols', 'interventions', INTERVENTION, "List a patient's protocols and stacks"),
  get('/v1/protocols/me', 'myInterventions', INTERVENTION, 'List own protocols and stacks'),
  post('/v1/protocols', 'startIntervention', INTERVENTION, 'Start a protocol or stack for a patient', {
    status: 201,
    problems: RUNS,
    example: { request: { user_id: aPatient, ...PROTOCOL_EXAMPLE } },
  }),
  post('/v1/protocols/me', 'startIntervention', INTERVENTION, 'Start an own protocol or stack', {
    as: 'startMyIntervention',
    status: 201,
    problems: RUNS,
    example: { request: PROTOCOL_EXAMPLE },
  }),
  change('activate', 'Activate a proposed intervention', { body: false }),
  change('pause', 'Pause an intervention', { body: false }),
  change('resume', 'Resume a paused intervention', { body: false }),
  change('stop', 'Stop an intervention'),
  change('complete', 'Complete an intervention', { body: false }),
];

const STATS = `retestRate counts { baselineSet prompted retested expired } closed averageDaysToRetest organicRetested promptedRetested
  lateFollowUps computedAt`;

const cycles: Route[] = [
  post('/v1/retest-cycles', 'startRetestCycle', CYCLE, 'Start a re-test cycle', {
    status: [201, 200],
    problems: {
      403: 'feature.clinical.retest-cycle is off',
      404: 'No such observation or intervention of this patient',
      409: 'The intervention is not active',
    },
    example: {
      request: {
        patient_id: aPatient,
        code: 'ldl_c',
        baseline: { draw_id: aDraw, collected_at: '2026-08-01T08:00:00.000Z', value: 160, unit: 'mg/dL', performer: 'lab_a' },
        intervention: { kind: 'protocol', key: 'lipid_reset' },
        window_days: 90,
        grace_days: 30,
        brand_id: aBrand,
        target: { high: 100 },
      },
    },
  }),
  get('/v1/retest-cycles', 'retestCycles', CYCLE, 'List re-test cycles'),
  get('/v1/retest-cycles/me', 'myRetestCycles', CYCLE, 'List own re-test cycles'),
  get('/v1/retest-cycles/stats', 'retestStats', STATS, 'Read the re-test rate; aggregates only', {
    problems: { 403: 'A member gave a filter' },
  }),
  post('/v1/retest-cycles/sweep', 'sweepRetestCycles', SWEEP, 'Run the re-test sweep now', { problems: { 409: 'A sweep is running' } }),
  get('/v1/retest-cycles/sweeps', 'retestSweeps', SWEEP, 'List sweeps'),
  get('/v1/retest-cycles/{id}', 'retestCycle', CYCLE, 'Read a re-test cycle'),
];

export default [...interventions, ...cycles];
