import { describe, expect, test, vi } from 'vitest';
import { ruleOf } from '../../runtime/access/rules.js';
import { ANONYMOUS, type Caller } from '../../runtime/request/caller.js';
import { createLogger } from '../../runtime/observe/log.js';
import { Revocations, type Revocation } from '../../runtime/access/revocations.js';

const service: Caller = { ...ANONYMOUS, kind: 'service', clientId: 'm', jti: 'j1', csi: 's1', issuedAt: 100 };
const user: Caller = { ...ANONYMOUS, kind: 'user', clientId: 'app', userId: 'u1', jti: 'j2', gid: 'g1', sid: 'd1', issuedAt: 100 };
const admin = ruleOf({ service: 'admin:clinical', user: 'read:biomarkers' });
const plain = ruleOf({ service: 'admin:platform', user: 'read:content' });
const feedRule = ruleOf({ internal: true });

const row = (seq: number, kind: Revocation['kind'], value: string, more: Partial<Revocation> = {}): Revocation => ({
  seq,
  kind,
  value,
  not_before: null,
  effective_at: '2020-01-01T00:00:00.000Z',
  expires_at: '2999-01-01T00:00:00.000Z',
  ...more,
});

function feed(rows: Revocation[] = []) {
  const state = { rows, time: 0, reads: 0 };
  const set = new Revocations(
    async after => (state.reads++, state.rows.filter(one => one.seq > after)),
    createLogger('silent'),
    () => state.time,
  );
  return { state, set };
}

describe('what a revocation kills', () => {
  test.each([
    ['token', 'j2', true],
    ['family', 'g1', true],
    ['session', 'd1', true],
    ['client', 'app', true],
    ['secret', 's1', false],
    ['token', 'j1', false],
    ['user', 'u2', false],
  ] as const)('%s %s: the user token is revoked: %s', async (kind, value, revoked) => {
    const { set } = feed([row(1, kind, value)]);
    await set.poll();
    expect(set.isRevoked(user)).toBe(revoked);
  });

  test('the secret that a service token was obtained with', async () => {
    const { set } = feed([row(1, 'secret', 's1')]);
    await set.poll();
    expect(set.isRevoked(service)).toBe(true);
  });

  test("a user's tokens issued up to not_before, and none issued later", async () => {
    const { set } = feed([row(1, 'user', 'u1', { not_before: 100 })]);
    await set.poll();
    expect(set.isRevoked(user)).toBe(true);
    expect(set.isRevoked({ ...user, issuedAt: 101 })).toBe(false);
  });

  test('a secret announced with a future effective_at counts from then on', async () => {
    const { set } = feed([row(1, 'secret', 's1', { effective_at: '2999-01-01T00:00:00.000Z' })]);
    await set.poll();
    expect(set.isRevoked(service)).toBe(false);
  });
});

