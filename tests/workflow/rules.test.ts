import { describe, expect, test } from 'vitest';
import { move } from '../../runtime/request/states.js';
import { WorkflowRunStatus, WorkflowTaskStatus } from '../../subgraphs/workflow/entities/enums.js';
import { deadlineOf, runIdOf } from '../../subgraphs/workflow/rules/run.js';
import { RUN_STATES, TASK_STATES } from '../../subgraphs/workflow/rules/states.js';

describe('states', () => {
  const run = ['start', 'wait', 'wake', 'succeed', 'fail', 'cancel', 'resume', 'signal'] as const;
  const task = ['claim', 'release', 'complete', 'expire', 'cancel'] as const;
  const allowed = {
    run: [
      'pending start running',
      'pending cancel cancelled',
      'pending signal pending',
      'running wait waiting',
      'running succeed succeeded',
      'running fail failed',
      'running cancel cancelled',
      'running signal running',
      'waiting wake running',
      'waiting succeed succeeded',
      'waiting fail failed',
      'waiting cancel cancelled',
      'waiting signal waiting',
      'failed resume pending',
      'cancelled resume pending',
    ],
    task: [
      'open claim claimed',
      'open complete completed',
      'open expire expired',
      'open cancel cancelled',
      'claimed release open',
      'claimed complete completed',
      'claimed expire expired',
      'claimed cancel cancelled',
    ],
  };
  const pairs = [
    ...Object.values(WorkflowRunStatus).flatMap(state => run.map(trigger => ['run', RUN_STATES, state, trigger] as const)),
    ...Object.values(WorkflowTaskStatus).flatMap(state => task.map(trigger => ['task', TASK_STATES, state, trigger] as const)),
  ];

  test.each(pairs)('a %s, %o: %s, %s', (thing, table, state, trigger) => {
    const next = allowed[thing].find(one => one.startsWith(`${state} ${trigger} `))?.split(' ')[2];
    const go = () => move(table as never, thing, state as never, trigger as never);
    if (next) expect(go()).toBe(next);
    else expect(go).toThrow(/that is .* cannot/);
  });
});

describe('a run', () => {
  test('has one id for its definition and key, and another for every other pair', () => {
    const ids = [runIdOf('a', 'b'), runIdOf('a', 'c'), runIdOf('ab', ''), runIdOf('b', 'a')];
    expect(runIdOf('a', 'b')).toBe(ids[0]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('fails so many days after it begins', () =>
    expect(deadlineOf({ timeoutDays: 30 }, new Date('2026-03-01T00:00:00Z'))).toEqual(new Date('2026-03-31T00:00:00Z')));
});
