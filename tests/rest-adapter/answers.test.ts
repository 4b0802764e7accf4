import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ME, restFixture, type Fixture } from './fixture.js';

let rest: Fixture;
beforeAll(async () => {
  rest = await restFixture();
});
afterAll(() => rest.app.close());

const NEW = { patient_id: ME, code: 'ldl_c', baseline: { value: 160, unit: 'mg/dL' } };

describe('a create', () => {
  test('answers 201 with the resource and its Location', async () => {
    const answer = await rest.call('POST', '/clinical/v1/cycles', { json: NEW });
    expect(answer.statusCode).toBe(201);
    expect(answer.headers).toMatchObject({
      location: '/clinical/v1/cycles/c1',
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
    });
    expect(answer.json()).toMatchObject({
      id: 'c1',
      patient_id: ME,
      status: 'baseline_set',
      history: ['baseline_set', 'prompted'],
      line1: 'a',
      rejected24h: 3,
      due_at: '2026-10-30T08:00:00.000Z',
    });
  });

  test('has its Location in the form of address that the caller used', async () => {
    const answer = await rest.call('POST', '/v1/cycles', { json: NEW, headers: { host: 'clinical.platform.example' } });
    expect([answer.statusCode, answer.headers.location]).toEqual([201, '/v1/cycles/c1']);
  });

  test('answers with the other documented status when the operation chooses it, without Location', async () => {
    const answer = await rest.call('POST', '/clinical/v1/cycles', { json: { ...NEW, code: 'again' } });
    expect([answer.statusCode, answer.headers.location]).toEqual([200, undefined]);
  });

  test('ignores a chosen status that is not documented', async () => {
    expect((await rest.call('POST', '/clinical/v1/cycles', { json: { ...NEW, code: 'odd' } })).statusCode).toBe(201);
  });
});

describe('both address forms', () => {
  test.each(['clinical.platform.example', 'clinical.localhost:4000'])('host %s serves /v1 directly', async host => {
    expect((await rest.call('GET', '/v1/cycles/c1', { headers: { host } })).json()).toMatchObject({ id: 'c1' });
  });

  test('X-Forwarded-Host is not trusted', async () => {
    const answer = await rest.call('GET', '/v1/cycles/c1', {
      headers: { host: 'platform.example', 'x-forwarded-host': 'clinical.platform.example' },
    });
    expect(answer.statusCode).toBe(404);
  });
});

describe('a read', () => {
  test('is 200 with the selected shape, JSON untouched and union members named', async () => {
    const answer = await rest.call('GET', '/clinical/v1/cycles/c7');
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      id: 'c7',
      metadata: { camelCase: 'KEPT', nested: { moreOf: ['IT'] } },
      outcome: { kind: 'improved', delta_percent: -31.25, status: 'retested' },
      tags: null,
    });
    expect((await rest.call('GET', '/clinical/v1/cycles/lost')).json().outcome).toEqual({
      kind: 'lost_to_follow_up',
      lost_at: '2026-01-01T00:00:00.000Z',
    });
  });

  test('a path parameter is decoded once', async () => {
    expect((await rest.call('GET', '/clinical/v1/cycles/a%2Fb%20%2541')).json().id).toBe('a/b %41');
  });

  test('null is a 404', async () => {
    const answer = await rest.call('GET', '/clinical/v1/cycles/absent');
    expect(answer.statusCode).toBe(404);
    expect(answer.json()).toMatchObject({ type: '/problems/not_found', title: 'Not found', status: 404, code: 'not_found' });
  });

  test('HEAD is GET without the body', async () => {
    const [head, get] = [await rest.call('HEAD', '/clinical/v1/cycles/c1'), await rest.call('GET', '/clinical/v1/cycles/c1')];
    expect([head.statusCode, head.body, head.headers['content-length'], head.headers.etag]).toEqual([
      200,
      '',
      get.headers['content-length'],
      get.headers.etag,
    ]);
  });

  test.each(['"ETAG"', 'W/"ETAG"', '"x", "ETAG"', '*'])('an answer with ETag is 304 for If-None-Match: %s', async form => {
    const first = await rest.call('GET', '/clinical/v1/cycles/c1');
    expect(first.headers).toMatchObject({ 'cache-control': 'private, no-cache', vary: 'Authorization' });
    const header = form.replace('"ETAG"', first.headers.etag as string);
    const again = await rest.call('GET', '/clinical/v1/cycles/c1', { headers: { 'if-none-match': header } });
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', first.headers.etag]);
    expect(
      (await rest.call('GET', '/clinical/v1/cycles/c2', { headers: { 'if-none-match': first.headers.etag as string } })).statusCode,
    ).toBe(200);
  });

  test('the answer may be below the root field', async () => {
    const settings = await rest.call('GET', '/content/v1/users/me/settings', { token: 'usr+read:profile+read:preferences' });
    expect(settings.json()).toEqual({ time_zone: 'UTC', theme: null });
    const notes = await rest.call('GET', '/content/v1/users/me/notes?limit=3&cursor=abc', { token: 'usr+read:profile+read:inbox' });
    expect(notes.json()).toEqual({ data: [{ id: 'n1', text: '{"first":3,"after":"abc"}' }], next_cursor: null });
  });

  test('a key that not every caller may know is left out where null', async () => {
    expect((await rest.call('GET', '/content/v1/users/me', { token: 'usr+read:profile' })).json()).toEqual({ id: ME });
    expect((await rest.call('GET', '/content/v1/users/me', { token: 'usr+read:profile+read:account' })).json()).toEqual({
      id: ME,
      email: 'demo@example.test',
    });
  });
});

