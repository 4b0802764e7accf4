/**
 * Goals of the clinical service, section 7.3.9: a list of 100 results with their ranges, a bundle of 200 results stored, and the direction
 * of a change. The platform runs on embedded PostgreSQL; requests come one after the other. Exits with 1 when a goal is missed.
 * The sweep's goals are measured by `npm run bench:sweep`.
 *
 *   npm run bench:clinical
 */
import { randomUUID } from 'node:crypto';
import { BiomarkerDirection, BiomarkerNoiseModel } from '../dist/subgraphs/clinical/entities/biomarker.js';
import { compare } from '../dist/subgraphs/clinical/rules/direction.js';
import { clientOf, judge, judgeTimes, startPlatform, timesOf, WARM_UP, withServer } from './one-service.mjs';

const BUNDLES = 60;
const LISTS = 300;
const COMPARISONS = 2_000_000;
const DAY_MS = 86_400_000;
const MARKERS = [
  ['ldl_c', 'mg/dL', 118.4],
  ['tsh', 'm[IU]/L', 2.1],
  ['hba1c', '%', 5.4],
  ['vitamin_d_25oh', 'ng/mL', 41],
];

/** Two hundred final results of one patient, of four markers on fifty days. */
const bundle = patient => ({
  user_id: patient,
  observations: Array.from({ length: 200 }, (_, at) => {
    const [code, unit, value] = MARKERS[at % MARKERS.length];
    const day = Math.floor(at / MARKERS.length);
    const collected = new Date(Date.now() - (day + 1) * DAY_MS).toISOString();
    return {
      code,
      unit,
      value: value + day / 100,
      collected_at: collected,
      draw_id: randomUUID(),
      source: 'lab',
      performer: 'lab_a',
      source_ref: `lab_a:${randomUUID()}`,
      status: 'final',
    };
  }),
});

const NOISE = { model: BiomarkerNoiseModel.LOG_NORMAL, z: 1.645, cvAnalytical: 0.04, cvAnalyticalBetween: 0.08, cvWithin: 0.083, sd: null };

/** Directions per second, of changes on both sides of the noise limit. */
function directionsPerSecond() {
  const comparison = { direction: BiomarkerDirection.LOWER_IS_BETTER, noise: NOISE, target: { low: null, high: 100 }, otherLab: false };
  const began = performance.now();
  for (let at = 0; at < COMPARISONS; at++)
    compare({ ...comparison, baseline: { value: 160, comparator: null }, followUp: { value: 100 + (at % 120), comparator: null } });
  return COMPARISONS / ((performance.now() - began) / 1000);
}

await withServer('clinical', async (url, folder) => {
  const call = await clientOf(await startPlatform(url, folder, 'clinical'), '/clinical');
  const patients = Array.from({ length: WARM_UP + BUNDLES }, () => randomUUID());
  judgeTimes('200 results stored', await timesOf(BUNDLES, at => call('/v1/biomarkers', bundle(patients[at]))), 300);
  const listed = await timesOf(LISTS, async at => {
    const { data } = await call(`/v1/biomarkers?user_id=${patients[at % patients.length]}&limit=100`);
    if (data.length !== 100 || !data[0].applied_range) throw new Error(`no list of 100 with ranges: ${JSON.stringify(data[0])}`);
  });
  judgeTimes('100 results with ranges read', listed, 40);
  const directions = directionsPerSecond();
  judge('directions of change per second', directions.toFixed(0), '≥ 200,000', directions >= 200_000);
});
