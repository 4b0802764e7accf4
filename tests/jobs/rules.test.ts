import { describe, expect, test } from 'vitest';
import { move } from '../../runtime/request/states.js';
import {
  JobOccurrenceState as Occurrence,
  JobScheduleMisfire as Misfire,
  JobScheduleOverlap as Overlap,
  JobScheduleStatus,
  JobStatus,
} from '../../subgraphs/jobs/entities/enums.js';
import { besides, decide } from '../../subgraphs/jobs/rules/occurrences.js';
import { payloadViolations } from '../../subgraphs/jobs/rules/payload.js';
import { timeViolations } from '../../subgraphs/jobs/rules/schedule.js';
import { isOver, JOB_STATES, SCHEDULE_STATES } from '../../subgraphs/jobs/rules/states.js';

const NOW = new Date('2026-11-21T12:00:00.000Z');
const at = (ms: number): Date => new Date(NOW.getTime() + ms);
const MINUTE = 60_000;

describe('states', () => {
  const job = ['due', 'claim', 'succeed', 'fail', 'fail_last', 'release', 'cancel', 'end', 'retry', 'discard'] as const;
  const schedule = ['be_paused', 'be_resumed', 'end'] as const;
  const allowed = new Set([
    'scheduled due queued',
    'scheduled cancel cancelled',
    'queued claim running',
    'queued cancel cancelled',
    'retrying claim running',
    'retrying cancel cancelled',
    'running succeed succeeded',
    'running fail retrying',
    'running fail_last dead',
    'running release queued',
    'running cancel cancelling',
    'cancelling succeed succeeded',
    'cancelling end cancelled',
    'cancelling cancel cancelling',
    'dead retry queued',
    'dead discard discarded',
    'cancelled retry queued',
    'active be_paused paused',
    'active end finished',
    'paused be_resumed active',
  ]);
  const pairs = [
    ...Object.values(JobStatus).flatMap(state => job.map(trigger => ['job', JOB_STATES, state, trigger] as const)),
    ...Object.values(JobScheduleStatus).flatMap(state => schedule.map(trigger => ['schedule', SCHEDULE_STATES, state, trigger] as const)),
  ];

  test.each(pairs)('a %s, %o: %s, %s', (thing, table, state, trigger) => {
    const next = [...allowed].find(one => one.startsWith(`${state} ${trigger} `))?.split(' ')[2];
    const go = () => move(table as never, thing, state as never, trigger as never);
    if (next) expect(go()).toBe(next);
    else expect(go).toThrow(/that is .* cannot/);
  });

  test('a job is over when nothing more happens to it by itself', () =>
    expect(Object.values(JobStatus).filter(isOver).sort()).toEqual(['cancelled', 'dead', 'discarded', 'succeeded']));
});

describe('the occurrences that are due', () => {
  const grace = { graceSeconds: 60 };
  const due = [at(-3 * MINUTE), at(-2 * MINUTE), at(-MINUTE - 1), at(-MINUTE), NOW];
  const sent = (misfire: Misfire) => decide(due, NOW, { misfire, ...grace }).map(({ state }) => state === Occurrence.SENT);

  test.each([
    ['none of the late ones', Misfire.SKIP, [false, false, false, true, true]],
    ['the last of the late ones', Misfire.ONCE, [false, false, true, true, true]],
    ['all of them', Misfire.ALL, [true, true, true, true, true]],
  ])('are sent within the grace, its end included, and beside those %s', (_which, misfire, expected) =>
    expect(sent(misfire)).toEqual(expected),
  );

  test('keep their order and instants, and at most the last 100 late ones are caught up', () => {
    const many = Array.from({ length: 103 }, (_, index) => at((index - 200) * MINUTE));
    const decided = decide(many, NOW, { misfire: Misfire.ALL, ...grace });
    expect(decided.map(one => one.due)).toEqual(many);
    expect(decided.map(({ state }) => state)).toEqual(many.map((_, index) => (index < 3 ? Occurrence.MISFIRED : Occurrence.SENT)));
  });

  test.each([
    [Overlap.ALLOW, true, 'send'],
    [Overlap.SKIP, true, 'skip'],
    [Overlap.QUEUE, true, 'hold'],
    [Overlap.ALLOW, false, 'send'],
    [Overlap.SKIP, false, 'send'],
    [Overlap.QUEUE, false, 'send'],
  ])('with the policy %s beside an unfinished job (%s): %s', (overlap, unfinished, what) =>
    expect(besides(overlap, unfinished)).toBe(what),
  );
});

describe('what is refused', () => {
  const times = { cron: null, every: null, at: null, timeZone: 'UTC' };
  const readable = { cron: true, everyMs: null as number | null, timeZone: true };
  test.each<[string, object, object, string[]]>([
    ['an instant later than now', { at: at(1) }, {}, []],
    ['now', { at: NOW }, {}, ['/input/at']],
    ['a cron expression', { cron: '0 6 * * *' }, {}, []],
    ['a cron expression that cannot be read', { cron: 'x' }, { cron: false }, ['/input/cron']],
    ['a minute', { every: 'PT1M' }, { everyMs: MINUTE }, []],
    ['less than a minute', { every: 'PT59S' }, { everyMs: MINUTE - 1 }, ['/input/every']],
    ['no duration', { every: 'x' }, {}, ['/input/every']],
    ['nothing', {}, {}, ['/input']],
    ['two of them', { at: at(1), cron: '0 6 * * *' }, {}, ['/input']],
    ['no time zone', { at: at(1) }, { timeZone: false }, ['/input/timeZone']],
  ])('of the times of a schedule: %s', (_what, given, known, pointers) =>
    expect(timeViolations({ ...times, ...given }, { ...readable, ...known }, NOW).map(({ pointer }) => pointer)).toEqual(pointers),
  );

  test.each<[string, unknown, string[]]>([
    ['an id and a setting', { user_id: 'x', days: 3 }, []],
    ['no object', 'x', ['']],
    ['a list', [], ['']],
    ['null', null, ['']],
    ['contact data', { email: 'x', E_Mail: 'x', phone: 'x' }, ['/email', '/E_Mail', '/phone']],
    ['a secret far inside', { list: [{ deep: { api_key: 'x' } }] }, ['/list/0/deep/api_key']],
    ['a value', { result: { value: 1 } }, ['/result/value']],
    ['a key that only begins so', { email_verified_at: 'x', tokens: 3 }, []],
    ['as much as fits', { a: 'x'.repeat(65_536 - 8) }, []],
    ['more than fits', { a: 'x'.repeat(65_536 - 7) }, ['']],
    ['more bytes than characters', { a: 'é'.repeat(40_000) }, ['']],
  ])('of a payload: %s', (_what, payload, pointers) =>
    expect(payloadViolations(payload, '').map(({ pointer }) => pointer)).toEqual(pointers),
  );
});
