import { describe, expect, test } from 'vitest';
import { SLUGS } from '../../events/slugs.js';
import { addressViolations } from '../../subgraphs/identity/rules/addresses.js';
import { foldHandle, handleFault, handleVariants } from '../../subgraphs/identity/rules/handles.js';

describe('a handle', () => {
  test.each([
    ['mara_k', null],
    ['administrator_fan', null],
    ['abc', null],
    ['a'.repeat(30), null],
    ['assassin', null],
    ['a', 'invalid'],
    ['ab', 'invalid'],
    ['a'.repeat(31), 'invalid'],
    ['mara__k', 'invalid'],
    ['mara_', 'invalid'],
    ['_mara', 'invalid'],
    ['1mara', 'invalid'],
    ['Mara', 'invalid'],
    ['mära', 'invalid'],
    ['mara\n', 'invalid'],
    ['admin', 'reserved'],
    ['ad_min', 'reserved'],
    ['adm1n', 'reserved'],
    ['he1p', 'reserved'],
    ['r00t', 'reserved'],
    ['clinical', 'reserved'],
    ['c1inica1', 'reserved'],
    ['privacyofficer', 'reserved'],
    ['fuck', 'blocked'],
    ['sh1t', 'blocked'],
    ['shlt', 'blocked'],
    ['ass_hole', 'blocked'],
  ])('%s is %s', (handle, fault) => expect(handleFault(handle, SLUGS)).toBe(fault));

  test('that looks like a brand or like staff is reserved', () => {
    expect(handleFault('acrne', ['ac_me'])).toBe('reserved');
    expect(handleFault('acmes', ['ac_me'])).toBeNull();
  });

  test('folds look-alikes: 0=o, 1=l=i, 5=s, rn=m, and drops _', () => {
    expect(foldHandle('M0_de1_5rn')).toBe('modeism');
  });

  test('has variants that keep the shape', () => {
    for (const handle of ['mara', 'a'.repeat(30)])
      for (const one of handleVariants(handle)) expect([one, handleFault(one)]).toEqual([one, null]);
  });
});

describe('a postal code', () => {
  test.each([
    ['DE', '10115', true],
    ['DE', '1011', false],
    ['US', '94105-1234', true],
    ['US', 'ABC', false],
    ['GB', 'SW1A 1AA', true],
    ['AQ', 'anything', true],
    ['DE', null, true],
  ])('of %s may be %s: %s', (countryCode, postalCode, fits) => {
    expect(addressViolations({ countryCode, postalCode })).toHaveLength(fits ? 0 : 1);
  });
});
