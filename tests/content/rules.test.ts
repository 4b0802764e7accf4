import { expect, test } from 'vitest';
import { guardedPage } from '../../runtime/http/guarded-fetch.js';
import { pageFault } from '../../runtime/http/outside-url.js';
import { learnArticles } from '../../subgraphs/content/entities/editorial.js';
import { hasCheckDigit, isCurrentCoa, newVerificationCode } from '../../subgraphs/content/rules/derived.js';
import { textDifference } from '../../subgraphs/content/rules/differences.js';
import { brandFor, type BrandFacts } from '../../subgraphs/content/ports/brands.js';
import { fallbackChain, negotiated } from '../../subgraphs/content/rules/locales.js';
import { RELEASE_MOVES } from '../../subgraphs/content/rules/releases.js';
import { isLink, richTextViolations } from '../../subgraphs/content/rules/rich-text.js';
import { matchPath } from '../../subgraphs/content/rules/routes.js';
import { highlighted, parseQuery } from '../../subgraphs/content/rules/search-query.js';
import { codeForms } from '../../subgraphs/content/rules/search-words.js';
import { lacks } from '../../subgraphs/content/rules/values.js';

test.each([
  'http://[::ffff:7f00:1]/',
  'http://2130706433/',
  'http://0x7f.1/',
  'http://127.1/',
  'http://169.254.169.254/',
  'http://10.0.0.5/',
  'https://8.8.8.8/',
  'http://localhost/',
  'https://a.internal/',
  'https://a.local/',
  'https://a.test/',
  'https://a.invalid/',
  'https://a.example/',
  'https://a.home.arpa/',
  'https://com/',
  'https://intranet/',
  'https://a.nosuchsuffix/',
  'https://user@example.com/',
  'https://example.com:8443/',
  'http://example.com:22/',
  'ftp://example.com/',
  'file:///etc/passwd',
  'javascript:1',
  '',
  `https://example.com/${'x'.repeat(2048)}`,
])('%s is no page of the web', url => {
  expect(pageFault(url)).not.toBeNull();
});

test.each(['https://example.com/', 'http://example.com/', 'https://example.co.uk:443/x', 'http://sub.example.org:80/'])(
  '%s may be one',
  url => {
    expect(pageFault(url)).toBeNull();
  },
);

test.each([[['10.0.0.5']], [['93.184.216.34', '127.0.0.1']], [['::ffff:10.0.0.5']], [['fd00::1']], [['64:ff9b::7f00:1']], [[]]])(
  'a name that resolves to %j is not looked at',
  async addresses => {
    const limits = { deadlineMs: 500, maxBytes: 1000, redirects: 3, accept: '*/*', stopAt: '</head>', resolve: async () => addresses };
    await expect(guardedPage('https://example.com/', limits)).rejects.toMatchObject({
      reason: 'unreachable',
      cause: { name: expect.stringMatching(/BlockedAddress|DnsFailure/) },
    });
  },
);

test.each([
  ['de-AT', 'en', true, ['de-AT', 'de', 'en']],
  ['en', 'en', true, ['en']],
  ['de-AT', 'en', false, ['de-AT']],
  ['zh-Hant-TW', 'de', true, ['zh-Hant-TW', 'zh-Hant', 'zh', 'de']],
])('%s with default %s and fallback %s is asked as %j', (asked, byDefault, fallback, chain) => {
  expect(fallbackChain(asked, byDefault, fallback)).toEqual(chain);
});

test.each([
  ['de-AT,de;q=0.9,en;q=0.1', 'de'],
  ['fr', 'en'],
  [null, 'en'],
  ['*', 'en'],
  [';;;,q=,x-', 'en'],
])('Accept-Language %j is answered in %s', (header, locale) => {
  expect(negotiated(header, ['en', 'de'], 'en')).toBe(locale);
});

test.each([
  ['58-08-2', true],
  ['7732-18-5', true],
  ['7732-18-4', false],
])('%s has a right check digit: %s', (cas, right) => {
  expect(hasCheckDigit(cas)).toBe(right);
});

test('a verification code has twelve characters that are not taken for others', () => {
  expect(newVerificationCode()).toMatch(/^[2-9A-HJKMNP-Z]{4}(-[2-9A-HJKMNP-Z]{4}){2}$/);
});

test.each([
  [{ verdict: 'PASS' }, true],
  [{ verdict: 'FAIL' }, false],
  [{ verdict: 'PASS', expiresOn: '2027-01-31' }, false],
  [{ verdict: 'PASS', expiresOn: '2027-02-01' }, true],
  [{ verdict: 'PASS', supersededBy: 'x' }, false],
])('the certificate %j is current: %s', (values, current) => {
  expect(isCurrentCoa(values, '2027-02-01')).toBe(current);
});

