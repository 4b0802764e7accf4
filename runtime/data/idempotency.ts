import { createHash } from 'node:crypto';
import { prepared } from '../../events/prepared.js';
import type { Context } from '../request/context.js';
import type { RequestInfo } from '../request/request.js';
import { fail } from '../request/errors.js';
import { answerOf, textOf } from './kept-answer.js';

/** Answers are replayed for 24 hours. Source: conventions 8. */
const KEPT_HOURS = 24;

interface Stored {
  hash: Buffer;
  status: number | null;
  entity_type: string | null;
  entity_id: string | null;
  answer: Buffer | null;
}

interface Operation {
  field: string;
  /** Response path, so that two aliases of one field in one request are two operations. */
  path: string;
  args: Record<string, unknown>;
  /** Name of the returned type. */
  type: string;
}

const stable = (value: unknown): unknown =>
  value === null || typeof value !== 'object' || value instanceof Date
    ? value
    : Array.isArray(value)
      ? value.map(stable)
      : Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, one]) => [key, stable(one)]),
        );

/** The same for values that are equal, whatever the order of their names. */
export const hashOf = (value: unknown): Buffer =>
  createHash('sha256')
    .update(JSON.stringify(stable(value)))
    .digest();

const callerKey = (ctx: Context): string => `${ctx.caller.kind}:${ctx.caller.clientId}:${ctx.caller.userId ?? ''}`;

/** @throws Problem invalid_request for a key that is blank or longer than 255 characters; also where an operation does not use it. */
export function checkKey({ idempotencyKey: key }: RequestInfo): void {
  const wrong = key === null ? null : key.trim() === '' ? 'must not be blank' : key.length > 255 ? 'at most 255 characters' : null;
  if (wrong) fail('invalid_request', 'The Idempotency-Key is invalid', { errors: [{ pointer: '', message: `Idempotency-Key: ${wrong}` }] });
}

/** Caller, field, response path and `Idempotency-Key`. */
export type Identity = readonly [caller: string, field: string, path: string, key: string];

/** What a request's key is stored under; null without one. */
export const identityOf = (ctx: Context, field: string, path: string): Identity | null =>
  ctx.request.idempotencyKey === null ? null : [callerKey(ctx), field, path, ctx.request.idempotencyKey];

/**
 * Runs an operation once per (caller, field, response path, `Idempotency-Key`), inside its transaction.
 * @throws Problem conflict while the first is running; idempotency_mismatch for the same key with other arguments.
 */
export async function once(ctx: Context, operation: Operation, work: () => Promise<unknown>): Promise<unknown> {
  const identity = identityOf(ctx, operation.field, operation.path);
  if (identity === null) return work();
  await claimKey(ctx, identity);
  const stored = await find(ctx, identity);
  if (stored) return replay(ctx, operation, stored, identity);
  const result = await work();
  await remember(ctx, identity, operation, result);
  return result;
}

/** Keeps the key until the transaction ends. @throws Problem conflict where another transaction has it. */
export async function claimKey(ctx: Context, identity: Identity): Promise<void> {
  const [row] = await ctx.sql<{ ok: boolean }>(prepared('select pg_try_advisory_xact_lock(hashtextextended($1, 11)) as ok'), [
    `${ctx.schema}:${identity.join('\n')}`,
  ]);
  if (!row?.ok) fail('conflict', 'A request with this Idempotency-Key is running');
}

async function find(ctx: Context, identity: Identity): Promise<Stored | undefined> {
  const [row] = await ctx.sql<Stored>(
    prepared(`select hash, status, entity_type, entity_id, answer from ${ctx.schema}.idempotency_key
     where caller = $1 and field = $2 and path = $3 and key = $4 and created_at >= now() - interval '${KEPT_HOURS} hours'`),
    identity,
  );
  return row;
}

/** @throws Problem idempotency_mismatch */
export function requireSameHash(stored: Buffer, hash: Buffer): void {
  if (!stored.equals(hash)) fail('idempotency_mismatch', 'This Idempotency-Key was used with another body');
}

/** The answer bears `Idempotent-Replayed` and the first one's status. */
export function markReplayed(ctx: Context, status: number | null): void {
  ctx.request.isReplayed = true;
  if (status !== null) ctx.status(status);
}

async function replay(ctx: Context, operation: Operation, stored: Stored, identity: Identity): Promise<unknown> {
  requireSameHash(stored.hash, hashOf(operation.args));
  markReplayed(ctx, stored.status);
  if (stored.answer) return answerOf(ctx.em, ctx.host.sealer.open(stored.answer, identity.join('\n')));
  const ids = JSON.parse(stored.entity_id!) as string | string[];
  const load = ctx.host.references[stored.entity_type ?? ''];
  const found =
    (await load?.(
      ctx,
      [ids].flat().map(id => ({ __typename: stored.entity_type, id })),
    )) ?? [];
  if (!load || found.some(one => one === null)) fail('not_found', 'Not found');
  return Array.isArray(ids) ? found : found[0];
}

/** Ids of what an operation answers, one or a list; null where it is no entity that can be read again. */
function entityIds(ctx: Context, type: string, result: unknown): string | string[] | null {
  if (ctx.host.references[type] === undefined) return null;
  const ids = [result].flat().map(one => (one as { id?: unknown } | null)?.id);
  if (!ids.every(id => typeof id === 'string')) return null;
  return Array.isArray(result) ? ids : ids[0]!;
}

/** Entities are re-read on replay, so their values are not kept twice; any other answer is kept sealed. What is no longer replayed is replaced. */
async function remember(ctx: Context, identity: Identity, operation: Operation, result: unknown): Promise<void> {
  const ids = entityIds(ctx, operation.type, result);
  const answer = ids === null ? ctx.host.sealer.seal(textOf(result), identity.join('\n')) : null;
  await ctx.sql(
    prepared(`insert into ${ctx.schema}.idempotency_key (caller, field, path, key, hash, status, entity_type, entity_id, answer, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now())
     on conflict (caller, field, path, key) do update set hash = excluded.hash, status = excluded.status, entity_type = excluded.entity_type,
       entity_id = excluded.entity_id, answer = excluded.answer, created_at = excluded.created_at`),
    [
      ...identity,
      hashOf(operation.args),
      ctx.request.status,
      ids === null ? null : operation.type,
      ids === null ? null : JSON.stringify(ids),
      answer,
    ],
  );
}

/** Drops answers that are no longer replayed; run hourly. */
export const dropOldKeys = (ctx: Context): Promise<unknown> =>
  ctx.sql(`delete from ${ctx.schema}.idempotency_key where created_at < now() - interval '${KEPT_HOURS} hours'`);
