import { beforeAll, describe, expect, test } from 'vitest';
import type { CrmChange } from '../../subgraphs/identity/entities/crm-sync.js';
import { UserStatus } from '../../subgraphs/identity/entities/user.js';
import { candidateOf, type CrmFacts } from '../../subgraphs/identity/rules/crm-sync.js';
import { eraseUser } from '../../runtime/erasure/erasure.js';
import identity from '../../subgraphs/identity/index.js';
import { newestMail } from './mailbox.js';
import { DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
let service: string;
beforeAll(async () => {
  p = await platform({ services: ['identity'] });
  await p.clock('identity', { now: '2030-01-01T00:00:00.000Z' });
  service = await p.serviceToken('admin:identity');
});

const candidates = async (query: string) =>
  (await p.rest('GET', `/identity/v1/admin/crm-sync/candidates?${query}`, { token: service })).body;
const minute = () => p.clock('identity', { advance: 'PT1M' });
const since = async (query = 'since=2030-01-01T00:00:00Z') => (await candidates(query)).data.map((one: any) => [one.user_id, one.reasons]);

describe('what a CRM may know', () => {
  const at = (minutes: number) => new Date(Date.UTC(2030, 0, 1, 0, minutes));
  const change = {
    id: DEMO,
    changedAt: at(3),
    createdAt: at(0),
    profileAt: at(3),
    contactAt: null,
    consentAt: at(1),
    statusAt: null,
    erasedAt: null,
  } as CrmChange;
  const contact = { email: 'a@example.test', displayName: 'A', phone: null, locale: 'en', timeZone: 'UTC', countryCode: null };
  const facts = (more: Partial<CrmFacts> = {}): CrmFacts => ({ status: UserStatus.ACTIVE, contact, marketingConsent: true, ...more });

  test.each([
    [null, ['created', 'profile', 'consent']],
    [at(0), ['profile', 'consent']],
    [at(1), ['profile']],
    [at(3), []],
  ])('since %s names what has changed after it', (time, reasons) => expect(candidateOf(change, facts(), time).reasons).toEqual(reasons));

  test.each([
    [UserStatus.PENDING, 'upsert', true],
    [UserStatus.ACTIVE, 'upsert', true],
    [UserStatus.SUSPENDED, 'upsert', true],
    [UserStatus.BANNED, 'upsert', false],
    [UserStatus.ERASING, 'upsert', false],
    [UserStatus.ERASED, 'delete', false],
  ])('of a user who is %s: %s, with contact %s', (status, kind, told) => {
    const row = candidateOf(change, facts({ status }), null);
    expect([row.change, row.contact !== null, row.marketingConsent]).toEqual([kind, told, told]);
  });

  test('has a hash that is equal for equal rows and for no others', () => {
    const hash = (more: Partial<CrmFacts>) => candidateOf(change, facts(more), null).hash;
    expect(hash({})).toBe(candidateOf({ ...change, changedAt: at(9) }, facts(), at(1)).hash);
    const others = [
      { marketingConsent: false },
      { status: UserStatus.BANNED },
      { contact: { ...contact, displayName: 'B' } },
      { contact: { ...contact, phone: '+4930123' } },
    ];
    expect(new Set([hash({}), ...others.map(hash)]).size).toBe(5);
  });
});

describe('GET /v1/admin/crm-sync/candidates', () => {
  test('shows each changed user once, the longest ago first, with the reasons since then', async () => {
    const own = await p.userToken(DEMO, ['read:profile', 'read:account', 'manage:preferences']);
    const me = (method: string, path: string, body: object) => p.rest(method, `/identity/v1/users/me${path}`, { token: own, body });
    const made = await p.graphql(
      'mutation($i: CreateUserInput!) { createUser(input: $i) { id } }',
      { i: { email: 'crm@example.test', displayName: 'Crm' } },
      { token: service },
    );
    const id = made.data.createUser.id;
    expect((await candidates('')).data.length).toBe(4); // seeds, too
    await minute();
    const token = await p.userToken(DEMO, ['read:profile', 'read:account', 'manage:preferences']);
    expect((await p.rest('PATCH', '/identity/v1/users/me/profile', { token, body: { bio: 'no business of a CRM' } })).status).toBe(200);
    expect(await since()).toEqual([]);
    expect((await me('PATCH', '/profile', { display_name: 'Dee' })).status).toBe(200);
    expect(await since()).toEqual([[DEMO, ['profile']]]);
    await minute();
    await me('PATCH', '/settings', { theme: 'dark', marketing_consent: { granted: true, source: 'page' }, locale: 'de' });
    await me('POST', '/addresses', {
      recipient: 'Dee',
      address: { line1: 'Main Street 1', city: 'Berlin', postal_code: '10115', country_code: 'DE' },
    });
    expect(await since()).toEqual([[DEMO, ['profile', 'contact', 'consent']]]);
    const [row] = (await candidates('since=2030-01-01T00:01:00Z')).data;
    expect(row).toEqual({
      user_id: DEMO,
      change: 'upsert',
      reasons: ['contact', 'consent'],
      marketing_consent: true,
      status: 'active',
      changed_at: '2030-01-01T00:02:00.000Z',
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      contact: { email: 'demo@example.test', display_name: 'Dee', phone: null, locale: 'de', time_zone: 'UTC', country_code: 'DE' },
    });
    await minute();
    await p.rest('POST', `/identity/v1/admin/users/${id}/ban`, { token: service, body: { reason_code: 'fraud' } });
    const rows = (await candidates('since=2030-01-01T00:00:00Z')).data;
    expect(rows.map((one: any) => [one.user_id, one.status, one.contact === null])).toEqual([
      [DEMO, 'active', false],
      [id, 'banned', true],
    ]);
    expect(JSON.stringify(rows[1])).not.toContain('crm');
  });

  test('hears of a new e-mail address', async () => {
    await minute();
    const token = await p.userToken(DEMO, ['read:account']);
    const change = (what: string, body: object) => p.rest('POST', `/identity/v1/users/me/email-change-${what}`, { token, body });
    const { challenge_id } = (await change('request', { new_email: 'moved@example.test' })).body;
    expect((await change('confirm', { challenge_id, code: (await newestMail(p)).code! })).status).toBe(200);
    const [row] = (await candidates('since=2030-01-01T00:03:30Z')).data;
    expect([row.user_id, row.reasons, row.contact.email]).toEqual([DEMO, ['contact'], 'moved@example.test']);
  });

  test('goes on by cursor, without loss where times are equal', async () => {
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await candidates(`limit=1${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.data.map((one: any) => one.user_id));
      cursor = page.next_cursor ?? '';
    } while (cursor);
    expect([seen.length, new Set(seen).size]).toEqual([4, 4]);
  });

  test('shows an erased user as delete, the id alone, for 90 days', async () => {
    await minute();
    await p
      .host('identity')
      .transaction(ctx =>
        eraseUser(ctx, identity.erase, { userId: DEMO2, requestId: '0190b3a0-0000-7000-8000-00000000f001', scope: 'full' }),
      );
    const [row] = (await candidates('since=2030-01-01T00:04:00Z')).data;
    expect(row).toMatchObject({
      user_id: DEMO2,
      change: 'delete',
      reasons: ['erased'],
      contact: null,
      marketing_consent: false,
      status: 'erased',
    });
    await p.clock('identity', { advance: 'P90D' });
    expect(await since('')).not.toContainEqual([DEMO2, expect.anything()]);
  });

  test('is for services with admin:identity alone, and wants a time and a limit', async () => {
    const ask = async (token: string, query = '') =>
      (await p.rest('GET', `/identity/v1/admin/crm-sync/candidates${query}`, { token })).status;
    const staff = await p.userToken(DEMO, ['read:profile'], { clientId: 'demo-admin', roles: ['owner'], permissions: ['admin:identity'] });
    expect([await ask(staff), await ask(await p.serviceToken('admin:commerce'))]).toEqual([403, 403]);
    expect([await ask(service, '?since=yesterday'), await ask(service, '?limit=0'), await ask(service, '?cursor=x')]).toEqual([
      400, 400, 400,
    ]);
  });
});
