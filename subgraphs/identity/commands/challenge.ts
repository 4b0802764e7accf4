import { randomBytes, randomInt } from 'node:crypto';
import type { RequiredEntityData } from '@mikro-orm/postgresql';
import { magicLinkRequested, twoFactorChallenge } from '../../../events/catalogue/identity.js';
import { sha256 } from '../../../runtime/data/crypto.js';
import { newId } from '../../../runtime/data/ids.js';
import type { ServiceHost, Context } from '../../../runtime/request/context.js';
import { fail } from '../../../runtime/request/errors.js';
import { requestMessage } from '../../../runtime/request/messages.js';
import { after } from '../../../runtime/time/durations.js';
import { AuthChallenge, AuthChallengeChannel } from '../entities/challenge.js';
import { codeHash, signingSealer } from '../ports/keyring.js';
import { challengeState, type ChallengeKind, CHALLENGES, type ChallengeTemplate } from '../rules/challenges.js';
import { PAGES } from '../rules/endpoints.js';

export interface NewChallenge {
  template: ChallengeTemplate;
  /** Address or phone number of the person. */
  to: string;
  /** The account that it is about; null for an invitation. */
  userId: string | null;
  /** Member of staff that an invitation is for. */
  staffId?: string;
  channel?: AuthChallengeChannel;
  /** Default: the account's. */
  locale?: string | null;
  /** The authorization request that asks. */
  interactionUid?: string;
  /** It only looks like one: it is not sent, so nobody can have its code. */
  unsent?: boolean;
  /** Kept sealed until the proof; see `payloadOf`. */
  payload?: object;
  /** An outside provider's own code (null: it has none), link and lifetime. */
  code?: string | null;
  link?: string;
  lifetimeMs?: number;
}

type Sealed = 'recipient' | 'code' | 'link' | 'payload';

const sealContext = (field: Sealed, id: string): string => `auth_challenge.${field}:${id}`;

/** Opens a sealed column of a challenge; null when it is gone. */
export const openField = (host: ServiceHost, field: Sealed, id: string, sealed: Buffer | null): string | null =>
  sealed && signingSealer(host).open(sealed, sealContext(field, id));

const hashOf = (host: ServiceHost, id: string, code: string): Buffer => codeHash(host, 'challenge_code', `${id}:${code}`);

const newCode = (): string => String(randomInt(1_000_000)).padStart(6, '0');

async function localeOf(ctx: Context, userId: string | null): Promise<string | null> {
  const [row] = await ctx.sql<{ locale: string }>('select locale from identity.user_settings where user_id = $1', [userId]);
  return row?.locale ?? null;
}

/** Asks comms to send it, which fetches the rest through `authDelivery`: never an address, link or code. */
function announce(ctx: Context, { announce: how }: ChallengeKind, challenge: AuthChallenge): void {
  const { id: challenge_id, userId, staffId, channel, locale, template } = challenge;
  const expires_at = challenge.expiresAt.toISOString();
  if (how === 'code') return ctx.emit(twoFactorChallenge, { challenge_id, method: channel, expires_at }, { userId: userId! });
  if (how !== 'message')
    return ctx.emit(magicLinkRequested, { challenge_id, channel, purpose: how, locale, expires_at }, { userId: userId! });
  requestMessage(ctx, staffId ? { staffId } : { userId: userId! }, {
    template,
    channels: [channel],
    params: { challenge_id },
    dedupeKey: `${template}:${challenge_id}`,
  });
}

function secretsOf(ctx: Context, id: string, kind: ChallengeKind, { code, link }: NewChallenge): Partial<AuthChallenge> {
  const sealer = signingSealer(ctx.host);
  const typed = code === undefined && kind.hasCode ? newCode() : (code ?? null);
  const token = kind.linkPath && link === undefined ? randomBytes(32).toString('base64url') : null;
  const address = link ?? (token && `${ctx.host.config.issuer}${PAGES}/${kind.linkPath}/${token}`);
  return {
    codeSealed: typed === null ? null : sealer.seal(typed, sealContext('code', id)),
    codeHash: typed === null ? null : hashOf(ctx.host, id, typed),
    linkSealed: address == null ? null : sealer.seal(address, sealContext('link', id)),
    linkHash: token === null ? null : sha256(token),
  };
}

/** What is kept sealed beside code and link: where it goes, and what takes effect with its proof. */
function contentsOf(
  { host }: Context,
  id: string,
  { to, payload }: NewChallenge,
): Pick<AuthChallenge, 'recipientSealed' | 'payloadSealed'> {
  const sealer = signingSealer(host);
  const payloadSealed = payload ? sealer.seal(JSON.stringify(payload), sealContext('payload', id)) : null;
  return { recipientSealed: sealer.seal(to, sealContext('recipient', id)), payloadSealed };
}

