import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, DEMO, platform, type TestPlatform } from '../support/platform.js';
import type { Receiver } from '../support/receiver.js';
import {
  call,
  callAs,
  consent,
  machineClient,
  PROTOCOL,
  protocolBegan,
  revoke,
  subscribe,
  untilStatuses,
  type Subscribed,
} from './fixture.js';

const SCOPES = ['read:protocols', 'read:my_outcomes'];

let p: TestPlatform;
let receiver: Receiver;
/** Of `demo-app`, which the portal manages, and of `demo-partner-app`, which it does not. */
let own: Subscribed;
let foreign: Subscribed;
let portal: string;
let eventId: string;

const asPortal = (method: string, path: string, body?: unknown) => callAs(p, portal, method, path, body);
const put = (id: string, clientIds: unknown) => call(p, 'PUT', `/v1/webhook-managers/${id}`, { client_ids: clientIds });

beforeAll(async () => {
  p = await platform({ services: ['webhooks', 'clinical'], transport: 'run' });
  receiver = await p.receiver();
  portal = await machineClient(p, 'acme-portal');
  await p.sql(
    `insert into identity.oauth_client_agreement (id, client_id, kind, document_version, scopes, signed_by, signed_at)
     values (gen_random_uuid(), 'demo-partner-app', 'phi', '1', $1, 'Legal', now())`,
    [SCOPES],
  );
  await p.sql(`update identity.oauth_client set scopes = scopes || $1 where id = 'demo-partner-app'`, [SCOPES]);
  await consent(p, DEMO, 'demo-partner-app', SCOPES);
  own = await subscribe(p, `${receiver.url}/own`, [PROTOCOL]);
  foreign = await subscribe(p, `${receiver.url}/foreign`, [PROTOCOL], { client_id: 'demo-partner-app' });
  eventId = await protocolBegan(p, DEMO);
  await untilStatuses(p, own.id, ['delivered']);
  await untilStatuses(p, foreign.id, ['delivered']);
  expect(await put('acme-portal', ['demo-app'])).toMatchObject({ status: 200 });
});

describe('PUT /v1/webhook-managers/{manager_client_id}', () => {
  test('binds a machine client to the clients it may manage; the list shows it, a repetition changes it', async () => {
    const answer = await put('acme-portal', ['demo-app', 'demo-app']);
    expect(answer.body).toMatchObject({ manager_client_id: 'acme-portal', client_ids: ['demo-app'] });
    const all = await call(p, 'GET', '/v1/webhook-managers');
    expect(all.body.data.map((one: any) => one.manager_client_id)).toEqual(['acme-portal']);
    const audits = await p.sql(`select details from webhooks.audit_log where action = 'webhook_manager.set' and target = 'acme-portal'`);
    expect(audits[0].details).toEqual({ client_ids: ['demo-app'] });
  });

  test('is a 400 that names each wrong client: no machine client, no Connect client, unknown', async () => {
    const answer = await put('demo-app', ['demo-m2m', 'demo-app', 'nobody-knows']);
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toEqual([
      { pointer: '/manager_client_id', message: 'is not a machine client' },
      { pointer: '/client_ids/0', message: 'has no user flow, so nobody can grant it access' },
      { pointer: '/client_ids/2', message: 'is not a known client' },
    ]);
    expect(
      (
        await put(
          'acme-portal',
          Array.from({ length: 101 }, () => 'demo-app'),
        )
      ).status,
    ).toBe(400);
    expect((await put('acme-portal', undefined)).status).toBe(400);
  });

  test('is for staff and unbound services only', async () => {
    for (const [method, path, body] of [
      ['PUT', '/v1/webhook-managers/acme-portal', { client_ids: ['demo-partner-app'] }],
      ['DELETE', '/v1/webhook-managers/acme-portal', undefined],
      ['GET', '/v1/webhook-managers', undefined],
      ['POST', `/v1/webhook-subscriptions/${own.id}/disable`, { reason: 'x' }],
    ] as const)
      expect([path, (await asPortal(method, path, body)).status]).toEqual([path, 403]);
    const manager = await p.userToken(ADMIN, [], {
      clientId: 'demo-admin',
      permissions: ['admin:webhooks:manage'],
      roles: ['developer'],
    } as never);
    expect((await callAs(p, manager, 'GET', '/v1/webhook-managers')).status).toBe(200);
  });
});

