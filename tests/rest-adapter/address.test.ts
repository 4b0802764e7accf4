import { expect, test } from 'vitest';
import { rewriteUrl } from '../../rest-adapter/address.js';

/** Host, URL, what it becomes. */
const CASES: readonly (readonly [host: string | undefined, url: string, rewritten: string])[] = [
  ['clinical.platform.example', '/v1/retest-cycles?limit=1', '/clinical/v1/retest-cycles?limit=1'],
  ['clinical.platform.example:8443', '/v1/x', '/clinical/v1/x'],
  ['CLINICAL.Platform.Example', '/v1/X', '/clinical/v1/X'],
  ['clinical.platform.example.', '/v1/x', '/clinical/v1/x'],
  ['patient-graph.platform.example', '/readyz', '/patient-graph/readyz'],
  ['clinical.localhost', '/v1/x', '/clinical/v1/x'],
  ['clinical.localhost:4000', '/', '/clinical/'],
  ['clinical.localhost:4000', '/?a=b', '/clinical/?a=b'],
  ['clinical.localhost:4000', '//evil.example/v1', '/clinical//evil.example/v1'],
  ['platform.example', '/clinical/v1/x', '/clinical/v1/x'],
  ['localhost:4000', '/clinical/v1/x', '/clinical/v1/x'],
  ['127.0.0.1:4000', '/clinical/v1/x', '/clinical/v1/x'],
  ['[::1]:4000', '/clinical/v1/x', '/clinical/v1/x'],
  ['nosuch.platform.example', '/v1/x', '/v1/x'],
  ['clinical.evil.example', '/v1/x', '/v1/x'],
  ['a.clinical.platform.example', '/v1/x', '/v1/x'],
  ['clinicalplatform.example', '/v1/x', '/v1/x'],
  ['constructor.localhost', '/v1/x', '/v1/x'],
  ['', '/v1/x', '/v1/x'],
  [undefined, '/v1/x', '/v1/x'],
  ['clinical.localhost', '*', '*'],
  ['clinical.localhost', 'http://clinical.localhost/v1/x', 'http://clinical.localhost/v1/x'],
];

test.each(CASES)('%s%s is %s', (host, url, rewritten) => expect(rewriteUrl(host, url, 'platform.example')).toBe(rewritten));

test('a domain with a port is compared by its name', () =>
  expect(rewriteUrl('clinical.dev.example:4000', '/v1/x', 'dev.example:4000')).toBe('/clinical/v1/x'));

test('without a domain only localhost names services', () => {
  expect(rewriteUrl('clinical.localhost', '/v1/x', '')).toBe('/clinical/v1/x');
  expect(rewriteUrl('clinical.example', '/v1/x', '')).toBe('/v1/x');
});
