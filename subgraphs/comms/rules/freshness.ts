import type { Values } from './content.js';

/** What a template's display document must say for its message to be sent. Source: comms, rule 5. */
export interface FreshRule {
  /** Path in the answer -> values of which it must be one. */
  in?: Readonly<Record<string, readonly string[]>>;
  /** Path -> values of which it must be none; a missing path is fine. */
  not?: Readonly<Record<string, readonly string[]>>;
  /** Param -> path of the time that must still be the same. */
  same?: Readonly<Record<string, string>>;
  /** Paths that must be there. */
  present?: readonly string[];
  /** Path of a list that must not be empty. */
  some?: string;
  rule?: 'retest' | 'red_flag' | 'dose';
}

export const at = (answer: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | null | undefined)?.[key], answer);

interface Nodes<Node> {
  nodes?: readonly Node[];
}

/** `wait`: true later, perhaps; asked again. */
export type Freshness = 'fresh' | 'stale' | 'wait';

function redFlag(answer: unknown, params: Values): Freshness {
  const flags = (at(answer, 'redFlags') as Nodes<{ id: string; status: string; visibleToMember: boolean }> | undefined)?.nodes ?? [];
  const flag = flags.find(({ id }) => id === params.flag_id);
  if (!flag || ['RESOLVED', 'DISMISSED'].includes(flag.status)) return 'stale';
  return flag.visibleToMember ? 'fresh' : 'wait';
}

function dose(answer: unknown, params: Values): Freshness {
  const doses = (at(answer, 'doses') as Nodes<{ id: string; status: string; scheduledFor: string }> | undefined)?.nodes ?? [];
  const wanted = new Date(String(params.scheduled_for)).getTime();
  const held = doses.some(
    one => one.id === params.reminder_id && one.status === 'SCHEDULED' && new Date(one.scheduledFor).getTime() === wanted,
  );
  return held ? 'fresh' : 'stale';
}

/** Codes of the cycles that still wait for a measurement. */
export const promptedCodes = (answer: unknown): Set<string> =>
  new Set(((at(answer, 'retestCycles') as Nodes<{ code: string }> | undefined)?.nodes ?? []).map(({ code }) => code));

const sameTime = (a: unknown, b: unknown): boolean => new Date(String(a)).getTime() === new Date(String(b)).getTime();

/** Judges an answer. @param codes of a bundle of re-test prompts. */
export function freshness(rule: FreshRule | null, answer: unknown, params: Values, codes: readonly string[] = []): Freshness {
  if (!rule) return 'fresh';
  if (rule.rule === 'red_flag') return redFlag(answer, params);
  if (rule.rule === 'dose') return dose(answer, params);
  if (rule.rule === 'retest') return codes.some(code => promptedCodes(answer).has(code)) ? 'fresh' : 'stale';
  const wrong =
    Object.entries(rule.in ?? {}).some(([path, values]) => !values.includes(String(at(answer, path)))) ||
    Object.entries(rule.not ?? {}).some(([path, values]) => values.includes(String(at(answer, path)))) ||
    Object.entries(rule.same ?? {}).some(([param, path]) => !sameTime(params[param], at(answer, path))) ||
    (rule.present ?? []).some(path => at(answer, path) == null) ||
    (rule.some !== undefined && !(at(answer, rule.some) as readonly unknown[] | undefined)?.length);
  return wrong ? 'stale' : 'fresh';
}
