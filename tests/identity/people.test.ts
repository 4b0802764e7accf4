import { beforeAll, describe, expect, test } from 'vitest';
import { ADMIN, DEMO, DEMO2, platform, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
let service: string;
let own: string;
beforeAll(async () => {
  p = await platform({ services: ['identity'] });
  service = await p.serviceToken('admin:identity');
  own = await p.userToken(DEMO, ['read:profile', 'read:account', 'read:preferences', 'manage:preferences']);
});

const call = (method: string, path: string, body?: unknown, token: string | null = own, headers = {}) =>
  p.rest(method, `/identity/v1${path}`, { token, body, headers });
const pointers = (answer: { body: { errors: { pointer: string }[] } }) => answer.body.errors.map(one => one.pointer);

describe('PATCH /v1/users/me/profile', () => {
  const patch = (body: unknown, token = own) => call('PATCH', '/users/me/profile', body, token);

  test('is a merge patch: what is not named stays, null clears', async () => {
    const first = await patch({
      display_name: 'Mara K',
      bio: 'One\nTwo',
      pronouns: 'she/her',
      location: 'Berlin',
      website_url: 'https://mara.example/x',
      visibility: 'public',
    });
    expect([first.status, first.body]).toEqual([
      200,
      expect.objectContaining({
        display_name: 'Mara K',
        bio: 'One\nTwo',
        website_url: 'https://mara.example/x',
        visibility: 'public',
        handle: 'demo',
      }),
    ]);
    const second = await patch({ bio: null, website_url: null, visibility: null });
    expect(second.body).toMatchObject({ display_name: 'Mara K', bio: null, pronouns: 'she/her', website_url: null, visibility: 'members' });
    const [audit] = await p.sql("select details from identity.audit_log where action = 'user_profile.changed' order by at desc limit 1");
    expect(audit.details).toEqual({ fields: ['bio', 'websiteUrl', 'visibility'] });
  });

  test('lists every violation, control and direction characters among them', async () => {
    const answer = await patch({ display_name: ' ', bio: 'x'.repeat(301), pronouns: 'a\u202eb', location: 'a\u0007b' });
    expect([answer.status, pointers(answer)]).toEqual([400, ['/display_name', '/bio', '/pronouns', '/location']]);
    expect(pointers(await patch({ website_url: 'http://mara.example' }))).toEqual(['/website_url']);
    expect((await patch({ nickname: 'x' })).status).toBe(400);
  });

  test('a third-party app with read:profile is refused', async () => {
    const token = await p.userToken(DEMO, ['read:profile'], { clientId: 'demo-partner-app' });
    const answer = await patch({ bio: 'x' }, token);
    expect([answer.status, answer.body.code]).toEqual([403, 'forbidden']);
    expect((await patch({ bio: 'x' }, service)).status).toBe(403);
  });

  test('changes the handle once in 30 days and holds the old one for its owner for 90 days', async () => {
    await p.clock('identity', { now: '2030-01-01T00:00:00.000Z' });
    const stranger = await p.userToken(DEMO2, ['read:profile']);
    expect((await patch({ handle: 'Mara_K' })).body.handle).toBe('mara_k');
    expect((await patch({ handle: 'mara_l' })).body.reason).toBe('handle_cooldown');
    expect((await patch({ handle: 'demo' }, stranger)).body).toMatchObject({ code: 'conflict', reason: 'handle_taken' });
    expect((await patch({ handle: 'mara_k' }, stranger)).body).toMatchObject({ code: 'conflict', reason: 'handle_taken' });
    expect((await call('GET', '/users/by-handle/demo')).status).toBe(404);
    expect((await call('GET', '/users/by-handle/MARA_K')).body.handle).toBe('mara_k');
    await p.clock('identity', { advance: 'P29D' });
    expect((await patch({ handle: 'demo' }, await p.userToken(DEMO, ['read:profile']))).status).toBe(409);
    await p.clock('identity', { advance: 'P1D' });
    const later = await p.userToken(DEMO, ['read:profile']);
    expect((await patch({ handle: 'demo' }, later)).body.handle).toBe('demo');
    await p.clock('identity', { advance: 'P91D' });
    const free = await p.userToken(DEMO2, ['read:profile']);
    expect((await patch({ handle: 'mara_k' }, free)).body.handle).toBe('mara_k');
    own = await p.userToken(DEMO, ['read:profile', 'read:account', 'read:preferences', 'manage:preferences']);
  });

  test('refuses a handle that breaks the rules, as a violation', async () => {
    for (const handle of ['ad_min', 'a', 'fuck']) {
      const answer = await patch({ handle });
      expect([handle, answer.status, pointers(answer)]).toEqual([handle, 400, ['/handle']]);
    }
  });
});

describe('GET /v1/users/handle-available', () => {
  const ask = (handle: string, token = own) => call('GET', `/users/handle-available?handle=${handle}`, undefined, token);

  test.each([
    ['Admin', 'reserved'],
    ['ad_min', 'reserved'],
    ['adm1n', 'reserved'],
    ['a', 'invalid'],
    ['mara__k', 'invalid'],
    ['administrator_fan', null],
  ])('%s is %s', async (handle, reason) => {
    expect((await ask(handle)).body).toEqual({ handle: handle.toLowerCase(), available: reason === null, reason, suggestions: [] });
  });

  test('names a taken one with suggestions, and says that the own one can be had', async () => {
    const taken = (await ask('mara_k')).body;
    expect(taken).toMatchObject({ available: false, reason: 'taken', suggestions: ['mara_k2', 'mara_k_2', 'mara_k7'] });
    expect((await ask('demo')).body).toMatchObject({ available: true, reason: null });
    expect((await ask('demo', service)).body).toMatchObject({ available: false, reason: 'taken' });
  });

  test('answers a caller 30 times a minute', async () => {
    const token = await p.userToken(ADMIN, ['read:profile']);
    const answers = await Promise.all(Array.from({ length: 31 }, (_, n) => ask(`demo_${n}`, token)));
    expect(answers.filter(answer => answer.status === 429)).toHaveLength(1);
    expect(answers.find(answer => answer.status === 429)!.headers['retry-after']).toBeDefined();
  });
});

describe('settings', () => {
  const patch = (body: unknown, token = own) => call('PATCH', '/users/me/settings', body, token);

  test('change one by one, null is the default again, marketing notes when and where', async () => {
    const first = await patch({
      theme: 'dark',
      time_zone: 'Europe/Berlin',
      direct_messages: 'everyone',
      marketing_consent: { granted: true, source: 'settings_page' },
    });
    expect([first.status, first.body]).toEqual([
      200,
      expect.objectContaining({
        theme: 'dark',
        time_zone: 'Europe/Berlin',
        locale: 'en',
        marketing_consent: { granted: true, at: expect.any(String), source: 'settings_page' },
      }),
    ]);
    const second = await patch({ theme: null, marketing_consent: null });
    expect(second.body).toMatchObject({
      theme: 'system',
      direct_messages: 'everyone',
      marketing_consent: { granted: false, at: null, source: null },
    });
    expect((await call('GET', '/users/me/settings')).body).toEqual(second.body);
    expect((await call('GET', `/admin/users/${DEMO}/settings`, undefined, service)).body).toEqual(second.body);
  });

  test('refuse an old version and values that are none', async () => {
    expect((await patch({ version: 1, theme: 'dark' })).body).toMatchObject({ code: 'conflict', reason: 'version_conflict' });
    expect((await patch({ theme: 'pink' })).status).toBe(400);
    expect((await patch({ time_zone: 'Mars/Base' })).status).toBe(400);
    expect((await patch({ theme: 'dark' }, await p.userToken(DEMO, ['read:preferences']))).body.code).toBe('insufficient_scope');
  });
});

describe('addresses', () => {
  const ADDRESS = { recipient: 'Mara K', address: { line1: 'Main Street 1', city: 'Berlin', postal_code: '10115', country_code: 'DE' } };
  const add = (more: object = {}, token = own) => call('POST', '/users/me/addresses', { ...ADDRESS, ...more }, token);
  const list = async () =>
    (await call('GET', '/users/me/addresses?limit=100')).body.data as {
      id: string;
      is_default_shipping: boolean;
      is_default_billing: boolean;
    }[];

  test('the first one becomes both defaults', async () => {
    const { status, body } = await add({ label: 'Home', phone: '+493012345678' });
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({
        label: 'Home',
        is_default_shipping: true,
        is_default_billing: true,
        validated: 'unchecked',
        version: 1,
        address: { line1: 'Main Street 1', line2: null, city: 'Berlin', region: null, postal_code: '10115', country_code: 'DE' },
      }),
    ]);
  });

  test('two posted at once as the default are both there, and exactly one is the default', async () => {
    const answers = await Promise.all([add({ is_default_shipping: true }), add({ is_default_shipping: true })]);
    expect(answers.map(answer => answer.status)).toEqual([201, 201]);
    const all = await list();
    expect([all.length, all.filter(one => one.is_default_shipping).length, all.filter(one => one.is_default_billing).length]).toEqual([
      3, 1, 1,
    ]);
  });

  test('changes are merged into the address and refuse an old version', async () => {
    const [newest] = await list();
    const changed = await call('PATCH', `/users/me/addresses/${newest!.id}`, {
      label: 'Work',
      address: { line2: 'Floor 2', postal_code: '10117' },
      version: 1,
    });
    expect([changed.status, changed.body.address, changed.body.label]).toEqual([
      200,
      { line1: 'Main Street 1', line2: 'Floor 2', city: 'Berlin', region: null, postal_code: '10117', country_code: 'DE' },
      'Work',
    ]);
    expect((await call('PATCH', `/users/me/addresses/${newest!.id}`, { label: 'x', version: 1 })).body.reason).toBe('version_conflict');
    expect(pointers(await call('PATCH', `/users/me/addresses/${newest!.id}`, { recipient: null, address: { city: null } }))).toEqual([
      '/recipient',
      '/address/city',
    ]);
    expect(pointers(await call('PATCH', `/users/me/addresses/${newest!.id}`, { address: { country_code: 'GB' } }))).toEqual([
      '/address/postal_code',
    ]);
  });

  test('lists every violation of a new one', async () => {
    const answer = await call('POST', '/users/me/addresses', {
      recipient: ' ',
      label: 'x'.repeat(41),
      address: { line1: ' ', city: 'x'.repeat(81), country_code: 'DE' },
    });
    expect([answer.status, pointers(answer).sort()]).toEqual([400, ['/address/city', '/address/line1', '/label', '/recipient']]);
    expect(pointers(await add({ address: { ...ADDRESS.address, postal_code: '1' } }))).toEqual(['/address/postal_code']);
    expect((await call('POST', '/users/me/addresses', {})).status).toBe(400);
  });

  test('set-default moves one flag or both', async () => {
    const oldest = (await list()).at(-1)!;
    const set = (body?: object) => call('POST', `/users/me/addresses/${oldest.id}/set-default`, body);
    expect((await set({ kind: 'shipping' })).body).toMatchObject({ is_default_shipping: true });
    expect((await set({})).body).toMatchObject({ is_default_shipping: true, is_default_billing: true });
    expect((await list()).filter(one => one.is_default_shipping || one.is_default_billing)).toHaveLength(1);
    expect((await set({ kind: 'gift' })).status).toBe(400);
  });

  test('the newest other one inherits the flags of one that is removed', async () => {
    const all = await list();
    expect((await call('DELETE', `/users/me/addresses/${all.at(-1)!.id}`)).status).toBe(204);
    expect((await call('DELETE', `/users/me/addresses/${all.at(-1)!.id}`)).status).toBe(404);
    expect((await list())[0]).toMatchObject({ id: all[0]!.id, is_default_shipping: true, is_default_billing: true });
  });

  test('belong to one user: others find nothing, and third-party apps change nothing', async () => {
    const [newest] = await list();
    const stranger = await p.userToken(DEMO2, ['read:account']);
    for (const [method, path] of [
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/set-default'],
    ] as const)
      expect((await call(method, `/users/me/addresses/${newest!.id}${path}`, method === 'DELETE' ? undefined : {}, stranger)).status).toBe(
        404,
      );
    expect((await call('GET', '/users/me/addresses', undefined, stranger)).body.data).toEqual([]);
    expect((await add({}, await p.userToken(DEMO, ['read:account'], { clientId: 'demo-partner-app' }))).body.code).toBe('forbidden');
    expect((await add({}, service)).status).toBe(403);
    expect((await call('GET', '/users/me/addresses', undefined, null)).status).toBe(401);
  });

  test('a service names the user, a user token nobody else', async () => {
    const query = 'query($u: ID) { userAddresses(userId: $u) { nodes { id } } }';
    const commerce = await p.serviceToken('admin:commerce');
    expect((await p.graphql(query, { u: DEMO }, { token: commerce })).data.userAddresses.nodes).toHaveLength(2);
    expect((await p.graphql(query, {}, { token: commerce })).errors[0]!.extensions.code).toBe('INVALID_REQUEST');
    expect((await p.graphql(query, { u: DEMO2 }, { token: own })).errors[0]!.extensions.code).toBe('NOT_FOUND');
    expect((await p.graphql(query, {}, { token: own })).data.userAddresses.nodes).toHaveLength(2);
  });

  test('are twenty at most, and are read page by page', async () => {
    const answers = [];
    for (let n = 0; n < 19; n++) answers.push((await add({ label: `n${n}` })).status);
    expect(answers.filter(status => status === 201)).toHaveLength(18);
    expect((await add()).body).toMatchObject({ code: 'conflict', reason: 'too_many_addresses' });
    const first = (await call('GET', '/users/me/addresses?limit=15')).body;
    const second = (await call('GET', `/users/me/addresses?limit=15&cursor=${first.next_cursor}`)).body;
    expect(new Set([...first.data, ...second.data].map((one: { id: string }) => one.id)).size).toBe(20);
    expect(second.next_cursor).toBeNull();
  });

  test('leave no word of themselves in the audit', async () => {
    expect(JSON.stringify(await p.sql('select details from identity.audit_log'))).not.toMatch(/Main Street|Mara|Berlin/);
  });
});

