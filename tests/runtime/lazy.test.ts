import { expect, test, vi } from 'vitest';
import { memoText } from '../../runtime/lazy.js';

test('what is made of a text is made once, for as many texts as are kept; what fails is tried again', () => {
  const make = vi.fn<(text: string) => number | null>(text => {
    if (text === 'bad') throw new Error('no such text');
    return text.length || null;
  });
  const of = memoText(make, 2);
  expect(['abc', 'abc', '', '', 'de', 'de'].map(of)).toEqual([3, 3, null, null, 2, 2]);
  expect(make.mock.calls.flat()).toEqual(['abc', '', 'de', 'de']);
  for (let times = 0; times < 2; times++) expect(() => of('bad')).toThrow('no such text');
});