describe('a machine client in webhook_manager', () => {
  test('does not find what belongs to a client that is not assigned to it: read, change, replay', async () => {
    const [delivery] = (await call(p, 'GET', `/v1/webhook-deliveries?subscription_id=${foreign.id}`)).body.data;
    const operations = [
      ['GET', `/v1/webhook-subscriptions/${foreign.id}`],
      ['PATCH', `/v1/webhook-subscriptions/${foreign.id}`, { name: 'Mine now' }],
      ['DELETE', `/v1/webhook-subscriptions/${foreign.id}`],
      ['POST', `/v1/webhook-subscriptions/${foreign.id}/pause`],
      ['POST', `/v1/webhook-subscriptions/${foreign.id}/resume`],
      ['POST', `/v1/webhook-subscriptions/${foreign.id}/enable`],
      ['POST', `/v1/webhook-subscriptions/${foreign.id}/rotate-secret`, {}],
      ['POST', `/v1/webhook-subscriptions/${foreign.id}/secrets/${foreign.secrets[0].id}/expire`],
      ['GET', `/v1/webhook-subscriptions/${foreign.id}/stats`],
      ['GET', `/v1/webhook-deliveries/${delivery.id}`],
      ['GET', `/v1/webhook-deliveries/${delivery.id}/attempts`],
      ['POST', `/v1/webhook-deliveries/${delivery.id}/retry`],
      ['POST', `/v1/webhook-deliveries/${delivery.id}/replay`],
      ['POST', `/v1/webhook-dead-letters/${delivery.id}/discard`],
      ['POST', `/v1/webhooks/${eventId}/replay`, { client_id: 'demo-partner-app' }],
      ['POST', `/v1/webhooks/${eventId}/replay`, { subscription_id: foreign.id }],
      ['GET', '/v1/webhook-subscriptions?client_id=demo-partner-app'],
      ['GET', '/v1/webhook-deliveries?client_id=demo-partner-app'],
      ['GET', '/v1/webhook-dead-letters?client_id=demo-partner-app'],
      ['GET', '/v1/webhook-attempts?client_id=demo-partner-app'],
      ['GET', '/v1/webhook-event-types?client_id=demo-partner-app'],
      [
        'POST',
        '/v1/webhook-subscriptions',
        { client_id: 'demo-partner-app', name: 'x', url: `${receiver.url}/x`, event_types: [PROTOCOL] },
      ],
    ] as const;
    for (const [method, path, body] of operations)
      expect([method, path, (await asPortal(method, path, body)).status]).toEqual([method, path, 404]);
    expect((await call(p, 'GET', `/v1/webhook-subscriptions/${foreign.id}`)).body).toMatchObject({ name: 'Test', status: 'active' });
  });

  test('lists cover its clients and no others', async () => {
    const subscriptions = (await asPortal('GET', '/v1/webhook-subscriptions')).body.data;
    expect(subscriptions.map((one: any) => one.id)).toEqual([own.id]);
    for (const path of ['/v1/webhook-deliveries', '/v1/webhook-attempts']) {
      const rows = (await asPortal('GET', path)).body.data;
      expect(rows.map((one: any) => one.subscription_id)).toEqual([own.id]);
    }
    const answer = await p.graphql(
      `query ($event: ID!) { _: webhookSubscriptions { nodes { id } } webhookDeliveries(eventId: $event) { nodes { subscriptionId } } }`,
      { event: eventId },
      { token: portal },
    );
    expect(answer.data).toEqual({ _: { nodes: [{ id: own.id }] }, webhookDeliveries: { nodes: [{ subscriptionId: own.id }] } });
  });

  test('manages its own: reads, replays, and creates without naming its only client', async () => {
    const created = await asPortal('POST', '/v1/webhook-subscriptions', { name: 'x', url: `${receiver.url}/new`, event_types: [PROTOCOL] });
    expect(created).toMatchObject({ status: 201, body: { client_id: 'demo-app' } });
    expect((await asPortal('DELETE', `/v1/webhook-subscriptions/${created.body.id}`)).status).toBe(204);
    const replayed = await asPortal('POST', `/v1/webhooks/${eventId}/replay`);
    expect(replayed.body.deliveries.map((one: any) => [one.subscription_id, one.action])).toEqual([[own.id, 'created']]);
    await untilStatuses(p, own.id, ['delivered', 'delivered']);
  });

  test('sees payloads while the grant is active, and not after; staff need the permission of the owner', async () => {
    const [delivery] = (await asPortal('GET', `/v1/webhook-deliveries?event_id=${eventId}`)).body.data;
    const payload = async () => (await asPortal('GET', `/v1/webhook-deliveries/${delivery.id}`)).body.payload;
    expect(await payload()).toMatchObject({ id: eventId, client_id: 'demo-app' });
    await revoke(p, DEMO, 'demo-app');
    await expect.poll(payload, { timeout: 10_000 }).toBeNull();
    await consent(p, DEMO, 'demo-app', SCOPES);
    await expect.poll(payload, { timeout: 10_000 }).toMatchObject({ id: eventId });
  });

  test('cannot enable what staff disabled', async () => {
    await call(p, 'POST', `/v1/webhook-subscriptions/${own.id}/disable`, { reason: 'abuse' });
    expect((await asPortal('POST', `/v1/webhook-subscriptions/${own.id}/enable`)).status).toBe(403);
    expect((await call(p, 'GET', `/v1/webhook-subscriptions/${own.id}`)).body.status).toBe('disabled');
    expect((await call(p, 'POST', `/v1/webhook-subscriptions/${own.id}/enable`)).status).toBe(200);
  });

  test('with an empty list sees nothing; without an entry it manages all', async () => {
    await put('acme-portal', []);
    expect((await asPortal('GET', '/v1/webhook-subscriptions')).body.data).toEqual([]);
    expect((await asPortal('GET', `/v1/webhook-subscriptions/${own.id}`)).status).toBe(404);
    const create = { name: 'x', url: `${receiver.url}/y`, event_types: [PROTOCOL] };
    expect((await asPortal('POST', '/v1/webhook-subscriptions', create)).status).toBe(400);
    expect((await call(p, 'DELETE', '/v1/webhook-managers/acme-portal')).status).toBe(204);
    expect((await call(p, 'DELETE', '/v1/webhook-managers/acme-portal')).status).toBe(404);
    expect((await asPortal('GET', `/v1/webhook-subscriptions/${foreign.id}`)).status).toBe(200);
  });
});
