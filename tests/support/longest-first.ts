import { createHash } from 'node:crypto';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, seconds on an idle machine of two cores: begun last, one of them alone would hold up the end of the run. */
const LONGEST = [
  'tests/events/processes',
  'tests/journeys/separate-processes',
  'tests/clinical/reports',
  'tests/jobs/crash',
  'tests/webhooks/takeover',
  'tests/events/transports',
  'tests/rest-adapter/openapi-lint',
  'tests/journeys/retest-cycle',
  'tests/jobs/policies',
  'tests/journeys/tracing',
  'tests/workflow/crash',
  'tests/events/conformance',
  'tests/toolchain/embedded-postgres',
  'tests/identity/real-browser',
  'tests/house/access',
  'tests/toolchain/readme',
  'tests/events/service-attach',
];

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = LONGEST.findIndex(name => moduleId.includes(name));
  return rank < 0 ? LONGEST.length : rank;
};

/** Place in the order of this run. */
const placeOf = (rank: number): number => (process.env.TEST_BESIDE === 'on' && rank < LONGEST.length ? LONGEST.length - 1 - rank : rank);

/** Where a file stands in the order of a seed. */
const lotOf = ({ moduleId }: TestSpecification, seed: string): string =>
  createHash('sha256')
    .update(`${seed} ${moduleId.replace(/^.*\/tests\//, '')}`)
    .digest('hex');

/**
 * The longest files first, the others as vitest orders them; with `TEST_ORDER=<seed>` any order, the same for the same seed. A run beside
 * another (`TEST_BESIDE=on`) has the longest the other way round, so that both do not begin with the files that start most processes.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const seed = process.env.TEST_ORDER;
    if (seed) return sorted.toSorted((a, b) => (lotOf(a, seed) < lotOf(b, seed) ? -1 : 1));
    return sorted.toSorted((a, b) => placeOf(rankOf(a)) - placeOf(rankOf(b)));
  }
}
