import { beforeAll, expect, test } from 'vitest';
import { memberMilestoneUnlocked, membershipActivated, membershipTierChanged } from '../../events/catalogue/membership.js';
import type { DataOf, EventDefinition } from '../../events/define.js';
import { prepareEvent } from '../../events/outbox.js';
import { ADMIN, BRAND, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
beforeAll(async () => {
  p = await platform({ services: ['identity'] });
  const token = await p.serviceToken('admin:identity');
  const upsert = 'mutation($input: UpsertBadgeInput!) { upsertBadge(input: $input) { key } }';
  for (const key of ['first_order', 'silver', 'gold'])
    await p.graphql(upsert, { input: { key, name: key, description: `For ${key}` } }, { token });
});

/** As membership emits it. */
async function emit<E extends EventDefinition>(event: E, data: DataOf<E>, userId: string): Promise<string> {
  const meta = { source: 'membership', requestId: null, causationId: null, actor: 'service:membership', traceparent: null } as const;
  const pending = prepareEvent(event, data, { userId }, meta);
  await p.sql(`set role platform_events; select events.append('${JSON.stringify([pending]).replaceAll("'", "''")}', null); reset role`);
  return pending.id;
}

const AT = '2026-11-20T09:30:00.000Z';
const unlock = (milestone: string, userId = DEMO) =>
  emit(memberMilestoneUnlocked, { milestone, unlocked_at: AT, reward_key: null }, userId);

function changeTier(from: string, to: string, userId = DEMO): Promise<string> {
  const id = '0190b3a0-1111-7000-8000-00000000beef';
  const common = { membership_id: id, plan_id: id, plan_key: 'core', tier_key: to, brand_id: BRAND, subscription_id: null };
  return emit(membershipTierChanged, { ...common, from_tier: from, to_tier: to, direction: 'up', effective_at: AT }, userId);
}

function activate(tier: string, userId: string): Promise<string> {
  const id = '0190b3a0-1111-7000-8000-00000000beef';
  const common = { membership_id: id, plan_id: id, plan_key: 'core', tier_key: tier, brand_id: BRAND, subscription_id: null };
  return emit(membershipActivated, { ...common, source: 'subscription', started_at: AT, current_period_end: null }, userId);
}

const badgesOf = async (userId = DEMO): Promise<any[]> =>
  (await p.rest('GET', `/identity/v1/users/${userId}/badges`, { token: await p.serviceToken() })).body.data;
const shown = async (userId = DEMO): Promise<string[]> => (await badgesOf(userId)).map(one => `${one.source} ${one.badge.key}`).toSorted();
const handled = async (eventId: string): Promise<void> => {
  const count = async () =>
    (await p.sql("select 1 from identity.inbox where consumer = 'identity.badges' and event_id = $1", [eventId])).length;
  await expect.poll(count, { timeout: 15_000 }).toBe(1);
};

test('a milestone gives the badge of its name, once, dated by the event', async () => {
  await handled(await unlock('first_order'));
  await handled(await unlock('first_order'));
  expect(await badgesOf()).toEqual([
    expect.objectContaining({ source: 'milestone', awarded_at: AT, badge: expect.objectContaining({ key: 'first_order' }) }),
  ]);
});

test('a milestone without a badge of its name changes nothing', async () => {
  await handled(await unlock('no_such_badge'));
  expect(await shown()).toEqual(['milestone first_order']);
});

test('a change of tier swaps the membership badge and leaves the others', async () => {
  await handled(await changeTier('bronze', 'silver'));
  expect(await shown()).toEqual(['membership silver', 'milestone first_order']);
  await handled(await changeTier('silver', 'gold'));
  expect(await shown()).toEqual(['membership gold', 'milestone first_order']);
  await handled(await changeTier('gold', 'a_tier_without_badge'));
  expect(await shown()).toEqual(['milestone first_order']);
});

test('a first activation gives the badge of its tier', async () => {
  await handled(await activate('silver', ADMIN));
  expect(await shown(ADMIN)).toEqual(['membership silver']);
});

test('a badge that staff gave stays as they gave it', async () => {
  const award = 'mutation($input: AwardBadgeInput!) { awardBadge(input: $input) { source } }';
  const input = { userId: DEMO2, badge: 'gold', source: 'STAFF' };
  await p.graphql(award, { input }, { token: await p.serviceToken('admin:identity') });
  await handled(await changeTier('silver', 'gold', DEMO2));
  await handled(await changeTier('gold', 'silver', DEMO2));
  expect(await shown(DEMO2)).toEqual(['membership silver', 'staff gold']);
});

test('nobody who has left gets a badge', async () => {
  await p.sql(`update identity."user" set status = 'erasing' where id = $1`, [DEMO2]);
  await handled(await unlock('first_order', DEMO2));
  expect(await p.sql("select 1 from identity.user_badge where user_id = $1 and source = 'milestone'", [DEMO2])).toEqual([]);
});
