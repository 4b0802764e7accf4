import type { Context } from '../../../runtime/request/context.js';
import { type Connection, decodeCursor, toConnection } from '../../../runtime/request/paging.js';
import type { IdentityAuditActor, IdentityAuditEntry } from '../entities/audit.js';
import type { IdentityAuditArgs, IdentityAuditFilter } from '../inputs/audit.js';

interface AuditRow {
  id: string;
  at: string;
  action: string;
  target: string | null;
  actor: { kind: IdentityAuditActor['kind']; client_id: string; sub?: string; roles?: string[]; act?: string[] };
  request_id: string | null;
  details: object;
}

/** Newest first by (at, id); a condition whose parameter is null holds for every row. */
const ROWS = `
select id, to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, action, target, actor, request_id, details
from identity.audit_log
where ($1::text is null or action = $1 or (right($1, 1) = '.' and starts_with(action, $1)))
  and ($2::text is null or target = $2) and ($3::text is null or actor->>'sub' = $3) and ($4::text is null or actor->>'client_id' = $4)
  and ($5::timestamptz is null or at > $5) and ($6::timestamptz is null or at < $6)
  and ($7::timestamptz is null or (at, id) < ($7, $8::uuid))
order by at desc, id desc limit $9`;

const entryOf = ({ at, actor, request_id, ...row }: AuditRow): IdentityAuditEntry => ({
  ...row,
  at: new Date(at),
  requestId: request_id,
  actor: { kind: actor.kind, clientId: actor.client_id, userId: actor.sub ?? null, roles: actor.roles ?? [], act: actor.act ?? [] },
});

function conditionsOf({ action, target, actorUserId, actorClientId, after, before }: IdentityAuditFilter): (string | null)[] {
  return [
    action ?? null,
    target ?? null,
    actorUserId ?? null,
    actorClientId ?? null,
    after?.toISOString() ?? null,
    before?.toISOString() ?? null,
  ];
}

/** Instant and id of the last row shown. @throws Problem invalid_request for what is no cursor of this list. */
function positionOf(after: string | null | undefined): (string | null)[] {
  if (!after) return [null, null];
  const [at, id] = decodeCursor(after, 2).map(String);
  const sound = !Number.isNaN(Date.parse(at!)) && /^[0-9a-f-]{36}$/.test(id!);
  return sound ? [at!, id!] : (decodeCursor('', 2) as never);
}

/** Rows of the audit log, newest first. @throws Problem invalid_request for a malformed cursor. */
export async function auditPage(ctx: Context, { filter, first, after }: IdentityAuditArgs): Promise<Connection<IdentityAuditEntry>> {
  const rows = await ctx.sql<AuditRow>(ROWS, [...conditionsOf(filter ?? {}), ...positionOf(after), first + 1]);
  return toConnection(rows.map(entryOf), first, row => [row.at.toISOString(), row.id]);
}