describe('the feed', () => {
  test('a hint counts at once', async () => {
    const { set } = feed();
    await set.poll();
    set.hear(row(1, 'token', 'j1'));
    expect(set.isRevoked(service)).toBe(true);
  });

  test('a gap in the sequence makes the process read what it missed', async () => {
    const { set, state } = feed();
    await set.poll();
    state.rows = [row(1, 'token', 'j2'), row(2, 'token', 'jx')];
    set.hear(row(2, 'token', 'jx'));
    await set.poll();
    expect(set.isRevoked(user)).toBe(true);
    expect(state.reads).toBeGreaterThan(1);
  });

  test('a gap that shows while the feed is being read is read after it', async () => {
    let rows: Revocation[] = [];
    const answers: (() => void)[] = [];
    const source = async (after: number): Promise<Revocation[]> => {
      const seen = rows.filter(one => one.seq > after);
      await new Promise<void>(resolve => answers.push(resolve));
      return seen;
    };
    const set = new Revocations(source, createLogger('silent'));
    const begun = set.poll();
    rows = [row(1, 'token', 'j2'), row(2, 'token', 'jx')];
    set.hear(row(2, 'token', 'jx'));
    answers.shift()!();
    await begun;
    await vi.waitFor(() => answers.shift()!());
    await vi.waitFor(() => expect(set.isRevoked(user)).toBe(true));
  });

  test.each([
    ['never heard', null, true, true],
    ['30 s of silence', 30_000, false, false],
    ['30.001 s', 30_001, true, false],
    ['5 min', 300_000, true, false],
    ['5 min and 1 ms', 300_001, true, true],
  ] as const)('after %s: admin and PHI scopes are refused: %s, others %s', async (_name, silence, sensitive, others) => {
    const { set, state } = feed();
    if (silence !== null) {
      await set.poll();
      state.time = silence;
    }
    const refuses = (work: () => void): boolean => {
      try {
        work();
        return false;
      } catch (error) {
        expect(error).toMatchObject({ code: 'unavailable' });
        return true;
      }
    };
    expect(refuses(() => set.requireFresh(admin, service))).toBe(sensitive);
    expect(refuses(() => set.requireFresh(admin, user))).toBe(sensitive);
    expect(refuses(() => set.requireFresh(plain, user))).toBe(others);
    expect(refuses(() => set.requireFresh(feedRule, service))).toBe(false);
  });

  test('a process that stood still reads the feed before it refuses, and knows what was revoked meanwhile', async () => {
    const { set, state } = feed();
    await set.poll();
    state.time = 30_000;
    await set.catchUp(service);
    expect(state.reads).toBe(1);
    state.time = 400_000;
    state.rows = [row(1, 'token', 'j2')];
    void set.poll(); // its timer may come first
    await set.catchUp(service);
    set.requireFresh(admin, service);
    expect(set.isRevoked(user)).toBe(true);
  });

  test('a process that stood still while it read the feed waits for that, too', async () => {
    const state = { time: 0, answers: [] as (() => void)[] };
    const set = new Revocations(
      () => new Promise(resolve => void state.answers.push(() => resolve([]))),
      createLogger('silent'),
      () => state.time,
    );
    void set.poll();
    state.answers[0]!();
    await vi.waitFor(() => expect(set.silence).toBe(0));
    state.time = 10_000;
    void set.poll();
    state.time = 50_000;
    const caughtUp = set.catchUp(service);
    expect(await Promise.race([caughtUp.then(() => 'at once'), new Promise(resolve => setImmediate(resolve, 'waits'))])).toBe('waits');
    state.answers[1]!();
    await caughtUp;
    set.requireFresh(admin, service);
    expect(state.answers).toHaveLength(2);
  });

  test('a process that stands still again while it reads the feed hears what has come before it refuses', async () => {
    const state = { time: 0 };
    const read = async (): Promise<Revocation[]> => {
      for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve));
      return [];
    };
    const set = new Revocations(read, createLogger('silent'), () => state.time);
    await set.poll();
    state.time = 40_000;
    const caughtUp = set.catchUp(service);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100); // longer than a request waits
    await caughtUp;
    set.requireFresh(admin, service);
  });

  test.each([
    ['where reads of the feed pass', true, 'at once'],
    ['where none pass', false, 'waits'],
  ] as const)('after a standstill an internal client %s goes on: %s, %s', async (_where, carriesFeed, expected) => {
    const state = { time: 0 };
    const answers: (() => void)[] = [];
    const source = () => new Promise<Revocation[]>(resolve => void answers.push(() => resolve([])));
    const set = new Revocations(source, createLogger('silent'), () => state.time, carriesFeed);
    const first = set.poll();
    answers[0]!();
    await first;
    state.time = 40_000;
    const internal = set.catchUp({ ...service, serviceSlug: 'clinical' }).then(() => 'at once');
    expect(await Promise.race([internal, new Promise(resolve => setImmediate(resolve, 'waits'))])).toBe(expected);
    answers[1]?.();
    await internal;
  });

  test.each([
    ['fails', () => Promise.reject(new Error('away'))],
    ['does not answer', () => new Promise<never>(() => undefined)],
  ])('where the feed %s a request waits for it no longer than a moment, and is refused', async (_what, answer) => {
    const state = { time: 0, answer: (): Promise<Revocation[]> => Promise.resolve([]) };
    const set = new Revocations(
      () => state.answer(),
      createLogger('silent'),
      () => state.time,
    );
    await set.poll();
    Object.assign(state, { time: 40_000, answer });
    await set.catchUp(service);
    expect(() => set.requireFresh(admin, service)).toThrow(/cannot be checked/);
    const passed = await Promise.race([set.catchUp(service).then(() => 'at once'), new Promise(resolve => setImmediate(resolve, 'waits'))]);
    expect(passed).toBe('at once'); // an outage does not slow down who may go on without the feed
  });
});