describe('badges', () => {
  const AWARD = 'mutation($i: AwardBadgeInput!) { awardBadge(input: $i) { awardedAt source badge { key } } }';
  const upsert = (tier: string, token = service) =>
    p.graphql(
      'mutation($i: UpsertBadgeInput!) { upsertBadge(input: $i) { key tier } }',
      { i: { key: 'first-year', name: 'First year', description: 'Here for a year', tier } },
      { token },
    );

  test('are made, given, shown to any token and taken back', async () => {
    await upsert('BRONZE');
    expect((await upsert('GOLD')).data.upsertBadge).toEqual({ key: 'first-year', tier: 'GOLD' });
    for (let n = 0; n < 2; n++)
      expect(
        (await p.graphql(AWARD, { i: { userId: DEMO, badge: 'first-year', source: 'MILESTONE' } }, { token: service })).data.awardBadge
          .source,
      ).toBe('MILESTONE');
    const shown = await call('GET', `/users/${DEMO}/badges`, undefined, await p.userToken(DEMO2, ['read:inbox']));
    expect(shown.body.data).toEqual([
      {
        badge: { key: 'first-year', name: 'First year', description: 'Here for a year', icon_url: null, tier: 'gold' },
        awarded_at: expect.any(String),
        source: 'milestone',
        expires_at: null,
      },
    ]);
    const revoke = () =>
      p.graphql(
        'mutation($i: RevokeBadgeInput!) { revokeBadge(input: $i) }',
        { i: { userId: DEMO, badge: 'first-year' } },
        { token: service },
      );
    expect((await revoke()).data.revokeBadge).toBe(true);
    expect((await revoke()).data.revokeBadge).toBe(false);
    expect((await call('GET', `/users/${DEMO}/badges`)).body.data).toEqual([]);
  });

  test('expire by the clock, and are S alone to give', async () => {
    const at = (await p.sql('select to_char(now + interval \'1 hour\', \'YYYY-MM-DD"T"HH24:MI:SS"Z"\') as at from identity.test_clock'))[0]
      .at;
    await p.graphql(AWARD, { i: { userId: DEMO, badge: 'first-year', expiresAt: at } }, { token: service });
    expect((await call('GET', `/users/${DEMO}/badges`)).body.data).toHaveLength(1);
    await p.clock('identity', { advance: 'PT2H' });
    own = await p.userToken(DEMO, ['read:profile', 'read:account']);
    expect((await call('GET', `/users/${DEMO}/badges`)).body.data).toEqual([]);
    expect((await p.graphql(AWARD, { i: { userId: DEMO, badge: 'first-year' } }, { token: own })).errors[0]!.extensions.code).toBe(
      'FORBIDDEN',
    );
    expect((await p.graphql(AWARD, { i: { userId: DEMO, badge: 'no-such' } }, { token: service })).errors[0]!.extensions.code).toBe(
      'NOT_FOUND',
    );
    expect((await call('GET', `/users/0190b3a0-0000-7000-8000-00000000dead/badges`)).status).toBe(404);
  });
});

