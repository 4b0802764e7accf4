import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { guardedFetch, type FetchLimits } from '../../runtime/http/guarded-fetch.js';
import { addressFault } from '../../runtime/http/outside-url.js';
import { parseNetworks } from '../../runtime/http/public-address.js';
import { BLOCKED_ADDRESSES } from '../webhooks/hostile.js';

const LIMITS: FetchLimits = { deadlineMs: 2_000, maxBytes: 1000, redirects: 3, accept: '*/*' };
/** One address of the loopback network is let through; all others are as foreign as ever. */
const HERE: FetchLimits = { ...LIMITS, allowed: parseNetworks('127.0.0.1/32') };

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    server.closeAllConnections();
    return new Promise(resolve => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const refusal = (url: string, limits = LIMITS): Promise<string> =>
  guardedFetch(url, limits).then(
    () => 'fetched',
    error => error.reason,
  );

describe('what is not even connected to', () => {
  test.each([
    ['http', 'http://example.com/a'],
    ['another port', 'https://example.com:8443/a'],
    ['a user name', 'https://user@example.com/a'],
    ['another scheme', 'file:///etc/passwd'],
    ['no URL', 'nonsense'],
    ['a URL without end', `https://example.com/${'a'.repeat(3000)}`],
  ])('%s', async (_name, url) => expect(await refusal(url)).toBe('address'));

  test.each(BLOCKED_ADDRESSES)('%s %s, by name', async (_what, address) => {
    expect(await refusal('https://images.example.com/a', { ...LIMITS, resolve: async () => [address] })).toBe('unreachable');
  });

  test('a name of which one address is public and one is not', async () => {
    expect(await refusal('https://images.example.com/a', { ...LIMITS, resolve: async () => ['93.184.216.34', '10.0.0.1'] })).toBe(
      'unreachable',
    );
  });

  test.each(['https://169.254.169.254/x', 'https://[::1]/x', 'https://2130706433/x', 'https://0x7f.1/x', 'https://[::ffff:127.0.0.1]/x'])(
    'the literal %s',
    async url => {
      expect(await refusal(url)).toBe('address');
      expect(addressFault(url)).toBe('must not lead into a private network');
    },
  );

  test.each(['https://localhost/x', 'https://printer/x', 'https://vault.internal/x', 'https://a.svc.cluster.local./x'])(
    'the local name %s, unless a network of ours is allowed',
    url => {
      expect(addressFault(url)).toBe('must not lead into a private network');
      expect(addressFault(url, parseNetworks('10.0.0.0/8'))).toBeNull();
    },
  );

  test.each(BLOCKED_ADDRESSES)('%s %s, already when it is stored', (_what, address) => {
    expect(addressFault(`https://${address.includes(':') ? `[${address}]` : address}/x`)).not.toBeNull();
  });
});

describe('what is fetched', () => {
  test('its bytes, without cookies and with our own headers only', async () => {
    const seen: object[] = [];
    const base = await serve((request, response) => void (seen.push(request.headers), response.end('bytes')));
    expect((await guardedFetch(`${base}/a?b=c`, HERE)).toString()).toBe('bytes');
    expect(Object.keys(seen[0]!).toSorted()).toEqual(['accept', 'accept-encoding', 'connection', 'host']);
  });

  test('at most three redirects', async () => {
    const base = await serve((request, response) => {
      const left = Number(request.url!.slice(1));
      if (left === 0) response.end('there');
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    });
    expect((await guardedFetch(`${base}/3`, HERE)).toString()).toBe('there');
    expect(await refusal(`${base}/4`, HERE)).toBe('redirects');
  });

  test.each([
    ['to a private address', 'https://10.0.0.1/', 'address'],
    ['to another loopback address', 'https://127.0.0.2/', 'address'],
    ['to http', 'http://example.com/', 'address'],
    ['to a file', 'file:///etc/passwd', 'address'],
  ])('no redirect %s', async (_name, location, reason) => {
    const base = await serve((_request, response) => response.writeHead(302, { location }).end());
    expect(await refusal(base, HERE)).toBe(reason);
  });

  test('no more than it may have, whatever length is declared', async () => {
    const base = await serve((_request, response) => {
      response.write('x'.repeat(600));
      response.end('x'.repeat(600));
    });
    expect(await refusal(base, HERE)).toBe('too_large');
  });

  test('nothing that does not answer with 200', async () => {
    const base = await serve((_request, response) => response.writeHead(404).end('x'));
    expect(await refusal(base, HERE)).toBe('status');
  });

  test.each([
    ['the headers', () => undefined],
    ['the body', (response: { write(text: string): void }) => response.write('x')],
  ])('nothing whose server withholds %s beyond the deadline', async (_name, begin) => {
    const base = await serve((_request, response) => begin(response as never));
    expect(await refusal(base, { ...HERE, deadlineMs: 150 })).toBe('unreachable');
  });

  test('nothing of which the name does not resolve in time', async () => {
    expect(await refusal('https://images.example.com/', { ...LIMITS, deadlineMs: 100, resolve: () => new Promise(() => undefined) })).toBe(
      'unreachable',
    );
  });
});
