import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Loop } from './loop.js';

let loop: Loop;
beforeAll(async () => {
  loop = await Loop.open();
});
afterEach(() => vi.restoreAllMocks());

const HOUR_MS = 3_600_000;

/** What this service logs at `warn` from here on, of one alarm. */
function heard(alarm: string): () => Record<string, unknown>[] {
  const warn = vi.spyOn(loop.p.host('intelligence').log, 'warn');
  return () => warn.mock.calls.map(([fields]) => fields as unknown as Record<string, unknown>).filter(fields => fields.alarm === alarm);
}

const later = async (ms: number) => loop.clock(new Date(Date.parse(await loop.now()) + ms).toISOString());
const action = (text: RegExp) => expect.stringMatching(text);

describe('an alarm is a log record at warn that says what and what to do', () => {
  test('3: joins below the floor: `join-completeness below floor`, once in the hour, however often it is looked at', async () => {
    const policy = await loop.policy();
    await loop.decisions(policy, 4, 1);
    await loop.passDeadline();
    const records = heard('join-completeness below floor');
    await loop.tick();
    await loop.tick();
    await later(HOUR_MS / 2);
    expect(records()).toEqual([
      { alarm: 'join-completeness below floor', cause: 'join_completeness', action: action(/bus subscriptions of intelligence/) },
    ]);
  });

  test('a guardrail that takes out what would have been served: `intelligence_guardrail_blocked` with the violation types and no entity id', async () => {
    const policy = await loop.policy({ guardrails: [{ rule: 'unsafe_content' }] });
    const records = heard('intelligence_guardrail_blocked');
    const { entity_id } = await loop.rank(policy, [], { candidates: [{ id: 'a', tags: ['unsafe'] }, { id: 'b' }] });
    expect(records()).toEqual([
      {
        alarm: 'intelligence_guardrail_blocked',
        cause: 'blocked',
        action: action(/violation types.*expected for unsafe content.*investigate spikes/),
        violations: ['unsafe_content'],
      },
    ]);
    expect(JSON.stringify(records())).not.toContain(entity_id);
    await loop.rank(policy, [], { candidates: [{ id: 'b' }, { id: 'a', tags: ['unsafe'] }] }); // it would not have been served
    expect(records()).toHaveLength(1);
  });

  test('24: no tick for 3 h 1 min: `loop liveness alarm`, and one record per hour for as long as nobody ticks', async () => {
    await loop.rank(await loop.policy({ maturation_days: 40 }));
    await loop.tick();
    const records = heard('loop liveness alarm');
    await later(3 * HOUR_MS);
    expect(records()).toEqual([]);
    await later(60_000);
    const record = {
      alarm: 'loop liveness alarm',
      cause: 'orchestrator_dead',
      action: action(/workflow and intelligence logs.*tick by hand/),
    };
    expect(records()).toEqual([record]);
    await later(HOUR_MS / 2);
    expect(records()).toHaveLength(1);
    await later(HOUR_MS / 2);
    expect(records()).toHaveLength(2);
    await later(10 * HOUR_MS);
    expect(records()).toHaveLength(12);
    expect(records().every(({ cause }) => cause === 'orchestrator_dead')).toBe(true);
    await loop.tick();
    await later(2 * HOUR_MS);
    expect(records()).toHaveLength(12);
  });

  test('is told of hourly for days where nobody ends it, and never twice in an hour', async () => {
    await loop.tick();
    const began = await loop.now();
    const LOOK_MS = 37 * 60_000;
    for (let moved = 0; moved < 3 * 24 * HOUR_MS; moved += LOOK_MS) await later(LOOK_MS);
    const rows = await loop.p.sql<{ at: Date }>(
      "select at from intelligence.alarm_record where cause = 'orchestrator_dead' and at > $1 order by at",
      [began],
    );
    const gaps = rows.slice(1).map(({ at }, index) => at.getTime() - rows[index]!.at.getTime());
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(HOUR_MS);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(HOUR_MS + 2 * LOOK_MS);
    expect(Date.parse(await loop.now()) - rows.at(-1)!.at.getTime()).toBeLessThanOrEqual(HOUR_MS + 2 * LOOK_MS);
  });
});
