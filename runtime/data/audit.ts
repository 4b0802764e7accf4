import type { Sql } from '../../events/outbox.js';
import { lastOfTransaction, prepared } from '../../events/prepared.js';
import { isStaff, type Caller } from '../request/caller.js';
import type { RequestInfo } from '../request/request.js';
import { newId } from './ids.js';

/** JSON without health values, secrets or contact data. */
export type AuditDetails = Readonly<Record<string, unknown>>;

/** Who did what to which thing, when, in which request. Rows are only ever added. Source: conventions 8, identity A10. */
export interface AuditRow {
  action: string;
  target: string | null;
  details: AuditDetails;
}

/** `actor` of an audit row: a user token's row names both user and app. */
function auditActor(caller: Caller): AuditDetails {
  if (caller.kind === 'user') {
    const act = caller.actorChain.length ? { act: caller.actorChain } : {};
    return {
      kind: isStaff(caller) ? 'staff' : 'user',
      sub: caller.userId,
      client_id: caller.clientId,
      ...(isStaff(caller) && { roles: caller.roles }),
      ...act,
    };
  }
  return { kind: caller.kind === 'service' ? 'service' : 'system', client_id: caller.clientId };
}

/** Whose doing it is, and where it is noted. */
interface Author {
  sql: Sql;
  schema: string;
  caller: Caller;
  request: RequestInfo;
  now(): Date;
}

/** An audit row with who caused it. */
export interface CallersRow extends AuditRow {
  caller: Caller;
  requestId: string | null;
}

/** @param first number of its first parameter. */
function insertOf(schema: string, first = 1): string {
  const [rows, actor, at, request] = [0, 1, 2, 3].map(n => `$${first + n}`);
  return `insert into ${schema}.audit_log (id, actor, action, target, at, request_id, details)
     select r.id, ${actor}::jsonb, r.action, r.target, ${at}, ${request}, r.details
     from jsonb_to_recordset(${rows}::jsonb) as r(id uuid, action text, target text, details jsonb)`;
}

function paramsOf(ctx: Author, rows: readonly AuditRow[]): unknown[] {
  ctx.request.leavesTrace = true;
  const values = rows.map(row => ({ id: newId(), action: row.action, target: row.target, details: row.details }));
  return [JSON.stringify(values), JSON.stringify(auditActor(ctx.caller)), ctx.now().toISOString(), ctx.request.id];
}

/** Writes audit rows, in the transaction that runs, if one does: one statement. @param isLast nothing but its commit follows. */
export async function writeAudit(ctx: Author, rows: readonly AuditRow[], isLast = false): Promise<void> {
  if (rows.length > 0) await ctx.sql((isLast ? lastOfTransaction : prepared)(insertOf(ctx.schema)), paramsOf(ctx, rows));
}

/** Writes audit rows in the same statement as what is sent by it, a constant text without common table expressions. */
export function besideAudit(ctx: Author, rows: readonly AuditRow[]): Sql {
  if (rows.length === 0) return ctx.sql;
  return (text, params = []) =>
    ctx.sql(prepared(`with audit as (${insertOf(ctx.schema, params.length + 1)}) ${text}`), [...params, ...paramsOf(ctx, rows)]);
}

/**
 * The only statement of a transaction, with the commit in one message, and audit rows where it answers any.
 * @param text a change of constant text that answers what it has changed.
 */
export function writeAudited<Row>(ctx: Author, text: string, params: readonly unknown[], rows: readonly AuditRow[]): Promise<Row[]> {
  const audit = `${insertOf(ctx.schema, params.length + 1)} where exists (select from done)`;
  return ctx.sql<Row>(lastOfTransaction(`with done as (${text}), audit as (${audit}) select * from done`), [
    ...params,
    ...paramsOf(ctx, rows),
  ]);
}

/** Writes audit rows of several callers, whose work one transaction does: one statement. */
export async function writeCallersAudit(sql: Sql, schema: string, rows: readonly CallersRow[], at: Date): Promise<void> {
  if (rows.length === 0) return;
  const values = rows.map(({ caller, requestId, ...row }) => ({ id: newId(), actor: auditActor(caller), request_id: requestId, ...row }));
  await sql(
    prepared(`insert into ${schema}.audit_log (id, actor, action, target, at, request_id, details)
     select r.id, r.actor, r.action, r.target, $2, r.request_id, r.details from jsonb_to_recordset($1::jsonb) as r(id uuid, actor jsonb,
       action text, target text, request_id text, details jsonb)`),
    [JSON.stringify(values), at.toISOString()],
  );
}
