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
  'tests/events/service-attach',
];

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = LONGEST.findIndex(name => moduleId.includes(name));
  return rank < 0 ? LONGEST.length : rank;
};

/** The longest files first, the others as vitest orders them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
