import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { move } from '../../runtime/request/states.js';
import { GiftStatus } from '../../subgraphs/payments/entities/enums-offers.js';
import { GIFT_STATES, giftCodeOf, giftExpiry, groupedCode, isRedeemable, normalizedGiftCode } from '../../subgraphs/payments/rules/gift.js';
import { roundHalfEven } from '../../subgraphs/payments/rules/rounding.js';

describe('a gift code', () => {
  test('has 20 characters of Crockford base32 in groups of 5', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 13, maxLength: 13 }), random => {
        const code = giftCodeOf(random);
        expect(groupedCode(code)).toMatch(/^([0-9A-HJKMNP-TV-Z]{5}-){3}[0-9A-HJKMNP-TV-Z]{5}$/);
        expect(normalizedGiftCode(groupedCode(code))).toBe(code);
      }),
    );
  });

  test('has 100 bits: codes differ wherever the random bits differ', () => {
    const bits = Array.from({ length: 100 }, (_, bit) => {
      const bytes = new Uint8Array(13);
      bytes[12 - (bit >> 3)]! |= 1 << (bit & 7);
      return giftCodeOf(bytes);
    });
    expect(new Set(bits).size).toBe(100);
  });

  test.each([
    ['7k3qm-00000-00000-0000a', '7K3QM00000000000000A'],
    ['7K3QM 00000 00000 0000A', '7K3QM00000000000000A'],
    ['oOiIl-LLLLL-00000-00000', '00111111110000000000'],
    ['7K3QM-00000-00000-0000', null],
    ['7K3QM-00000-00000-0000U', null],
    ['', null],
    ['7K3QM-00000-00000-00000-0', null],
  ])('typed as %j is read as %j', (typed, code) => expect(normalizedGiftCode(typed)).toBe(code));
});

test.each([
  ['2026-11-21T12:00:00.000Z', '2031-11-21T12:00:00.000Z'],
  ['2028-02-29T23:59:59.999Z', '2033-02-28T23:59:59.999Z'],
])('a gift that was paid at %s is good until %s', (paid, until) => {
  expect(giftExpiry(new Date(paid)).toISOString()).toBe(until);
});

describe('states', () => {
  const triggers = ['pay', 'deliver', 'redeem', 'refund', 'expire'] as const;
  const allowed = new Set([
    'pending_payment pay purchased',
    'pending_payment expire expired',
    'purchased deliver delivered',
    'purchased redeem redeemed',
    'purchased refund refunded',
    'purchased expire expired',
    'delivered redeem redeemed',
    'delivered refund refunded',
    'delivered expire expired',
  ]);

  test.each(Object.values(GiftStatus).flatMap(state => triggers.map(trigger => [state, trigger] as const)))(
    'a gift: %s, %s',
    (state, trigger) => {
      const next = [...allowed].find(one => one.startsWith(`${state} ${trigger} `))?.split(' ')[2];
      const go = () => move(GIFT_STATES, 'gift', state, trigger);
      if (next) expect(go()).toBe(next);
      else expect(go).toThrow(/that is .* cannot/);
    },
  );

  test('its code is worth something from the payment until it is used, refunded or over', () => {
    expect(Object.values(GiftStatus).filter(isRedeemable)).toEqual([GiftStatus.PURCHASED, GiftStatus.DELIVERED]);
  });
});

test.each([
  [5n, 2n, 2],
  [7n, 2n, 4],
  [-5n, 2n, -2],
  [-7n, 2n, -4],
  [1n, 3n, 0],
  [2n, 3n, 1],
  [950_000_000_000_000_001n * 2n, 2n * 1000n, 950_000_000_000_000],
])('%s / %s, rounded half to even, is %s', (over, under, rounded) => expect(roundHalfEven(over, under)).toBe(rounded));
