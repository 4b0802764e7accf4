import { describe, expect, test } from 'vitest';
import { createSealer, sameSecret } from '../../runtime/data/crypto.js';

const key = (byte: number): string => Buffer.alloc(32, byte).toString('base64');

describe('sealed columns', () => {
  const sealer = createSealer(`a:${key(1)}`);

  test('open only in their own place', () => {
    const sealed = sealer.seal('110 mg/dL', 'observation.value:1');
    expect(sealer.open(sealed, 'observation.value:1')).toBe('110 mg/dL');
    expect(() => sealer.open(sealed, 'observation.value:2')).toThrow(/authenticate/);
  });

  test('are never the same twice and hold no plain text', () => {
    const [one, two] = [sealer.seal('canary', 'x'), sealer.seal('canary', 'x')];
    expect(one.equals(two)).toBe(false);
    expect(one.toString('latin1')).not.toContain('canary');
  });

  test('refuse changed bytes and unknown keys', () => {
    const sealed = sealer.seal('canary', 'x');
    sealed[sealed.length - 1]! ^= 1;
    expect(() => sealer.open(sealed, 'x')).toThrow(/authenticate/);
    expect(() => createSealer(`b:${key(1)}`).open(sealer.seal('canary', 'x'), 'x')).toThrow(/unknown key/);
  });

  test('open after a rotation: the first key seals, all open', () => {
    const old = sealer.seal('canary', 'x');
    const rotated = createSealer(`b:${key(2)},a:${key(1)}`);
    expect(rotated.open(old, 'x')).toBe('canary');
    expect(() => sealer.open(rotated.seal('canary', 'x'), 'x')).toThrow(/unknown key/);
  });

  test.each(['a:short', ':AAAA', 'a', ''])('%s is refused as a key', keys => {
    expect(() => createSealer(keys)).toThrow(/ENCRYPTION_KEYS/);
  });
});

test.each([
  ['a', 'a', true],
  ['a', 'b', false],
  ['a', 'ab', false],
  ['', '', true],
])('%j and %j are the same secret: %s', (a, b, same) => {
  expect(sameSecret(a, b)).toBe(same);
});
