import { expect, test } from 'vitest';
import { Problem } from '../../runtime/request/errors.js';
import { addressKey, RateLimit } from '../../runtime/access/rate-limit.js';

const refusal = (take: () => void): Problem | null => {
  try {
    take();
    return null;
  } catch (error) {
    return error as Problem;
  }
};

test('a key has its calls in each window, and is told when the next one begins', () => {
  let now = 0;
  const limit = new RateLimit(2, 60_000, () => now);
  const take = (key: string) => refusal(() => limit.take(key));
  expect([take('a'), take('a'), take('b')]).toEqual([null, null, null]);
  now = 15_001;
  expect(take('a')).toMatchObject({ code: 'rate_limited', options: { retryAfter: 45 } });
  expect(take('b')).toBeNull();
  now = 60_000;
  expect(take('a')).toBeNull();
});

test('lapsed keys are forgotten, so that addresses do not fill the memory', () => {
  let now = 0;
  const limit = new RateLimit(1, 1000, () => now);
  for (let one = 0; one < 10_000; one++) limit.take(`old ${one}`);
  now = 1000;
  limit.take('new');
  expect(refusal(() => limit.take('new'))?.code).toBe('rate_limited');
  expect(refusal(() => limit.take('old 1'))).toBeNull();
});

test('an IPv6 host is counted by its /64, an IPv4 host by its address', () => {
  expect(addressKey('2001:db8:1:2:aaaa:bbbb:cccc:dddd')).toBe(addressKey('2001:db8:1:2:1:2:3:4'));
  expect(addressKey('2001:db8::1')).toBe(addressKey('2001:db8::ffff:2'));
  expect(addressKey('192.0.2.1')).not.toBe(addressKey('192.0.2.2'));
  expect(addressKey('::ffff:192.0.2.1')).toBe('192.0.2.1');
});