describe('POST /v1/admin/users', () => {
  const create = (body: unknown, headers = {}, token = service) => call('POST', '/admin/users', body, token, headers);

  test('makes an active account once for each Idempotency-Key and tells of it without its address', async () => {
    const body = { email: 'New.Person@Example.test', email_verified: true, display_name: 'New', locale: 'de', country_code: 'DE' };
    const [first, again] = [await create(body, { 'idempotency-key': 'k1' }), await create(body, { 'idempotency-key': 'k1' })];
    expect([first.status, first.body]).toEqual([
      201,
      expect.objectContaining({ status: 'active', email: 'New.Person@Example.test', email_verified: true }),
    ]);
    expect(again.body.id).toBe(first.body.id);
    expect(first.headers.location).toMatch(new RegExp(`/v1/admin/users/${first.body.id}$`));
    const events = await p.sql("select data from events.outbox where type = 'user.created.v1' and user_id = $1", [first.body.id]);
    expect(events.map(row => row.data)).toEqual([{ source: 'import', locale: 'de', country_code: 'DE' }]);
  });

  test('refuses an address that is there in any case of letters, and anybody but S', async () => {
    expect((await create({ email: 'DEMO@example.test' })).body).toMatchObject({ code: 'conflict', reason: 'email_taken' });
    expect((await create({ email: 'no address', display_name: '' })).status).toBe(400);
    expect((await create({ email: 'x@example.test' }, {}, own)).status).toBe(403);
    expect((await create({ email: 'x@example.test' }, {}, await p.serviceToken('admin:clinical'))).body.code).toBe('insufficient_scope');
  });
});
