import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Access } from '../../../runtime/access/access.js';
import type { Context } from '../../../runtime/request/context.js';
import {
  bucketOf,
  evaluateFlag,
  holds,
  type FlagDefinition,
  type FlagSnapshot,
  type FlagTarget,
} from '../../../runtime/flags/evaluation.js';
import { ExplainedPrerequisite, ExplainedRule, FlagExplanation, FlagUsageReceipt, StaleFlag } from '../entities/explanation.js';
import { FeatureFlag, FlagRule, type FlagCondition } from '../entities/flag.js';
import { ReportFlagUsageInput } from '../inputs/flag.js';
import { ExplainFlagArgs } from '../inputs/lists.js';
import { stateOf } from '../rules/flag-state.js';
import { ONE_RESULT_DAYS, stalenessOf } from '../rules/staleness.js';
import { target } from '../queries/flag-target.js';
import { currentFlags } from '../queries/snapshot.js';

const DAY_MS = 86_400_000;

function isAbsent({ attribute }: FlagCondition, { brandId, userId, attributes }: FlagTarget): boolean {
  if (attribute === 'BRAND') return !brandId;
  return attribute === 'USER' ? !userId : (attributes?.[attribute]?.length ?? 0) === 0;
}

function explainedRules({ rules }: FlagDefinition, asked: FlagTarget): ExplainedRule[] {
  const first = rules.findIndex(({ conditions }) => conditions.every(condition => holds(condition, asked)));
  return rules.map(({ conditions, variant = null, rollout = null }, position) => {
    const explained = (conditions as FlagCondition[]).map(condition => ({
      ...condition,
      holds: holds(condition, asked),
      absent: isAbsent(condition, asked),
    }));
    const matched = explained.every(one => one.holds);
    return { position, matched, decided: position === first, conditions: explained, variant, rollout: rollout as ExplainedRule['rollout'] };
  });
}

const explainedPrerequisites = (snapshot: FlagSnapshot, { prerequisites }: FlagDefinition, asked: FlagTarget): ExplainedPrerequisite[] =>
  prerequisites.map(({ key, variant: needed }) => {
    const { variant: actual } = evaluateFlag(snapshot, key, asked);
    return { key, needed, actual, met: actual === needed };
  });

const COUNT = `
  insert into platform.flag_usage (flag_key, variant, reason, brand_id, day, count)
  select r.flag, r.variant, r.reason, r.brand, $2::date, sum(r.count) from jsonb_to_recordset($1::jsonb) as r(flag text, variant text, reason text, brand uuid, count bigint)
  join platform.flag f on f.key = r.flag group by 1, 2, 3, 4
  on conflict on constraint flag_usage_counter do update set count = flag_usage.count + excluded.count returning 1`;

const USED = `
  select flag_key, count(distinct variant)::int as variants from platform.flag_usage where day > $1::date - ${ONE_RESULT_DAYS} group by flag_key`;

@Resolver(() => FlagExplanation)
export class FlagInsightResolver {
  @Access({ staff: 'admin:platform:read' })
  @Query(() => FlagExplanation, {
    nullable: true,
    description: 'Why a flag has its value for a brand and a user: each rule, matched or not, and the bucket.',
  })
  async explainFlag(
    @Args(() => ExplainFlagArgs) { key, brandId, userId, ...attributes }: ExplainFlagArgs,
    @Ctx() ctx: Context,
  ): Promise<FlagExplanation | null> {
    const flags = await currentFlags(ctx);
    const flag = flags.flags.get(key);
    if (!flag) return null;
    const asked = target(brandId, userId, attributes);
    const rules = explainedRules(flag, asked);
    return {
      evaluation: evaluateFlag(flags, key, asked),
      bucket: asked.brandId && asked.userId ? bucketOf(key, flag.salt, asked.brandId, asked.userId) : null,
      enabled: flag.enabled,
      killed: flag.killed,
      prerequisites: explainedPrerequisites(flags, flag, asked),
      rules,
      defaultDecided: rules.every(({ matched }) => !matched),
    };
  }

  @Access({ staff: 'admin:platform:read' })
  @Query(() => [StaleFlag], { description: 'Flags past their end, or with one result for everybody for 30 days; permanent ones excepted.' })
  async staleFlags(@Ctx() ctx: Context): Promise<StaleFlag[]> {
    const flags = await ctx.em.find(FeatureFlag, { archivedAt: null, permanent: false }, { orderBy: { key: 'asc' } });
    const rules = await ctx.em.find(FlagRule, { flagKey: { $in: flags.map(({ key }) => key) } }, { orderBy: { position: 'asc' } });
    const today = ctx.now().toISOString().slice(0, 10);
    const usage = await ctx.sql<{ flag_key: string; variants: number }>(USED, [today]);
    const judged = flags.map(flag => {
      const own = rules.filter(({ flagKey }) => flagKey === flag.key);
      const days = (ctx.now().getTime() - flag.changedAt.getTime()) / DAY_MS;
      const used = usage.find(row => row.flag_key === flag.key)?.variants ?? null;
      return { flag, reasons: stalenessOf(stateOf(flag, own), { days, used, today }) };
    });
    return judged.filter(({ reasons }) => reasons.length > 0);
  }

  @Access({ service: '*' })
  @Mutation(() => FlagUsageReceipt, { description: 'Adds to the counters of evaluations; never users.' })
  async reportFlagUsage(
    @Arg('input', () => ReportFlagUsageInput) { counts }: ReportFlagUsageInput,
    @Ctx() ctx: Context,
  ): Promise<FlagUsageReceipt> {
    const rows = counts.map(({ flag, variant = null, reason, brandId = null, count }) => ({
      flag,
      variant,
      reason,
      brand: brandId,
      count,
    }));
    const accepted = (await ctx.sql(COUNT, [JSON.stringify(rows), ctx.now().toISOString().slice(0, 10)])).length;
    ctx.audit('feature_flag.usage_reported', null, { accepted });
    ctx.status(202);
    return { accepted };
  }
}
