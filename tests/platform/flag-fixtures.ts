import type { FlagDefinition, FlagSnapshot } from '../../runtime/flags/evaluation.js';

export const BRAND = '0190b3a0-0000-7000-8000-000000000001';
/** The acceptance cases' users …a1 to …a6. */
export const user = (number: number): string => `0190b3a0-0000-7000-8000-0000000000a${number}`;

export const CYCLE = 'feature.clinical.retest-cycle';
export const PROMPT = 'feature.clinical.retest-prompt';

/** A boolean flag that is on by its default rule. */
export const flag = (key: string, changes: Partial<FlagDefinition> = {}): FlagDefinition => ({
  key,
  variants: [
    { name: 'on', value: true },
    { name: 'off', value: false },
  ],
  offVariant: 'off',
  defaultRule: { variant: 'on' },
  rules: [],
  prerequisites: [],
  enabled: true,
  killed: false,
  archived: false,
  failClosed: true,
  salt: 's1',
  revision: 1,
  ...changes,
});

export const snapshot = (...flags: FlagDefinition[]): FlagSnapshot => ({ revision: 1, flags: new Map(flags.map(one => [one.key, one])) });
