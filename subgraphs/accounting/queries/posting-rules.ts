import { CATALOGUE } from '../../../events/catalogue.js';
import type { Context } from '../../../runtime/request/context.js';
import { invalid, requireValid } from '../../../runtime/request/errors.js';
import type { PostingPreview, PostingRuleView } from '../entities/report.js';
import type { PreviewPostingInput } from '../inputs/report.js';
import { applyRule, type PostingRule, type RuleDefinition } from '../rules/posting-rule.js';
import { scopeOf } from '../rules/event-scope.js';

interface Row {
  id: string;
  event_type: string;
  version: number;
  definition: RuleDefinition;
  created_ms: number;
}

const RULES = `
select id, event_type, version, definition, (extract(epoch from created_at) * 1000)::float8 as created_ms
from accounting.posting_rule order by event_type, version desc`;

/** Every version of every rule, the one in force first. */
export async function postingRules(ctx: Context): Promise<PostingRuleView[]> {
  const rows = await ctx.sql<Row>(RULES);
  return rows.map(({ id, event_type, version, definition, created_ms }) => ({
    id,
    eventType: event_type,
    version,
    definition,
    createdAt: new Date(Math.round(created_ms)),
  }));
}

/** Rules in force by process: a new version comes with a release. */
const inForce = new WeakMap<object, Promise<ReadonlyMap<string, PostingRule>>>();

async function readRules(ctx: Context): Promise<ReadonlyMap<string, PostingRule>> {
  const views = await postingRules(ctx);
  return new Map(
    views
      .reverse()
      .map(({ eventType, version, definition }) => [eventType, { eventType, version, definition: definition as RuleDefinition }]),
  );
}

/** The newest version of an event type's rule; null where it books nothing. */
export async function ruleOf(ctx: Context, eventType: string): Promise<PostingRule | null> {
  let rules = inForce.get(ctx.host);
  if (!rules) {
    rules = readRules(ctx);
    inForce.set(ctx.host, rules);
    rules.catch(() => inForce.delete(ctx.host));
  }
  return (await rules).get(eventType) ?? null;
}

const NOBODY = '00000000-0000-0000-0000-000000000000';

/** What an event would book, by the very function that books it. @throws Problem invalid_request for an unknown type or data that it does not take. */
export async function previewPosting(ctx: Context, { eventType, data, userId }: PreviewPostingInput): Promise<PostingPreview> {
  const event = CATALOGUE.get(eventType) ?? invalid('/input/eventType', 'is not in the catalogue');
  const { error } = event.schema.safeParse(data);
  requireValid((error?.issues ?? []).map(issue => ({ pointer: ['/input/data', ...issue.path].join('/'), message: issue.message })));
  const rule = await ruleOf(ctx, eventType);
  const made = rule && applyRule(rule, scopeOf(eventType, data, userId ?? NOBODY));
  return {
    eventType,
    ruleVersion: rule?.version ?? null,
    source: made ? { ...made.source, ruleVersion: rule!.version } : null,
    entries: (made?.entries ?? []).map(({ accountCode, direction, amount, currency }) => ({
      accountCode,
      direction,
      amount: { amount, currency },
    })),
  };
}
