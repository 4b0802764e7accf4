/** Features of the federation in which gateways differ, each with subgraphs of its own. */
import { beforeAll, describe, expect, test } from 'vitest';
import { startSuite, type AnswerOfSuite } from './federation/suite.js';
import { MORE_SUITES } from './federation/more-suites.js';
import { SUITES } from './federation/suites.js';

describe.each([...SUITES, ...MORE_SUITES])('$name', suite => {
  let run: (query: string, variables?: Record<string, unknown>) => Promise<AnswerOfSuite>;
  beforeAll(async () => {
    run = await startSuite(suite);
  });

  test.each(suite.queries)('$query', async ({ query, variables, data, errors = false, refused }) => {
    const answer = await run(query, variables);
    if (refused) {
      expect(answer.errors[0]).toMatchObject({ message: expect.stringMatching(refused), extensions: { code: 'BAD_REQUEST' } });
      expect(Object.values(answer.asked).flat()).toEqual([]);
    } else expect(answer.errors.length > 0, JSON.stringify(answer.errors)).toBe(errors);
    expect(answer.data).toEqual(data);
  });
});
