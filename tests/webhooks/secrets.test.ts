import { createHmac } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import type { Received, Receiver } from '../support/receiver.js';
import { call, PROTOCOL, protocolBegan, subscribe, type Subscribed } from './fixture.js';

let p: TestPlatform;
let receiver: Receiver;
let subscription: Subscribed;

beforeAll(async () => {
  p = await platform({ services: ['webhooks', 'clinical'], transport: 'run' });
});

beforeEach(async () => {
  if (subscription) await call(p, 'DELETE', `/v1/webhook-subscriptions/${subscription.id}`);
  receiver = await p.receiver();
  subscription = await subscribe(p, receiver.url, [PROTOCOL]);
});

const rotate = (body: object = {}, headers?: Record<string, string>) =>
  call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/rotate-secret`, body, headers);
const expire = (secretId: string) => call(p, 'POST', `/v1/webhook-subscriptions/${subscription.id}/secrets/${secretId}/expire`);
const read = async (): Promise<any> => (await call(p, 'GET', `/v1/webhook-subscriptions/${subscription.id}`)).body;

const sign = (secret: string, raw: Buffer): string => createHmac('sha256', secret).update(raw).digest('hex');

/** The next delivery, and which secret signed which header. */
async function next(names: Record<string, string>): Promise<Record<string, string | undefined>> {
  const count = receiver.received.length;
  await protocolBegan(p, DEMO);
  const one: Received = (await receiver.until(all => all.length > count))[count]!;
  const nameOf = (header: string) =>
    Object.entries(names).find(([, secret]) => one.headers[header] === sign(secret, one.raw))?.[0] ?? (one.headers[header] && 'unknown');
  return {
    main: nameOf('x-platform-signature'),
    previous: nameOf('x-platform-signature-previous') as string,
    next: nameOf('x-platform-signature-next') as string,
  };
}

test('rotated at once: the main header is signed with the new secret, a second one with the old until the overlap ends', async () => {
  const answer = await rotate({ overlap_hours: 24, activation: 'immediate' });
  expect(answer).toMatchObject({
    status: 200,
    body: {
      id: subscription.id,
      version: 2,
      secrets: [{ status: 'previous' }, { status: 'current', hint: answer.body.signing_secret.slice(-4) }],
    },
  });
  const names = { old: subscription.signing_secret, new: answer.body.signing_secret };
  expect(await next(names)).toEqual({ main: 'new', previous: 'old', next: undefined });
  await p.clock('webhooks', { advance: 'PT24H' });
  expect(await next(names)).toEqual({ main: 'new', previous: undefined, next: undefined });
  expect((await read()).secrets).toMatchObject([{ status: 'current' }]);
  expect(await p.sql('select 1 from webhooks.webhook_secret where subscription_id = $1', [subscription.id])).toHaveLength(1); // the old one is destroyed
});

test('rotated after the overlap: the main header stays with the old secret, a second one shows the new, until the new takes over', async () => {
  const answer = await rotate({ overlap_hours: 1, activation: 'after_overlap' });
  expect(answer.body.secrets).toMatchObject([{ status: 'current' }, { status: 'next' }]);
  const names = { old: subscription.signing_secret, new: answer.body.signing_secret };
  expect(await next(names)).toEqual({ main: 'old', previous: undefined, next: 'new' });
  expect(await rotate()).toMatchObject({ status: 409, body: { reason: 'next_waits' } });
  await p.clock('webhooks', { advance: 'PT1H' });
  expect(await next(names)).toEqual({ main: 'new', previous: undefined, next: undefined });
  expect((await read()).secrets).toMatchObject([{ status: 'current', hint: answer.body.signing_secret.slice(-4), activates_at: null }]);
});

test('rotated without an overlap, a leaked secret signs nothing any more', async () => {
  const answer = await rotate({ overlap_hours: 0 });
  expect(await next({ old: subscription.signing_secret, new: answer.body.signing_secret })).toEqual({
    main: 'new',
    previous: undefined,
    next: undefined,
  });
});

test('a previous secret can be ended, a next one be let take over, the current one neither', async () => {
  const first = await rotate();
  const [previous, current] = first.body.secrets;
  expect(await expire(current.id)).toMatchObject({ status: 409 });
  expect((await expire(previous.id)).body.secrets).toMatchObject([{ id: current.id, status: 'current' }]);
  expect((await expire(previous.id)).status).toBe(404);
  const second = await rotate({ activation: 'after_overlap' });
  const waiting = second.body.secrets.find((one: any) => one.status === 'next');
  expect((await expire(waiting.id)).body.secrets).toMatchObject([{ id: waiting.id, status: 'current' }]);
  expect(await next({ first: first.body.signing_secret, second: second.body.signing_secret })).toEqual({
    main: 'second',
    previous: undefined,
    next: undefined,
  });
});

test('a repeated rotation with one Idempotency-Key answers with the same secret', async () => {
  const [one, two] = [await rotate({}, { 'idempotency-key': 'rotate-1' }), await rotate({}, { 'idempotency-key': 'rotate-1' })];
  expect(two.body).toEqual(one.body);
  expect((await read()).secrets).toHaveLength(2);
});

test.each([-1, 169, 1.5])('an overlap of %d hours is a 400', async hours => {
  expect(await rotate({ overlap_hours: hours })).toMatchObject({ status: 400, body: { errors: [{ pointer: '/overlap_hours' }] } });
});