describe('a list', () => {
  const received = async (query: string): Promise<unknown> =>
    JSON.parse((await rest.call('GET', `/clinical/v1/cycles${query}`)).json().data[0].id as string);

  test('is data and next_cursor, nested pages too', async () => {
    const answer = (await rest.call('GET', '/clinical/v1/cycles?cursor=more')).json();
    expect(answer).toMatchObject({ next_cursor: 'c1' });
    expect(answer.data[0].notes).toEqual({ data: [{ id: 'n1' }], next_cursor: 'n1' });
    expect((await rest.call('GET', '/clinical/v1/cycles')).json().next_cursor).toBeNull();
  });

  test.each([
    ['', { first: 20 }],
    ['?limit=5&cursor=abc', { first: 5, after: 'abc' }],
    ['?limit=1', { first: 1 }],
    ['?limit=100', { first: 100 }],
    ['?status=prompted', { first: 20, status: ['PROMPTED'] }],
    ['?status=prompted,retested', { first: 20, status: ['PROMPTED', 'RETESTED'] }],
    ['?status=prompted&status=retested', { first: 20, status: ['PROMPTED', 'RETESTED'] }],
    ['?status=', { first: 20, status: [] }],
    ['?urgent=true&due_from=2026-08-01T08:00:00.000Z', { first: 20, urgent: true, dueFrom: '2026-08-01T08:00:00.000Z' }],
    ['?urgent=false&patient_id=p%201', { first: 20, urgent: false, patientId: 'p 1' }],
  ])('%s reaches the operation in the types of its variables', async (query, args) => expect(await received(query)).toEqual(args));

  test('query parameters can make an input object', async () => {
    const answer = await rest.call(
      'GET',
      '/clinical/v1/cycles/search?q=ab&statuses=prompted,retested&min_value=1.5e1&urgent=true&brand_id=b',
    );
    expect(JSON.parse(answer.json().data[0].id as string)).toEqual({
      q: 'ab',
      statuses: ['PROMPTED', 'RETESTED'],
      minValue: 15,
      urgent: true,
      brandId: 'b',
    });
  });

  test('a plain list is data alone', async () => {
    expect((await rest.call('GET', '/content/v1/words', { token: null })).json()).toEqual({
      data: [{ word_key: 'one' }, { word_key: 'two' }],
    });
  });
});

