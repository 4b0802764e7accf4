import { expect, test } from 'vitest';
import { isReachable, parseNetworks } from '../../runtime/http/public-address.js';
import { urlViolation } from '../../subgraphs/webhooks/rules/url.js';
import { BLOCKED_ADDRESSES, BLOCKED_URLS, PUBLIC_ADDRESSES } from './hostile.js';

const LOOPBACK = parseNetworks('127.0.0.0/8');

test.each(BLOCKED_ADDRESSES)('%s (%s) is not reachable', (_what, address) => {
  expect(isReachable(address)).toBe(false);
});

test.each(PUBLIC_ADDRESSES)('%s is reachable', address => {
  expect(isReachable(address)).toBe(true);
});

test.each(['', 'hooks.example.com', '127.0.0', '1.2.3.4.5', '::g', '127.0.0.1/8'])('%j is no address, so it is not reachable', text => {
  expect(isReachable(text, LOOPBACK)).toBe(false);
});

test('an allowed network opens itself and nothing else', () => {
  expect(isReachable('127.0.0.1', LOOPBACK)).toBe(true);
  expect(isReachable('::ffff:127.0.0.1', LOOPBACK)).toBe(false);
  expect(isReachable('10.0.0.5', LOOPBACK)).toBe(false);
});

test('a network that is none stops the start, by name', () => {
  expect(() => parseNetworks('127.0.0.0/8, nonsense')).toThrow('nonsense');
});

test.each(BLOCKED_URLS)('a URL with a host that is %s is refused when it is stored: %s', (_what, url) => {
  expect(urlViolation(url.replace('{port}', '8080').replace('http:', 'https:'))).not.toBeNull();
  expect(urlViolation(url.replace('{port}', '8080'), { http: true, networks: [] })).not.toBeNull();
});

test.each([
  ['http://hooks.example.com/', 'must begin with https://'],
  ['ftp://hooks.example.com/', 'must begin with https://'],
  ['hooks.example.com', 'is not an absolute URL'],
  ['https://', 'is not an absolute URL'],
  ['https://hooks.example.com:80/', 'the port must be 443 or at least 1024'],
  ['https://hooks.example.com:22/', 'the port must be 443 or at least 1024'],
  ['https://hooks.example.com/#part', 'must not hold a fragment'],
  ['https://hooks.example.com/#', 'must not hold a fragment'],
  ['https://8.8.8.8/', 'the host must be a name, not an address'],
  [`https://hooks.example.com/${'a'.repeat(2048)}`, 'must have at most 2048 characters'],
])('%s is refused: %s', (url, message) => {
  expect(urlViolation(url)).toBe(message);
});

test.each([
  'https://hooks.example.com/platform?tenant=1',
  'https://hooks.example.com:8443/',
  'https://hooks.example.com:443/',
  'https://bücher.example/',
])('%s is accepted', url => {
  expect(urlViolation(url)).toBeNull();
});

test('development settings accept http, and literals of the allowed networks on any port', () => {
  const egress = { http: true, networks: LOOPBACK };
  expect(urlViolation('http://127.0.0.1:80/', egress)).toBeNull();
  expect(urlViolation('http://127.0.0.1:9/', egress)).toBeNull();
  expect(urlViolation('http://10.0.0.5:8080/', egress)).not.toBeNull();
  expect(urlViolation('http://8.8.8.8:8080/', egress)).not.toBeNull();
});
