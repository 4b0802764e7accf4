/** Features of the federation in which gateways differ, each with subgraphs of its own. */
import { beforeAll, describe, expect, test } from 'vitest';
import { startSuite, type AnswerOfSuite } from './federation/suite.js';
import { SUITES } from './federation/suites.js';

describe.each(SUITES)('$name', suite => {
  let run: (query: string, variables?: Record<string, unknown>) => Promise<AnswerOfSuite>;
  beforeAll(async () => {
    run = await startSuite(suite);
  });

  test.each(suite.queries)('$query', async ({ query, variables, data, errors = false }) => {
    const answer = await run(query, variables);
    expect(answer.errors.length > 0, JSON.stringify(answer.errors)).toBe(errors);
    expect(answer.data).toEqual(data);
  });
});