describe('a write', () => {
  test('a delete is 204 without a body, and 404 when there was nothing', async () => {
    const answer = await rest.call('DELETE', '/clinical/v1/cycles/c1');
    expect([answer.statusCode, answer.body, answer.headers['content-type']]).toEqual([204, '', undefined]);
    expect((await rest.call('DELETE', '/clinical/v1/cycles/absent')).statusCode).toBe(404);
  });

  test.each(['application/json', 'application/merge-patch+json'])(
    'a PATCH in %s keeps null and absent apart, and its id comes from the path',
    async type => {
      const answer = await rest.call('PATCH', '/clinical/v1/settings/c9', {
        payload: '{"code":null,"baseline":{"value":1,"unit":"g"}}',
        headers: { 'content-type': type },
      });
      expect(answer.json()).toEqual({ id: 'c9', code: null, baseline: { value: 1, unit: 'g' } });
    },
  );

  test('an input can hold a fixed field beside path and body', async () => {
    expect((await rest.call('POST', '/clinical/v1/cycles/c3/stop', { json: { reason: 'done' } })).json()).toEqual({
      id: 'c3',
      action: 'STOP',
      reason: 'done',
    });
    expect((await rest.call('POST', '/clinical/v1/cycles/c3/stop')).json()).toEqual({ id: 'c3', action: 'STOP' });
  });

  test('single keys of the body can be variables', async () => {
    const answer = await rest.call('POST', '/clinical/v1/cycles/c3/rename', { json: { name: 'new' } });
    expect([answer.statusCode, answer.json()]).toEqual([202, { id: 'c3', name: 'new' }]);
    expect((await rest.call('POST', '/clinical/v1/cycles/c3/rename', { json: { name: 'new', note: null } })).json()).toEqual({
      id: 'c3',
      name: 'new',
      note: null,
    });
  });

  test('a missing body counts as an empty object', async () => {
    expect((await rest.call('POST', '/clinical/v1/clock')).statusCode).toBe(200);
    expect((await rest.call('POST', '/clinical/v1/sweep')).statusCode).toBe(200);
    expect(
      (await rest.call('POST', '/clinical/v1/sweep', { payload: '', headers: { 'content-type': 'application/json' } })).statusCode,
    ).toBe(200);
    expect((await rest.call('POST', '/clinical/v1/sweep', { json: {} })).statusCode).toBe(200);
  });

  test('defaults of the input are applied, enum values and constrained types are converted on the way in', async () => {
    const full = {
      ...NEW,
      status: 'retested',
      tags: ['a'],
      doses: [{ value: 1, unit: 'g' }],
      metadata: { camelCase: ['As_It_Is'] },
      email: 'demo@example.test',
      line1: 'x',
      accepted: false,
      total: 9007199254740991,
      currency: 'USD',
      born_on: '2000-02-29',
      collected_at: '2026-08-01T08:00:00.000Z',
      parent: { name: 'a', children: [{ name: 'b', children: [] }] },
    };
    expect((await rest.call('POST', '/clinical/v1/cycles', { json: full })).json().metadata).toEqual({
      patientId: ME,
      code: 'ldl_c',
      baseline: NEW.baseline,
      status: 'RETESTED',
      tags: ['a'],
      doses: [{ value: 1, unit: 'g' }],
      metadata: { camelCase: ['As_It_Is'] },
      windowDays: 90,
      email: 'demo@example.test',
      line1: 'x',
      accepted: false,
      total: 9007199254740991,
      currency: 'USD',
      bornOn: '2000-02-29',
      collectedAt: '2026-08-01T08:00:00.000Z',
      parent: { name: 'a', children: [{ name: 'b', children: [] }] },
    });
  });
});

describe('X-Request-Id', () => {
  const REQUESTS = [
    ['GET', '/clinical/v1/cycles/c1'],
    ['GET', '/clinical/v1/cycles/absent'],
    ['GET', '/clinical/v1/nope'],
    ['PUT', '/clinical/v1/cycles'],
    ['OPTIONS', '/clinical/v1/cycles'],
    ['DELETE', '/clinical/v1/cycles/1'],
    ['GET', '/clinical/v1/cycles/%zz'],
  ] as const;

  test.each(REQUESTS)("%s %s bears the caller's", async (method, url) => {
    const answer = await rest.call(method, url, { headers: { 'x-request-id': 'req-1.A:b_c' } });
    expect(answer.headers['x-request-id']).toBe('req-1.A:b_c');
    if (answer.statusCode >= 400) expect(answer.json().request_id).toBe('req-1.A:b_c');
  });

  test.each(['', 'a b', 'x'.repeat(129), '<script>'])('%s is no valid one, so we make one', async id => {
    const answer = await rest.call('GET', '/clinical/v1/cycles/absent', { headers: { 'x-request-id': id } });
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.json().request_id).toBe(answer.headers['x-request-id']);
  });
});

describe('over a socket', () => {
  /** Sends bytes and reads until the server closes. */
  async function exchange(text: string): Promise<string> {
    const socket = connect((rest.app.server.address() as AddressInfo).port, '127.0.0.1');
    let answer = '';
    socket.on('data', chunk => (answer += chunk.toString()));
    socket.write(text);
    await new Promise(done => socket.once('close', done));
    return answer;
  }

  beforeAll(() => rest.app.listen({ port: 0, host: '127.0.0.1' }));

  test('a request is refused by its headers before a byte of the body is sent', async () => {
    const refused = await exchange(
      'POST /clinical/v1/cycles HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer svc+admin:content\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\nConnection: close\r\n\r\n',
    );
    expect(refused).toMatch(/^HTTP\/1.1 403/);
  });

  test('a chunked body over the limit is a 413', async () => {
    const chunk = 'x'.repeat(500);
    const refused = await exchange(
      `POST /clinical/v1/cycles/c/rename HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer svc+admin:clinical\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n1f4\r\n${chunk}\r\n0\r\n\r\n`,
    );
    expect(refused).toMatch(/^HTTP\/1.1 413/);
    expect(refused).toContain('application/problem+json');
  });
});
