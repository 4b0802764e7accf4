import { BRAND, type TestPlatform } from '../support/platform.js';
import { CYCLE } from './flag-fixtures.js';

export const STAGE = 'feature.intelligence.stage';

/** A rule as it is stored. */
export interface Row {
  conditions?: { attribute: string; operator: string; values: string[] }[];
  variant?: string;
  rollout?: { variant: string; basisPoints: number }[];
}

/** Flags as they were seeded, but for their revisions, which never fall. */
export async function resetFlags(p: TestPlatform): Promise<void> {
  await p.sql('delete from platform.flag_rule');
  await p.sql(
    `update platform.flag set enabled = key = $1, killed = false, default_rule = jsonb_build_object('variant', off_variant), readers = '{}', revision = revision + 1`,
    [STAGE],
  );
}

/** Writes an applied change of a flag, as the operation of a later issue will: switched on, with these rules, the next revision. */
export async function change(
  p: Pick<TestPlatform, 'sql'>,
  key: string,
  { rules = [], set = 'enabled = true' }: { rules?: Row[]; set?: string } = {},
): Promise<void> {
  await p.sql('delete from platform.flag_rule where flag_key = $1', [key]);
  for (const [position, { conditions = [], variant = null, rollout = null }] of rules.entries())
    await p.sql(
      'insert into platform.flag_rule (id, flag_key, position, conditions, variant, rollout) values (gen_random_uuid(), $1, $2, $3, $4, $5)',
      [key, position, JSON.stringify(conditions), variant, rollout && JSON.stringify(rollout)],
    );
  await p.sql(`update platform.flag set ${set}, revision = revision + 1 where key = $1`, [key]);
}

export const cycleOn = (p: Pick<TestPlatform, 'sql'>): Promise<void> =>
  change(p, CYCLE, { set: `enabled = true, default_rule = '{"variant":"on"}'` });

/** A rule for the seeded brand: so many of its users are on. */
export const ofBrand = (basisPoints: number): Row => ({
  conditions: [{ attribute: 'BRAND', operator: 'IN', values: [BRAND] }],
  rollout: [{ variant: 'on', basisPoints }],
});
