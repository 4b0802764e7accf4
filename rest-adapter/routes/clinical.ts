import type { RouteTable } from '../route.js';
import { ADMIN } from './clinical/admin.js';
import { CARE } from './clinical/care.js';
import { CONSULTS } from './clinical/consults.js';
import { DICTIONARY } from './clinical/dictionary.js';
import { DOSES } from './clinical/doses.js';
import { FHIR } from './clinical/fhir.js';
import { INTERVENTIONS } from './clinical/interventions.js';
import { OBSERVATIONS } from './clinical/observations.js';
import { REPORTS } from './clinical/reports.js';
import { CYCLES } from './clinical/retest-cycles.js';

const table: RouteTable = {
  service: 'clinical',
  routes: [...DICTIONARY, ...OBSERVATIONS, ...INTERVENTIONS, ...CYCLES, ...CARE, ...CONSULTS, ...DOSES, ...REPORTS, ...FHIR, ...ADMIN],
};
export default table;
