import { readOf, type Condition, type EntranceRead } from '../../../events/entrance.js';
import type { Envelope } from '../../../events/envelope.js';
import type { Sql } from '../../../events/outbox.js';
import { sha256 } from '../../../runtime/data/crypto.js';
import { isUuid } from '../../../runtime/data/ids.js';
import type { Context } from '../../../runtime/request/context.js';
import { project, supersedes, type GrantState, type ProjectedGrant } from '../rules/grants.js';
import type { AskedGrant } from '../ports/grant-source.js';

interface Row {
  client_id: string;
  grant_id: string;
  version: number;
  scopes: ProjectedGrant['scopes'];
}

/** A user's grants by client. */
export type Grants = Map<string, ProjectedGrant>;

const toGrants = (rows: readonly Row[]): Grants =>
  new Map(rows.map(row => [row.client_id, { grantId: row.grant_id, version: row.version, scopes: row.scopes }]));

const GRANTS = 'select client_id, grant_id, version, scopes from webhooks.grant_projection where user_id = $1';

const GRANTS_OF = 'select user_id, client_id, grant_id, version, scopes from webhooks.grant_projection where user_id = any($1::uuid[])';

/** What is projected of many users, in their order. */
export async function readGrantsOf(sql: Sql, userIds: readonly string[]): Promise<Grants[]> {
  const rows = await sql<Row & { user_id: string }>(GRANTS_OF, [userIds]);
  return userIds.map(userId => toGrants(rows.filter(row => row.user_id === userId)));
}

/** The same by user. */
export async function grantsByUser(sql: Sql, userIds: readonly string[]): Promise<ReadonlyMap<string, Grants>> {
  const found = await readGrantsOf(sql, userIds);
  return new Map(userIds.map((userId, index) => [userId, found[index]!]));
}

/** What is projected of a user, revoked grants included. */
export const readGrants = async (sql: Sql, userId: string): Promise<Grants> => toGrants(await sql<Row>(GRANTS, [userId]));

/** Nothing of the id is kept, only whether it is one of them. */
export const digestOf = (userId: string): Buffer => sha256(`webhooks:erased-user:${userId}`);

/** Nothing of the user is taken up until this transaction ends. */
export const lockUser = (sql: Sql, userId: string): Promise<unknown> =>
  sql('select pg_advisory_xact_lock(webhooks.user_lock($1))', [userId]);

export interface Entry {
  /** Version of the configuration. */
  version: number;
  erased: boolean;
  grants: Grants;
}

interface EntryRow {
  version: number;
  erased: boolean;
  grants: Row[];
}

const toEntry = ({ version, erased, grants }: EntryRow): Entry => ({ version, erased, grants: toGrants(grants) });

/**
 * What an event's transaction reads first, under two shared locks: until it ends no subscription changes and the user is not
 * erased. One round trip: the function reads after it has the locks. Many events of a user may be taken up at once.
 */
export async function enterUser(sql: Sql, userId: string): Promise<Entry> {
  const [row] = await sql<EntryRow>('select * from webhooks.enter_user($1, $2)', [userId, digestOf(userId)]);
  return toEntry(row!);
}

/** The same with the statement that takes an event up; `enteredOf` gives it to the handler. */
export const readEntry = ({ user_id: userId }: Envelope, first: number): EntranceRead | null =>
  isUuid(userId ?? '')
    ? { text: `select row_to_json(e) from webhooks.enter_user($${first}, $${first + 1}) e`, params: [userId, digestOf(userId!)] }
    : null;

/** Whether the configuration has a version, under the same locks; null: the event is of no user. */
export const hasVersion = ({ user_id: userId }: Envelope, version: number): Condition | null =>
  isUuid(userId ?? '')
    ? {
        text: 'select e.version = own.version from webhooks.enter_user(own.user_id, own.digest) e',
        types: { version: 'float8', user_id: 'uuid', digest: 'bytea' },
        values: [version, userId, digestOf(userId!)],
      }
    : null;

/** Of an event that was taken up just now what was read then, else it is read. */
export async function enteredOf(ctx: Context, userId: string): Promise<Entry> {
  const row = readOf<EntryRow>(ctx);
  return row ? toEntry(row) : enterUser(ctx.sql, userId);
}

const PUT = `
insert into webhooks.grant_projection (user_id, client_id, grant_id, version, scopes) values ($1, $2, $3, $4, $5::jsonb)
on conflict (user_id, client_id) do update set grant_id = excluded.grant_id, version = excluded.version, scopes = excluded.scopes`;

/** Projects a grant's state if it is news. Answers the projection before and after, null when it was old. */
export async function putGrant(
  sql: Sql,
  userId: string,
  clientId: string,
  known: ProjectedGrant | undefined,
  state: GrantState,
): Promise<ProjectedGrant | null> {
  if (!supersedes(known, state)) return null;
  const next = project(known, state);
  await writeGrant(sql, userId, clientId, next);
  return next;
}

/** Writes a projection as it is. */
export const writeGrant = (sql: Sql, userId: string, clientId: string, next: ProjectedGrant): Promise<unknown> =>
  sql(PUT, [userId, clientId, next.grantId, next.version, JSON.stringify(next.scopes)]);

/** A grant in force by identity's answer: its position in the log is not known, so it is judged by time. */
export const stateOf = (grant: AskedGrant): GrantState => ({
  grantId: grant.id,
  version: grant.version,
  active: true,
  scopes: grant.effectiveScopes,
  since: { at: Date.parse(grant.grantedAt), seq: null },
});
