import { buildSchema, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { ruleOf, type AccessRule } from '../../runtime/access/rules.js';
import { ANONYMOUS, type Caller } from '../../runtime/request/caller.js';
import { ruleFinder, ScopeUsage, scopesUsed } from '../../gateway/metrics/scope-usage.js';
import { createLogger } from '../../runtime/observe/log.js';

const app = (scopes: string[], more: Partial<Caller> = {}): Caller => ({
  ...ANONYMOUS,
  kind: 'user',
  clientId: 'app',
  userId: 'u1',
  scopes: new Set(scopes),
  ...more,
});
const rules = (...needed: (string | string[])[]): AccessRule[] => needed.map(user => ruleOf({ user }));

describe('which scopes an operation uses', () => {
  test.each([
    ['the one that it demands', rules('read:inbox'), ['read:inbox', 'read:profile'], ['read:inbox']],
    ['all where it demands several', rules(['read:inbox', 'read:profile']), ['read:inbox', 'read:profile'], ['read:inbox', 'read:profile']],
    ['none of a rule that the caller does not pass', rules(['read:inbox', 'read:profile']), ['read:inbox'], []],
    ['none where any user may', rules('*'), ['read:inbox'], []],
    [
      'of alternatives the one that another field demands',
      rules('read:protocols|write:protocols', 'write:protocols'),
      ['read:protocols', 'write:protocols'],
      ['write:protocols'],
    ],
    [
      'of alternatives all that are held, when no other field demands one',
      rules('read:profile|read:account', 'read:profile|read:account|read:preferences'),
      ['read:profile', 'read:account', 'read:preferences'],
      ['read:account', 'read:profile'],
    ],
  ])('%s', (_name, given, held, used) => {
    expect([...scopesUsed(given, app(held))].sort()).toEqual(used);
  });

  test('none where a staff permission opens it', () => {
    const caller = app(['read:account'], { permissions: ['admin:identity'] });
    expect(scopesUsed([ruleOf({ user: 'read:account', staff: 'admin:identity:read' })], caller).size).toBe(0);
  });
});

const SCHEMA = buildSchema(
  `directive @access(user: [String!]) on FIELD_DEFINITION
  type Query { me: Me @access(user: ["a|b"]) } type Me { inbox: String @access(user: ["a"]) name: String }`,
  { assumeValid: true },
);
const rulesOf = ruleFinder(SCHEMA);
const log = createLogger('silent');

describe('reports', () => {
  test('each (app, user, scope) is reported once, with its age, and again only after another use', async () => {
    const reported: any[] = [];
    const usage = new ScopeUsage(
      () => ({ run: async (_document, variables: any) => void reported.push(...variables.input.uses) as never }),
      log,
    );
    const document = parse('{ me { ...f } } fragment f on Me { inbox name }');
    usage.note(rulesOf(document), app(['a', 'b']));
    usage.note(rulesOf(document), app(['a', 'b']));
    await usage.report();
    await usage.stop();
    expect(reported).toEqual([{ clientId: 'app', userId: 'u1', scope: 'a', secondsAgo: 0 }]);
  });

  test('uses of a failed report are part of the next, also of the last at the stop', async () => {
    const reported: any[] = [];
    let down = true;
    const run = async (_document: unknown, variables: any) => {
      if (down) throw new Error('down');
      reported.push(...variables.input.uses);
    };
    const usage = new ScopeUsage(() => ({ run: run as never }), log);
    usage.note(rulesOf(parse('{ me { inbox } }')), app(['a']));
    await usage.report();
    expect(reported).toEqual([]);
    down = false;
    await usage.stop();
    expect(reported).toHaveLength(1);
  });

  test('a flood is reported early, a thousand uses to a report, and nothing waits', async () => {
    const sizes: number[] = [];
    const usage = new ScopeUsage(
      () => ({ run: async (_document, variables: any) => void sizes.push(variables.input.uses.length) as never }),
      log,
    );
    const document = parse('{ me { inbox } }');
    for (let user = 0; user <= 50_000; user++) usage.note(rulesOf(document), app(['a'], { userId: `u${user}` }));
    await usage.stop();
    expect(Math.max(...sizes)).toBe(1000);
    expect(sizes.reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(50_000);
  });
});
