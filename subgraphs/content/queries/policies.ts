import type { Context } from '../../../runtime/request/context.js';
import { readersOf } from './readers.js';
import { richTextOf } from '../rules/rich-text.js';
import type { PolicyVersion } from '../entities/policy.js';
import { User } from '../stubs.js';
import { instant, withoutHiddenLinks } from './delivery.js';
import type { Item } from './present.js';

/** Acceptances are their user's, and for editors. */
export const ownAcceptances = (ctx: Context) =>
  readersOf(ctx.caller).editor ? {} : { userId: ctx.caller.userId ?? '00000000-0000-0000-0000-000000000000' };

export interface VersionRow {
  item_id: string;
  version: number;
  title: string;
  body: unknown;
  body_sha256: string;
  summary_of_changes: string | null;
  effective_at: string;
  requires_acceptance: boolean;
  published_by: string | null;
  kind: string;
}

const VERSIONS = `select item_id, version, title, body, body_sha256, summary_of_changes, ${instant('effective_at')} as effective_at, requires_acceptance,
  published_by, kind from content.policy_version where item_id = any($1::uuid[]) order by version`;

/** All versions of a policy, in a batch. */
export const versionsOf = async (ctx: Context, itemId: string): Promise<VersionRow[]> =>
  (await ctx.load('content:versions', itemId, async ids => {
    const rows = await ctx.sql<VersionRow>(VERSIONS, [ids]);
    return ids.map(id => rows.filter(row => row.item_id === id));
  })) ?? [];

/** The newest that is in effect at an instant. */
export const inForceAt = (versions: readonly VersionRow[], at: Date): VersionRow | undefined =>
  versions.findLast(one => Date.parse(one.effective_at) <= at.getTime());

/** Versions as a reader of the policy gets them. */
export async function shownVersions(ctx: Context, rows: readonly VersionRow[], item: Item): Promise<PolicyVersion[]> {
  const texts = rows.map(row => ({ ...row, data: row.body as object }));
  return (await withoutHiddenLinks(ctx, item.view, texts)).map(({ data, ...row }) => versionOf({ ...row, body: data }, item));
}

function versionOf(row: VersionRow, { view }: Item): PolicyVersion {
  return {
    version: row.version,
    title: row.title,
    body: richTextOf(row.body, view.bodyFormat, view),
    bodySha256: row.body_sha256,
    summaryOfChanges: row.summary_of_changes,
    effectiveAt: new Date(row.effective_at),
    requiresAcceptance: row.requires_acceptance,
    publishedBy: view.readers.editor && row.published_by ? Object.assign(new User(), { id: row.published_by }) : null,
  };
}
