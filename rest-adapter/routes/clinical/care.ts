import { get, patch, post, type Route } from '../../route.js';
import { ALERT, aPatient, CONSULT, FLAG, SCORE } from './selections.js';

const FLAG_STATE = { 409: 'The flag is in another state' };
const CONSULT_EXAMPLE = { type: 'initial', intake_answers: { smoker: false } };

const flags: Route[] = [
  get('/v1/red-flags/me', 'myRedFlags', FLAG, 'List own red flags that are visible'),
  get('/v1/red-flags', 'redFlags', FLAG, 'List red flags'),
  post('/v1/red-flags/{id}/acknowledge', 'acknowledgeRedFlag', FLAG, 'Acknowledge a red flag', { problems: FLAG_STATE }),
  post('/v1/red-flags/{id}/resolve', 'resolveRedFlag', FLAG, 'Resolve a red flag', { problems: FLAG_STATE }),
  post('/v1/red-flags/{id}/dismiss', 'dismissRedFlag', FLAG, 'Dismiss a red flag', { problems: FLAG_STATE }),
];

const alerts: Route[] = [
  get('/v1/critical-alerts', 'criticalAlerts', ALERT, 'List critical alerts'),
  post('/v1/critical-alerts/{id}/acknowledge', 'acknowledgeCriticalAlert', ALERT, 'Acknowledge a critical alert', {
    problems: { 409: 'The alert is in another state' },
  }),
  post('/v1/critical-alerts/{id}/contact', 'recordCriticalAlertContact', ALERT, 'Note a try to reach the patient', {
    problems: { 409: 'The alert is closed' },
    example: { request: { outcome: 'left_message' } },
  }),
  post('/v1/critical-alerts/{id}/close', 'closeCriticalAlert', ALERT, 'Close a critical alert', {
    problems: { 409: 'The alert is not acknowledged' },
  }),
];

const scores: Route[] = [
  get('/v1/health-score/me', 'myHealthScore', SCORE, 'Read the own health score'),
  get('/v1/health-score', 'healthScore', SCORE, "Read a patient's health score"),
  get('/v1/health-score/me/history', 'healthScores', SCORE, 'List own health scores', { as: 'myHealthScores' }),
  get('/v1/health-score/history', 'healthScores', SCORE, "List a patient's health scores"),
  post('/v1/health-score/recompute', 'recomputeHealthScore', 'userId dueAt', "Compute a patient's health score anew", {
    status: 202,
    example: { request: { user_id: aPatient } },
  }),
];

const consults: Route[] = [
  get('/v1/consults/me', 'myConsults', CONSULT, 'List own consults'),
  get('/v1/consults', 'consults', CONSULT, 'List consults'),
  get('/v1/consults/{id}', 'consult', CONSULT, 'Read a consult'),
  post('/v1/consults', 'requestConsult', CONSULT, 'Ask for a consult of a patient', {
    status: 201,
    example: { request: { user_id: aPatient, ...CONSULT_EXAMPLE } },
  }),
  post('/v1/consults/me', 'requestConsult', CONSULT, 'Ask for an own consult', {
    as: 'requestMyConsult',
    status: 201,
    example: { request: CONSULT_EXAMPLE },
  }),
  patch('/v1/consults/{id}', 'updateConsult', CONSULT, 'Change a consult that is not signed', {
    problems: { 409: 'It is signed, or was changed meanwhile' },
  }),
  post('/v1/consults/{id}/sign', 'signConsult', CONSULT, 'Sign a consult', {
    problems: { 403: 'Not the assigned clinician', 409: 'It is in another state, or was changed meanwhile' },
  }),
  post('/v1/consults/{id}/addenda', 'addConsultAddendum', CONSULT, 'Add to a signed consult', {
    status: 201,
    location: '/v1/consults/{id}',
    problems: { 409: 'It is not signed' },
  }),
  post('/v1/consults/{id}/cancel', 'cancelConsult', CONSULT, 'Cancel a consult', { problems: { 409: 'It is signed or cancelled' } }),
];

export default [...flags, ...alerts, ...scores, ...consults];
