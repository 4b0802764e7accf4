import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { generateOpenApi } from '../../rest-adapter/documents/openapi.js';
import { plans, services } from './fixture.js';

const FOLDER = new URL('../../rest-adapter/openapi/', import.meta.url);
const UNIFIED = 'openapi.yaml';
const checkedIn = existsSync(FOLDER) ? readdirSync(FOLDER).filter(file => file.endsWith('.yaml')) : [];
const textOf = (file: string): string => readFileSync(new URL(file, FOLDER), 'utf8');

/** The documents of the fixture's routes, which have every kind of row, and the one of all services, of which the others are parts. */
const documents = new Map([
  ...[...generateOpenApi(plans, services)].map(([file, yaml]) => [`fixture-${file}`, yaml] as const),
  [UNIFIED, textOf(UNIFIED)],
]);

const names = [...documents.keys()];

/** A document with a reference to nothing, so that a linter without rules would be noticed. */
const BROKEN = documents.get('fixture-openapi.yaml')!.replaceAll('#/components/responses/Conflict', '#/components/responses/Nothing');

/**
 * What the specification's own paths cause: `/v1/users/by-handle/{handle}` beside `/v1/users/{user_id}/profile` (OpenAPI 3.1 resolves it: a
 * literal segment wins over a parameter), and the five that only ever redirect: the
 * authorization endpoint, a report's file, an affiliate's link, a file of content and the way back from a message's sign-in.
 */
const GIVEN: Readonly<Record<string, RegExp>> = {
  'no-ambiguous-paths': /./,
  'operation-2xx-response':
    /v1~1oauth~1authorize|v1~1bloodwork~1\{id\}~1file|affiliates~1v1~1r~1\{slug\}|content~1v1~1files~1by-id~1\{id\}|comms~1m~1callback/,
};

describe('Redocly, recommended rules; but for what the specification fixes, none switched off', () => {
  const lint = async (file: string, source: string): Promise<object[]> => {
    const problems = await lintFromString({ source, absoluteRef: `/${file}`, config: await createConfig({ extends: ['recommended'] }) });
    const found = problems.map(({ ruleId, message, location }) => ({ ruleId, message, pointer: location[0]?.pointer ?? '' }));
    return found.filter(({ ruleId, pointer }) => !GIVEN[ruleId]?.test(pointer));
  };

  test.each(names)('%s is clean', async file => expect(await lint(file, documents.get(file)!)).toEqual([]));

  test('a broken document is not', async () => expect(await lint('broken.yaml', BROKEN)).not.toEqual([]));
});

describe('Spectral, recommended rules, none switched off', () => {
  const spectral = new spectralCore.Spectral();
  beforeAll(() => spectral.setRuleset({ extends: [[spectralRulesets.oas as never, 'recommended']] }));
  const lint = async (source: string): Promise<object[]> =>
    (await spectral.run(source)).map(({ code, message, path }) => ({ code, message, path: path.join('/') }));

  test.each(names)('%s is clean', { timeout: 300_000 }, async file => expect(await lint(documents.get(file)!)).toEqual([])); // ten seconds of work

  test('a broken document is not', async () => expect(await lint(BROKEN)).not.toEqual([]));
});

/**
 * What a linter finds in the unified document it would find in a part of it: title, purpose and addresses alone are a part's own. Where two
 * services show a type by different fields, the second one's component has another name in the unified document, so names are not compared.
 */
describe("a service's document is a part of the unified one", () => {
  type Doc = Record<string, any>;
  let whole: Doc;
  beforeAll(() => void (whole = parse(textOf(UNIFIED)) as Doc));

  const parts = checkedIn.filter(file => file !== UNIFIED).map(file => [file, file.replace('.yaml', '')] as const);
  const REFERENCE = /^#\/components\/(\w+)\/(.+)$/;
  /** The value with the components that it refers to in the places of their names. */
  const inlined = (document: Doc, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(one => inlined(document, one));
    if (typeof value !== 'object' || value === null) return value;
    const [, kind, name] = REFERENCE.exec((value as Doc).$ref ?? '') ?? [];
    if (kind) return inlined(document, document.components[kind][name!]);
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, inlined(document, one)]));
  };
  const below = (slug: string): [string, Doc][] => Object.entries<Doc>(whole.paths).filter(([at]) => at.startsWith(`/${slug}/`));

  test.each(parts)('%s: the same paths below its name, and no others', (file, slug) => {
    const part = parse(textOf(file)) as Doc;
    const own = below(slug).map(([at, item]) => [at.slice(slug.length + 1), inlined(whole, item)]);
    expect(inlined(part, part.paths)).toEqual(Object.fromEntries(own));
    expect(whole.tags).toEqual(expect.arrayContaining(part.tags));
  });

  test.each(parts)('%s: just the components that its paths refer to', file => {
    const { components, paths } = parse(textOf(file)) as Doc;
    const referred = [...JSON.stringify([paths, components]).matchAll(/"#\/components\/([^"]+)"/g)].map(([, at]) => at!);
    const named = ['parameters', 'responses', 'schemas'].flatMap(kind =>
      Object.keys(components[kind] ?? {}).map(name => `${kind}/${name}`),
    );
    expect(named.sort()).toEqual([...new Set(referred)].filter(at => !at.startsWith('headers/')).sort());
    expect(Object.keys(whole.components.securitySchemes)).toEqual(expect.arrayContaining(Object.keys(components.securitySchemes)));
  });

  test('and all parts together are the unified one', () => {
    expect(parts.flatMap(([, slug]) => below(slug))).toHaveLength(Object.keys(whole.paths).length);
  });
});
