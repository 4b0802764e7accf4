import type { RouteTable } from '../route.js';
import care from './clinical/care.js';
import doses from './clinical/doses.js';
import interventions from './clinical/interventions.js';
import observations from './clinical/observations.js';
import reports from './clinical/reports.js';

/** Routes of the clinical service. Source: contracts/clinical.md, section 4. */
const table: RouteTable = { service: 'clinical', routes: [...observations, ...interventions, ...care, ...doses, ...reports] };
export default table;