test('a release that is over moves no more, and a failed one is not cancelled', () => {
  expect([RELEASE_MOVES.PUBLISHED, RELEASE_MOVES.CANCELLED, RELEASE_MOVES.FAILED.cancel]).toEqual([{}, {}, undefined]);
});

test.each([
  ['https://a.example/', true],
  ['http://a.example/', true],
  ['mailto:a@b.example', true],
  ['tel:+491234', true],
  ['/learn', true],
  ['//evil.example', false],
  ['javascript:alert(1)', false],
  ['JaVaScRiPt:alert(1)', false],
  ['java\nscript:alert(1)', false],
  ['data:text/html,x', false],
  ['vbscript:x', false],
])('a link to %j is allowed: %s', (href, allowed) => {
  expect(isLink(href)).toBe(allowed);
});

test('rich text is at most 20 levels deep', () => {
  let node: object = { type: 'paragraph' };
  for (let level = 0; level < 25; level++) node = { type: 'blockquote', content: [node] };
  expect(richTextViolations({ type: 'doc', content: [node] }, '/body')[0]!.message).toContain('deeper than 20');
});

test.each([
  ['BPC-157', ['bpc157']],
  ['bpc 157 and TB500', ['bpc157', 'tb500']],
  ['no code', []],
])('%j holds the codes %j', (text, codes) => {
  expect(codeForms(text)).toEqual(codes);
});

test('a query has groups, phrases, exclusions and alternatives; a minus inside a word is none', () => {
  const { groups, excluded } = parseQuery('"net content" -water alpha or beta BPC-157 - -- x-y');
  expect(groups.map(group => group.map(({ text, isPhrase }) => (isPhrase ? `"${text}"` : text)))).toEqual([
    ['"net content"'],
    ['alpha', 'beta'],
    ['BPC-157'],
    ['x-y'],
  ]);
  expect(excluded.map(({ text }) => text)).toEqual(['water']);
  expect(parseQuery(Array.from({ length: 100 }, (_, at) => `w${at}x`).join(' ')).groups).toHaveLength(32);
});

test('words that match are marked whatever their accents', () => {
  expect(highlighted('Kühlschränke im Haus', ['kuhlschrank']).filter(({ match }) => match)).toEqual([
    { text: 'Kühlschränke', match: true },
  ]);
});

test('a text difference shows what went and what came', () => {
  expect(textDifference('one two three', 'one 2 three')).toBe('one [-two -]{+2 +}three');
});

test.each([
  ['/learn/a-slug', { target: 'LEARN_ARTICLES', by: 'slug', key: 'a-slug' }],
  ['/learn/a-slug/', { target: 'LEARN_ARTICLES', by: 'slug', key: 'a-slug' }],
  ['/products/x', { target: 'PRODUCT', by: 'slug', key: 'x' }],
  ['/about', { target: 'PAGES', by: 'path', key: '/about' }],
])('%s shows %j', (path, matched) => {
  expect(matchPath(path)).toEqual(matched);
});

test('everything that is missing is named, inside of groups too', () => {
  expect(lacks(learnArticles, { title: 'x', author: {} }, '').map(({ pointer }) => pointer)).toEqual(['/excerpt', '/body', '/author/name']);
});

const brand = (slug: string, isDefault = false): BrandFacts => ({
  id: slug,
  slug,
  isDefault,
  defaultLocale: 'en',
  locales: ['en'],
  hosts: [],
});
const BRANDS = [brand('main', true), brand('other')];

test.each([
  ['user', 'other', null, 'other'],
  ['user', 'other', 'other', 'other'],
  ['user', 'other', 'main', null],
  ['user', 'gone', null, null],
  ['user', null, null, 'main'],
  ['user', null, 'other', null],
  ['service', null, 'other', 'other'],
  ['service', null, 'nowhere', null],
])('a %s of the brand %s that asks for %s reads %s', (kind, brandId, asked, read) => {
  const reading = () => brandFor({ caller: { kind, brandId, permissions: [] } } as never, BRANDS, asked).slug;
  if (read === null) expect(reading).toThrow('Not found');
  else expect(reading()).toBe(read);
});

test.each([
  [['admin:content:read'], true],
  [['admin:content'], true],
  [['admin:content:edit'], false],
  [['admin:analytics'], false],
])('staff with %s read other brands: %s', (permissions, reads) => {
  const reading = () => brandFor({ caller: { kind: 'user', brandId: null, permissions } } as never, BRANDS, 'other').slug;
  if (reads) expect(reading()).toBe('other');
  else expect(reading).toThrow('Not found');
});