/** Makes a challenge and has it sent, both with this transaction. Nobody but comms learns its code and link. Source: identity 2, 5. */
export async function issueChallenge(ctx: Context, wanted: NewChallenge): Promise<AuthChallenge> {
  const { template, userId, staffId = null, channel = AuthChallengeChannel.EMAIL, interactionUid } = wanted;
  const kind: ChallengeKind = CHALLENGES[template];
  const [id, createdAt, purpose] = [newId(), ctx.now(), kind.purpose];
  const values = {
    id,
    userId,
    staffId,
    template,
    channel,
    purpose,
    createdAt,
    interactionHash: interactionUid === undefined ? null : sha256(interactionUid),
    locale: wanted.locale ?? (await localeOf(ctx, userId)),
    expiresAt: after(createdAt, wanted.lifetimeMs ?? kind.lifetimeMs),
    ...contentsOf(ctx, id, wanted),
    ...secretsOf(ctx, id, kind, wanted),
  };
  const challenge = ctx.em.create(AuthChallenge, values as RequiredEntityData<AuthChallenge>, { partial: true });
  await ctx.em.flush();
  if (!wanted.unsent) announce(ctx, kind, challenge);
  ctx.audit('challenge.issued', id, { purpose, template, channel });
  return challenge;
}

/** A challenge that has just been proven. */
export interface Proven {
  id: string;
  template: ChallengeTemplate;
  userId: string | null;
  staffId: string | null;
  /** Where it was sent: what is proven. */
  to: string;
  payload: Record<string, unknown> | null;
}

interface ProvenRow {
  id: string;
  template: ChallengeTemplate;
  user_id: string | null;
  staff_id: string | null;
  recipient_sealed: Buffer;
  payload_sealed: Buffer | null;
  proven: boolean;
  attempts_left: number;
}

const LIVE = 'consumed_at is null and attempts_left > 0 and expires_at > $1';
const ROW = 'id, template, user_id, staff_id, recipient_sealed, payload_sealed, consumed_at is not null as proven, attempts_left';

/** One statement judges and spends; of two at once the second finds the row as the first has left it. */
const TAKE_CODE = `
update identity.auth_challenge set consumed_at = case when code_hash = $4 then $1::timestamptz end,
  attempts_left = attempts_left - case when code_hash = $4 then 0 else 1 end,
  code_sealed = case when code_hash = $4 or attempts_left = 1 then null else code_sealed end,
  link_sealed = case when code_hash = $4 or attempts_left = 1 then null else link_sealed end
where id = $2 and template = any($3) and code_hash is not null and ${LIVE} returning ${ROW}`;

const TAKE_LINK = `
update identity.auth_challenge set consumed_at = $1, code_sealed = null, link_sealed = null
where link_hash = $2 and template = any($3) and ${LIVE} returning ${ROW}`;

const asProven = (ctx: Context, row: ProvenRow): Proven => ({
  id: row.id,
  template: row.template,
  userId: row.user_id,
  staffId: row.staff_id,
  to: openField(ctx.host, 'recipient', row.id, row.recipient_sealed)!,
  payload: row.payload_sealed && JSON.parse(openField(ctx.host, 'payload', row.id, row.payload_sealed)!),
});

/** `wrong`: it may be tried again. `exhausted`: that was the last try. `over`: used, spent, run out, or never there. */
export type Miss = 'wrong' | 'exhausted' | 'over';

/**
 * Judges a typed code; a right one spends the challenge, a wrong one a try. The transaction must be committed in either case, so a
 * refusal is thrown after it. Who may try is the caller's to decide before.
 */
export async function acceptCode(ctx: Context, id: string, code: string, templates: readonly ChallengeTemplate[]): Promise<Proven | Miss> {
  const typed = code.replace(/[\s-]/g, '');
  const [row] = await ctx.sql<ProvenRow>(TAKE_CODE, [ctx.now().toISOString(), id, templates, hashOf(ctx.host, id, typed)]);
  if (!row) return 'over';
  ctx.audit(row.proven ? 'challenge.proven' : 'challenge.missed', id, { template: row.template, by: 'code' });
  if (!row.proven) return row.attempts_left > 0 ? 'wrong' : 'exhausted';
  return asProven(ctx, row);
}

/**
 * Answers a code that was not taken, after the commit.
 * @throws Problem invalid_request for one that may be tried again, conflict with the state of a challenge that is over.
 */
export function refuseCode(ctx: Context, challenge: AuthChallenge, miss: Miss): never {
  if (miss === 'wrong') fail('invalid_request', 'The code is wrong', { errors: [{ pointer: '/input/code', message: 'is wrong' }] });
  const state = miss === 'exhausted' ? 'exhausted' : challengeState(challenge, ctx.now());
  return fail('conflict', `The request is ${state}; begin again`, { reason: state });
}

/** Spends the challenge that a link's token belongs to; null when it is used, over or unknown. Needs a transaction. */
export async function acceptLink(ctx: Context, token: string, templates: readonly ChallengeTemplate[]): Promise<Proven | null> {
  const [row] = await ctx.sql<ProvenRow>(TAKE_LINK, [ctx.now().toISOString(), sha256(token), templates]);
  if (!row) return null;
  ctx.audit('challenge.proven', row.id, { template: row.template, by: 'link' });
  return asProven(ctx, row);
}

/** Which challenges end: those of an account, of a member of staff, or one. */
export type ChallengeKey = 'id' | 'user_id' | 'staff_id';

/** Ends what is still open, for example when a new one replaces it. Needs a transaction. */
export async function endChallenges(
  ctx: Context,
  key: ChallengeKey,
  value: string,
  templates: readonly ChallengeTemplate[],
): Promise<void> {
  await ctx.sql(
    `update identity.auth_challenge set expires_at = $1, code_sealed = null, link_sealed = null where ${key} = $2 and template = any($3) and ${LIVE}`,
    [ctx.now().toISOString(), value, templates],
  );
}
