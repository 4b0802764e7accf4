import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { biomarkerAdded, protocolStarted, retestPrompted } from '../../events/catalogue/clinical.js';
import type { DataOf, EventDefinition } from '../../events/define.js';
import { giveConsent, revokeConsent } from '../../subgraphs/identity/commands/consent.js';
import { OAuthGrant, OAuthGrantRevokedBy } from '../../subgraphs/identity/entities/grant.js';
import type { Answer, TestPlatform } from '../support/platform.js';
import type { Received } from '../support/receiver.js';
import { newId } from '../../runtime/data/ids.js';
import { until } from '../support/until.js';

export const PROTOCOL = protocolStarted.name;
export const PROMPTED = retestPrompted.name;
export const BIOMARKER = biomarkerAdded.name;
const AN_ID = '0190b3a0-1111-7000-8000-000000000001';

/** Emits an event as its owner does, in a transaction of its own; answers the event's id. */
export function emit<E extends EventDefinition>(p: TestPlatform, definition: E, data: DataOf<E>, userId: string): Promise<string> {
  return p.host(definition.owner).transaction(async ctx => {
    ctx.emit(definition, data, { userId });
    return ctx.events.at(-1)!.id;
  });
}

/** A protocol of this version began; scope read:protocols. */
export const protocolBegan = (p: TestPlatform, userId: string, version = 1): Promise<string> =>
  emit(p, protocolStarted, { protocol_id: AN_ID, protocol: 'lipid_reset', version, started_on: '2026-08-01', prescriber_id: null }, userId);

/** A re-test was prompted; scope read:my_outcomes. */
export const prompted = (p: TestPlatform, userId: string, count = 1): Promise<string> =>
  emit(p, retestPrompted, { code: 'ldl_c', prompt_count: count, prompted_at: '2026-10-30T12:00:00.000Z' }, userId);

/** Consent of a user to an app, as identity records it. */
export const consent = (p: TestPlatform, userId: string, clientId: string, scopes: string[]): Promise<unknown> =>
  p.host('identity').transaction(ctx => giveConsent(ctx, userId, clientId, { granted: scopes, declined: [] } as never));

/** The user disconnects the app. */
export const revoke = (p: TestPlatform, userId: string, clientId: string): Promise<void> =>
  p.host('identity').transaction(async ctx => {
    const grant = await ctx.em.findOneOrFail(OAuthGrant, { userId, clientId, status: { $ne: 'revoked' } as never });
    await revokeConsent(ctx, grant, { by: OAuthGrantRevokedBy.USER, reason: 'user_revoked', families: 'grant_revoked' as never });
  });

export interface Subscribed {
  id: string;
  signing_secret: string;
  [key: string]: any;
}

/** Subscribes an endpoint of `demo-app`, or of another client. */
export async function subscribe(
  p: TestPlatform,
  url: string,
  eventTypes: string[] = [PROMPTED, PROTOCOL],
  more: object = {},
): Promise<Subscribed> {
  const body = { client_id: 'demo-app', name: 'Test', url, event_types: eventTypes, ...more };
  const answer = await p.rest('POST', '/webhooks/v1/webhook-subscriptions', { token: await p.serviceToken(), body });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body as Subscribed;
}

/** A call with a service token that holds every admin scope. */
export const call = async (
  p: TestPlatform,
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
): Promise<Answer> => p.rest(method, `/webhooks${path}`, { token: await p.serviceToken(), body, headers });

/** Deliveries of a subscription, oldest first. */
export async function deliveriesOf(p: TestPlatform, subscriptionId: string): Promise<any[]> {
  const answer = await call(p, 'GET', `/v1/webhook-deliveries?subscription_id=${subscriptionId}&limit=100`);
  expect(answer.status).toBe(200);
  return answer.body.data.reverse();
}

/** Waits until the deliveries of a subscription have these statuses, oldest first. */
export const untilStatuses = (p: TestPlatform, subscriptionId: string, statuses: string[], timeoutMs?: number): Promise<any[]> =>
  until(
    `deliveries to be ${statuses.join(', ')}`,
    () => deliveriesOf(p, subscriptionId),
    all => JSON.stringify(all.map(one => one.status)) === JSON.stringify(statuses),
    timeoutMs,
  );

/** Waits until an event has passed the webhooks consumer, whatever it made of it. */
export const untilIngested = async (p: TestPlatform, eventId: string): Promise<void> =>
  void (await until(
    'the event to be taken up',
    () => p.sql(`select 1 from webhooks.inbox where consumer = 'webhooks.delivery' and event_id = $1`, [eventId]),
    rows => rows.length > 0,
  ));

/** The signature over the raw bytes, by node:crypto and by openssl. */
export function expectSigned({ headers, raw }: Received, secret: string): void {
  const sent = String(headers['x-platform-signature']);
  expect(sent).toBe(createHmac('sha256', secret).update(raw).digest('hex'));
  expect(execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret, '-r'], { input: raw, encoding: 'utf8' }).split(' ')[0]).toBe(sent);
}

/** A machine client of its own, as an outside developer's portal has; answers a token for its scopes. */
export async function machineClient(p: TestPlatform, id: string, scopes = ['admin:webhooks']): Promise<string> {
  const body = { client_id: id, name: id, kind: 'machine', scopes };
  const answer = await p.rest('POST', '/identity/v1/admin/oauth-clients', { token: await p.serviceToken(), body });
  expect(answer).toMatchObject({ status: 201 });
  return p.serviceToken('', { id, secret: answer.body.client_secret });
}

/** A call with somebody else's token. */
export const callAs = (p: TestPlatform, token: string | null, method: string, path: string, body?: unknown): Promise<Answer> =>
  p.rest(method, `/webhooks${path}`, { token, body });

/** Users who have granted `demo-app` the scope: accounts and grants as identity keeps them, and as the projection has them. */
export async function grantees(p: TestPlatform, count: number, scopes = ['read:protocols']): Promise<string[]> {
  const users = Array.from({ length: count }, newId);
  const grants = users.map(newId);
  const since = Object.fromEntries(scopes.map(scope => [scope, { at: 0, seq: 0 }]));
  await p.sql(
    `insert into identity."user" (id, status, created_at, updated_at) select u, 'active', '2026-01-01', '2026-01-01' from unnest($1::uuid[]) u`,
    [users],
  );
  await p.sql(
    `insert into identity.oauth_grant (id, user_id, client_id, scopes, status, granted_at, created_at, updated_at, version)
     select g, u, 'demo-app', $3, 'active', '2026-01-01', '2026-01-01', '2026-01-01', 1 from unnest($1::uuid[], $2::uuid[]) as t(u, g)`,
    [users, grants, scopes],
  );
  await p.sql(
    `insert into webhooks.grant_projection (user_id, client_id, grant_id, version, scopes) select u, 'demo-app', g, 1, $3 from unnest($1::uuid[], $2::uuid[]) as t(u, g)`,
    [users, grants, since],
  );
  return users;
}
