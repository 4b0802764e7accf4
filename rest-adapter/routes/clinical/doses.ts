import { get, post, type Route } from '../../route.js';
import { aPatient, CHECK_IN, DOSE, VIAL } from './selections.js';

const VIAL_EXAMPLE = { product_code: 'fibre_pack', expires_on: '2099-12-31', doses_planned: 12 };

const checkIns: Route[] = [
  get('/v1/check-ins/me', 'myCheckIns', CHECK_IN, 'List own check-ins'),
  post('/v1/check-ins/{id}/submit', 'submitCheckIn', CHECK_IN, 'Answer a check-in, or skip it', {
    problems: { 409: 'It is not due' },
    example: { request: { answers: { energy: 7, sleep: 6, side_effects: 0 } } },
  }),
];

const vials: Route[] = [
  get('/v1/vials/me', 'myVials', VIAL, 'List own vials'),
  get('/v1/vials', 'vials', VIAL, "List a patient's vials"),
  post('/v1/vials/me', 'createVial', VIAL, 'Register an own vial', {
    as: 'createMyVial',
    status: 201,
    example: { request: VIAL_EXAMPLE },
  }),
  post('/v1/vials', 'createVial', VIAL, "Register a patient's vial", {
    status: 201,
    example: { request: { user_id: aPatient, ...VIAL_EXAMPLE } },
  }),
  post('/v1/vials/{id}/reconstitute', 'reconstituteVial', VIAL, 'Begin to use a vial', { problems: { 409: 'It is not new' } }),
  post('/v1/vials/{id}/discard', 'discardVial', VIAL, 'Discard a vial', {
    problems: { 409: 'It is discarded' },
    example: { request: { reason: 'damaged' } },
  }),
];

const doses: Route[] = [
  get('/v1/doses/me', 'myDoses', DOSE, 'List own doses'),
  get('/v1/doses', 'doses', DOSE, 'List doses of patients', { query: { user_id: 'userIds' } }),
  post('/v1/doses/{id}/log', 'logDose', DOSE, 'Note that a dose was taken or skipped', {
    problems: { 409: 'It was logged otherwise, or lies too far back' },
    example: { request: { status: 'taken' } },
  }),
];

export default [...checkIns, ...vials, ...doses];
