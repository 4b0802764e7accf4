import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { userErasureRequested } from '../../events/catalogue/identity.js';
import { membershipReactivated, winBackStarted } from '../../events/catalogue/membership.js';
import { Problem } from '../../runtime/request/errors.js';
import { forgetOld } from '../../subgraphs/affiliates/commands/attribution.js';
import { isWithinLimit, limitClicks } from '../../subgraphs/affiliates/commands/click-limit.js';
import { followPayouts } from '../../subgraphs/affiliates/commands/payouts.js';
import { BRAND, DEMO } from '../support/platform.js';
import { until } from '../support/until.js';
import { Agency, days, T0, usd, type Partner } from './agency.js';

let agency: Agency;
let program: string;
let partner: Partner;
beforeAll(async () => {
  agency = await Agency.open();
  program = await agency.program();
});
beforeEach(async () => {
  agency.neighbours({});
  partner = await agency.partner(program);
});

const membership = (id: string) => ({
  membership_id: id,
  plan_id: randomUUID(),
  plan_key: 'gold_monthly',
  tier_key: 'gold',
  brand_id: BRAND,
  subscription_id: null,
});

describe('affiliates', () => {
  test('apply once, are reviewed, suspended and restored, and end by themselves', async () => {
    const reviewed = await agency.program({ self_approval: false });
    const user = await agency.person();
    const token = await agency.member(user);
    const applied = await agency.rest('POST', '/affiliates/me', { program_id: reviewed }, token);
    expect(applied.body).toMatchObject({ status: 'applied', links: [] });
    expect((await agency.rest('POST', '/affiliates/me', { program_id: reviewed }, token)).status).toBe(409);
    const step = async (action: string) => (await agency.rest('POST', `/affiliates/${applied.body.id}/${action}`)).body.status;
    expect([await step('approve'), await step('suspend'), await step('restore')]).toEqual(['approved', 'suspended', 'approved']);
    expect(await step('reject')).toBe(409);
    const { body } = await agency.rest('GET', '/affiliates/me', undefined, token);
    expect(body).toMatchObject({ payout_ready: false, links: [{ target: 'https://main.example/', clicks: 0 }] });
    expect((await agency.rest('DELETE', '/affiliates/me', undefined, token)).status).toBe(204);
    expect((await agency.rest('GET', `/r/${body.links[0].slug}`, undefined, null)).status).toBe(404);
    expect((await agency.rest('GET', '/affiliates/me', undefined, await agency.member(await agency.person()))).status).toBe(404);
  });

  test('links lead to the brand only, count people and not machines, and end', async () => {
    const make = (target: string) => agency.rest('POST', '/affiliates/me/links', { target }, partner.token);
    for (const target of ['https://evil.example/', 'http://main.example/', 'https://main.example.evil.test/'])
      expect((await make(target)).status).toBe(400);
    const { body: link } = await make('https://main.example/a');
    const visit = (agent: string) => agency.rest('GET', `/r/${link.slug}`, undefined, null, { 'user-agent': agent });
    expect((await visit('Mozilla/5.0')).headers['set-cookie']).toBeDefined();
    expect((await visit('Googlebot/2.1')).headers['set-cookie']).toBeUndefined();
    const links = (await agency.rest('GET', '/affiliates/me/links', undefined, partner.token)).body;
    expect((links.data ?? links).find((one: any) => one.id === link.id).clicks).toBe(1);
    expect((await agency.rest('DELETE', `/affiliates/me/links/${link.id}`, undefined, (await agency.partner(program)).token)).status).toBe(
      404,
    );
    expect((await agency.rest('DELETE', `/affiliates/me/links/${link.id}`, undefined, partner.token)).status).toBe(204);
    expect((await visit('Mozilla/5.0')).status).toBe(404);
  });

  test('clicks keep a keyed hash, and no address', async () => {
    await agency.click(partner.code);
    const rows = await agency.p.sql('select * from affiliates.click where affiliate_id = $1', [partner.id]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toMatch(/127\.0\.0\.1|::1/);
  });
});

describe('attribution', () => {
  test('a forged token, an unknown code and a late claim are taken in silence', async () => {
    const [user, late] = [await agency.person(), await agency.person()];
    const token = await agency.click(partner.code);
    await agency.signUp(user);
    for (const body of [{ token: `${token.slice(0, -4)}AAAA` }, { token: 'x' }, { code: 'NOBODY99' }, {}])
      expect((await agency.claim(user, body)).body).toEqual({ accepted: true });
    expect(await agency.attribution(user)).toBeNull();
    await agency.p.sql("insert into affiliates.claim_window values ($1, $2::timestamptz - interval '25 hours')", [late, T0]);
    expect((await agency.claim(late, { token })).body).toEqual({ accepted: true });
    expect(await agency.attribution(late)).toBeNull();
  });

  test('a claim that comes before the news of the sign-up is settled with it', async () => {
    const user = await agency.person();
    await agency.claim(user, { code: partner.code.toLowerCase() });
    expect(await agency.attribution(user)).toBeNull();
    await agency.signUp(user);
    expect(await agency.attribution(user)).toMatchObject({
      affiliate: { id: partner.id },
      stage: 'lead',
      basis: 'code',
      bound_until: null,
    });
  });

  test('by hand it changes until the first purchase', async () => {
    const other = await agency.partner(program);
    const user = await agency.lead(partner);
    const attribute = ({ id }: Partner) => agency.rest('POST', '/attributions', { affiliate_id: id, user_id: user });
    expect((await attribute(other)).body).toMatchObject({ affiliate: { id: other.id }, basis: 'manual' });
    await agency.pay(user);
    expect((await agency.attribution(user)).bound_until).toBe('2027-11-24T12:00:00.000Z');
    expect((await attribute(partner)).status).toBe(409);
  });
});

describe('commissions', () => {
  test('of a suspended affiliate are held; released, they are told of with what is left', async () => {
    const customer = await agency.lead(partner);
    await agency.rest('POST', `/affiliates/${partner.id}/suspend`);
    const order = await agency.pay(customer);
    await agency.refund(customer, order, 2_640);
    const [held] = await agency.commissions(partner);
    expect([held.status, held.held_reason, await agency.told(partner)]).toEqual(['held', 'suspended', []]);
    expect((await agency.rest('POST', `/commissions/${held.id}/release`)).body).toMatchObject({ status: 'accrued', net: usd(528) });
    expect((await agency.rest('POST', `/commissions/${held.id}/release`)).status).toBe(409);
    expect(await agency.told(partner)).toEqual(['earnings.accrued 528']);
  });

  test('are not posted while a dispute is open, however often it is told of; one that is won ends the waiting', async () => {
    const other = await agency.partner(await agency.program({ hold_days: 0 }));
    const customer = await agency.lead(other);
    const order = await agency.pay(customer);
    const dispute = await agency.dispute(customer, order, null, randomUUID(), 2);
    await agency.postDue();
    expect((await agency.commissions(other))[0].status).toBe('accrued');
    await agency.dispute(customer, order, 'won', dispute);
    await agency.dispute(customer, order, null, dispute);
    await agency.postDue();
    expect(await agency.told(other)).toEqual(['earnings.accrued 792', 'commission.posted 792']);
  });

  test('of a buyer who shares a card with the affiliate are held, with a signal', async () => {
    agency.neighbours({ AffiliatesSharesMethod: { sharesPaymentMethod: true } });
    const customer = await agency.lead(partner);
    await agency.pay(customer);
    expect((await agency.commissions(partner))[0]).toMatchObject({ status: 'held', held_reason: 'shared_payment_method' });
  });

  test('are taken back by staff, never beyond what is left', async () => {
    await agency.pay(await agency.lead(partner));
    const [{ id }] = await agency.commissions(partner);
    const reverse = (body: object) => agency.rest('POST', `/commissions/${id}/reverse`, { reason: 'Agreed', ...body });
    expect((await reverse({ amount: 793 })).status).toBe(409);
    expect((await reverse({ cause: 'refund' })).status).toBe(400);
    expect((await reverse({ amount: 92, cause: 'fraud' })).body).toMatchObject({ net: usd(700), reversed_amount: usd(92) });
    expect((await reverse({})).body).toMatchObject({ net: usd(0), status: 'reversed' });
    expect((await reverse({})).status).toBe(409);
    expect((await agency.events(partner)).map(([, { reason }]) => reason)).toEqual([undefined, 'fraud', 'adjustment']);
  });

  test('lists have them by status, the own ones for an affiliate without whom they came from', async () => {
    const customer = await agency.lead(partner);
    await agency.pay(customer);
    const own = (query: string) => agency.rest('GET', `/affiliates/me/commissions${query}`, undefined, partner.token);
    expect((await own('?status=accrued')).body.data).toHaveLength(1);
    for (const status of ['held', 'posted', 'paid', 'reversed']) expect((await own(`?status=${status}`)).body.data).toEqual([]);
    const asked = await agency.p.graphql('{ myCommissions { nodes { attribution { customerAlias } } } }', {}, { token: partner.token });
    expect(asked.errors[0]?.extensions.code).toBe('FORBIDDEN');
  });

  test('a flat tier earns with the first purchase only', async () => {
    const flat = await agency.program({ tiers: [{ key: 'flat', rank: 1, kind: 'flat', flat: usd(1_500), threshold: usd(0) }] });
    const other = await agency.partner(flat);
    const customer = await agency.lead(other);
    await agency.pay(customer);
    await agency.pay(customer, { first_purchase: false });
    expect((await agency.commissions(other)).map(one => [one.kind, one.rate_bps, one.amount])).toEqual([['flat', null, usd(1_500)]]);
  });

  test('three customers in a month are shown with their amounts, fewer as one sum', async () => {
    const customers = [await agency.lead(partner), await agency.lead(partner)];
    for (const one of customers) await agency.pay(one);
    const seen = async () => (await agency.rest('GET', '/affiliates/me/customers', undefined, partner.token)).body.data;
    expect((await seen()).map((one: any) => [one.amount, one.small_months])).toEqual([
      [null, usd(1_584)],
      [null, usd(1_584)],
    ]);
    await agency.pay(await agency.lead(partner));
    expect((await seen()).map((one: any) => one.amount)).toEqual([usd(792), usd(792), usd(792)]);
  });
});

describe('payouts', () => {
  const PAYABLE = { AffiliatesDestination: { payoutDestination: { __typename: 'PayoutDestination' } } };
  const due = (more: object = {}) => agency.program({ hold_days: 0, ...more });

  test('wait below the least amount; what is held is not posted by itself', async () => {
    const own = await due({ minimum_payout: usd(1_000) });
    const other = await agency.partner(own);
    const asked: any[] = [];
    agency.neighbours({
      ...PAYABLE,
      AffiliatesPayout: ({ input }: any) => (asked.push(input), { createPayout: { id: randomUUID(), status: 'PAID' } }),
    });
    await agency.pay(await agency.lead(other));
    await agency.pay(other.user, { affiliate_code: other.code });
    await agency.postDue();
    await agency.payOut(own);
    expect((await agency.commissions(other)).map(one => one.status)).toEqual(['held', 'posted']);
    expect(asked).toEqual([]);
    await agency.pay(await agency.lead(other));
    await agency.postDue();
    await agency.payOut(own);
    expect(asked.map(one => [one.userId, one.amount])).toEqual([[other.user, usd(1_584)]]);
  });

  test.each([
    ['the wallet has less', () => new Problem('conflict', 'There is less', { reason: 'insufficient_funds' })],
    ['payments does not take the request', () => new Problem('invalid_request', 'No')],
  ])('that are refused because %s leave their amount to the next run', async (_why, refusal) => {
    const own = await due();
    const other = await agency.partner(own);
    await agency.pay(await agency.lead(other));
    await agency.postDue();
    agency.neighbours({ ...PAYABLE, AffiliatesPayout: refusal() });
    await agency.payOut(own);
    const payouts = async () => (await agency.rest('GET', '/affiliates/me/payouts', undefined, other.token)).body.data;
    expect((await payouts()).map((one: any) => one.status)).toEqual(['failed']);
    agency.neighbours({ ...PAYABLE, AffiliatesPayout: { createPayout: { id: randomUUID(), status: 'PAID' } } });
    await agency.payOut(own);
    expect((await payouts()).map((one: any) => [one.status, one.amount.amount])).toEqual([
      ['paid', 792],
      ['failed', 792],
    ]);
    expect((await agency.earnings(other)).balance).toEqual(usd(0));
  });

  test('whose answer was lost are asked for again under the same reference, also when their run has given up', async () => {
    const own = await due();
    const other = await agency.partner(own);
    await agency.pay(await agency.lead(other));
    await agency.postDue();
    const asked: string[] = [];
    const answer = (reply: object | Error) => ({
      ...PAYABLE,
      AffiliatesPayout: ({ input }: any) => {
        asked.push(input.reference);
        if (reply instanceof Error) throw reply;
        return reply;
      },
    });
    agency.neighbours(answer(new Problem('unavailable', 'Gone')));
    await agency.rest('POST', '/admin/payouts/run', { program_id: own });
    await until(
      'it was asked for',
      async () => asked.length,
      count => count > 0,
    );
    agency.neighbours(answer({ createPayout: { id: randomUUID(), status: 'PAID' } }));
    await agency.p.host('affiliates').read(async ctx => followPayouts(ctx, new Date(ctx.now().getTime() + 600_000)));
    expect((await agency.commissions(other)).map(one => one.status)).toEqual(['paid']);
    expect(new Set(asked).size).toBe(1);
  });
});

describe('limits', () => {
  test('of one address 30 clicks a minute count', () => {
    const host = agency.p.host('affiliates');
    const counted = Array.from({ length: 32 }, () => isWithinLimit(host, '203.0.113.7'));
    expect([counted.filter(Boolean).length, counted.at(-1), isWithinLimit(host, '203.0.113.8')]).toEqual([30, false, true]);
    expect(() => limitClicks(host, '203.0.113.7')).toThrow(expect.objectContaining({ code: 'rate_limited' }));
  });

  test('clicks are forgotten after 90 days, and claims when their window is over', async () => {
    const [user, old] = [await agency.person(), await agency.person()];
    await agency.signUp(user);
    await agency.click(partner.code);
    await agency.p.sql("insert into affiliates.claim_window values ($1, $2::timestamptz - interval '3 days')", [old, T0]);
    await agency.p.sql(
      `insert into affiliates.click (id, affiliate_id, link_id, visitor_hash, at)
       select gen_random_uuid(), affiliate_id, link_id, visitor_hash, at - interval '91 days' from affiliates.click where affiliate_id = $1`,
      [partner.id],
    );
    await agency.p.host('affiliates').transaction(forgetOld);
    expect(await agency.p.sql('select 1 from affiliates.click where affiliate_id = $1', [partner.id])).toHaveLength(1);
    const windows = await agency.p.sql<{ user_id: string }>('select user_id from affiliates.claim_window where user_id = any($1)', [
      [user, old],
    ]);
    expect(windows.map(one => one.user_id)).toEqual([user]);
  });

  test('commissions, their reversals and marks are added to only, whatever the service does', async () => {
    for (const table of ['commission', 'commission_reversal', 'commission_mark', 'payout_commission'])
      for (const change of [`update affiliates.${table} set commission_id = commission_id`, `delete from affiliates.${table}`]) {
        const text = table === 'commission' ? change.replace(/set .*/, 'set amount = 0') : change;
        await expect(agency.p.sql(`set role platform_affiliates; ${text}`), text).rejects.toThrow(/permission denied/);
        await agency.p.sql('reset role');
      }
  });
});

describe('programs', () => {
  test('are made of sound terms for a brand that exists, and changed for what is earned from now on', async () => {
    const tier = { key: 'base', rank: 1, kind: 'percent', rate_bps: 1_000, threshold: usd(0) };
    const body = { key: `p.${randomUUID().slice(0, 8)}`, name: 'P', brand_id: BRAND, minimum_payout: usd(0), tiers: [tier] };
    const make = (more: object) => agency.rest('POST', '/admin/programs', { ...body, ...more });
    expect((await make({ brand_id: randomUUID() })).status).toBe(400);
    expect((await make({ tiers: [{ ...tier, rate_bps: 10_001 }] })).status).toBe(400);
    expect((await make({ tiers: [tier, tier] })).body.errors).toHaveLength(2);
    const { status, body: made } = await make({});
    expect([status, made.hold_days, made.base.include_cash]).toEqual([201, 30, true]);
    expect((await make({})).status).toBe(409);
    const changed = await agency.rest('PATCH', `/admin/programs/${made.id}`, { hold_days: 7, version: 1 });
    expect(changed.body).toMatchObject({ hold_days: 7, version: 2 });
    expect((await agency.rest('PATCH', `/admin/programs/${made.id}`, { hold_days: 8, version: 1 })).body.reason).toBe('version_conflict');
  });
});

describe('win-back', () => {
  test('is offered to whom the customer is bound, sent once without an address, and converted', async () => {
    const customer = await agency.lead(partner);
    await agency.pay(customer);
    const id = randomUUID();
    const offer = { ...membership(id), offer_key: 'come_back_20', ends_at: days(7), lapsed_at: T0, last_tier: 'gold' };
    await agency.tell(winBackStarted, offer, customer, 2, 'affiliates.win_back');
    const claims = async () => (await agency.rest('GET', '/affiliates/me/win-back', undefined, partner.token)).body.data;
    const [claim] = await claims();
    expect([(await claims()).length, claim.status, JSON.stringify(claim).includes(customer)]).toEqual([1, 'offered', false]);
    const send = (token: string) => agency.rest('POST', `/affiliates/me/win-back/${claim.id}/send`, {}, token);
    expect((await send((await agency.partner(program)).token)).status).toBe(404);
    expect([(await send(partner.token)).status, (await send(partner.token)).status]).toEqual([202, 409]);
    const sent = await agency.p.sql(
      "select user_id from events.outbox where data->>'template' = 'affiliate_win_back' and data->'params'->>'claim_id' = $1",
      [claim.id],
    );
    expect(sent).toEqual([{ user_id: customer }]);
    const suspended = { ...membership(randomUUID()), from: 'suspended', days_away: 0 } as const;
    await agency.tell(membershipReactivated, suspended, customer, 1, 'affiliates.win_back');
    expect((await claims())[0].status).toBe('sent');
    const anew = { ...membership(randomUUID()), from: 'lapsed', days_away: 3 } as const; // who comes back has a new membership
    await agency.tell(membershipReactivated, anew, customer, 1, 'affiliates.win_back');
    expect((await claims())[0].status).toBe('converted');
  });

  test('is not offered for the membership of another brand, and a return there converts nothing', async () => {
    const customer = await agency.lead(partner);
    await agency.pay(customer);
    const offer = { offer_key: 'come_back_20', ends_at: days(7), lapsed_at: T0, last_tier: 'gold' };
    const [here, there] = [membership(randomUUID()), { ...membership(randomUUID()), brand_id: randomUUID() }];
    await agency.tell(winBackStarted, { ...there, ...offer }, customer, 1, 'affiliates.win_back');
    const claims = async () => (await agency.rest('GET', '/affiliates/me/win-back', undefined, partner.token)).body.data;
    expect(await claims()).toEqual([]);
    await agency.tell(winBackStarted, { ...here, ...offer }, customer, 1, 'affiliates.win_back');
    await agency.tell(membershipReactivated, { ...there, from: 'lapsed', days_away: 3 }, customer, 1, 'affiliates.win_back');
    expect((await claims()).map((one: any) => one.status)).toEqual(['offered']);
  });
});

describe('erasure and federation', () => {
  test('a customer’s pseudonym and hashes are destroyed and the binding ends; amounts stay', async () => {
    const customer = await agency.lead(partner);
    await agency.pay(customer);
    const { prepareEvent } = await import('../../events/outbox.js');
    const meta = { source: 'identity', requestId: null, causationId: null, actor: 'service:identity', traceparent: null } as const;
    const data = { request_id: randomUUID(), scope: 'full', requested_at: T0, due_at: days(30) } as const;
    const pending = prepareEvent(userErasureRequested, data, { userId: customer }, meta);
    await agency.p.sql(`set role platform_events; select events.append('${JSON.stringify([pending])}', null); reset role`);
    const erased = () =>
      agency.p.sql("select details->>'outcome' as outcome from affiliates.audit_log where action = 'user.erased' and target = $1", [
        customer,
      ]);
    expect(await until('it is erased', erased, rows => rows.length === 1)).toEqual([{ outcome: 'retained' }]);
    const [row] = await agency.p.sql(
      'select customer_alias, ended_at is not null as ended from affiliates.attribution where customer_id = $1',
      [customer],
    );
    expect(row).toEqual({ customer_alias: 'Erased customer', ended: true });
    expect(
      await agency.p.sql('select count(*)::int as left from affiliates.click where affiliate_id = $1 and visitor_hash is not null', [
        partner.id,
      ]),
    ).toEqual([{ left: 0 }]);
    expect((await agency.commissions(partner))[0].net).toEqual(usd(792));
  });

  test('a user is shown as an affiliate, and to services by whom it was brought', async () => {
    const customer = await agency.lead(partner);
    const query = `query ($id: ID!) { user(id: $id) { affiliate { status tier { key rateBps } earnings { accrued { amount } posted { amount } } } referredBy { affiliate { id } } } }`;
    const ask = async (id: string) => (await agency.p.graphql(query, { id }, { token: await agency.p.serviceToken() })).data.user;
    expect((await ask(DEMO)).affiliate).toMatchObject({ status: 'APPROVED', tier: { key: 'silver', rateBps: 1_000 } });
    expect((await ask(customer)).referredBy).toEqual({ affiliate: { id: partner.id } });
    const codes = await agency.p.graphql(
      'query ($codes: [String!]!) { affiliatesByCode(codes: $codes) }',
      { codes: ['NOBODY99', partner.code] },
      { token: await agency.p.internalToken('analytics') },
    );
    expect(codes.data.affiliatesByCode).toEqual([null, partner.id]);
  });
});
