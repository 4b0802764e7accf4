import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';
import { beforeAll, describe, expect, test } from 'vitest';
import { generateOpenApi } from '../../rest-adapter/documents/openapi.js';
import { plans, services } from './fixture.js';

const FOLDER = new URL('../../rest-adapter/openapi/', import.meta.url);
const checkedIn = existsSync(FOLDER) ? readdirSync(FOLDER).filter(file => file.endsWith('.yaml')) : [];

/** The documents of the fixture's routes, which have every kind of row, and all that are checked in. */
const documents = new Map([
  ...[...generateOpenApi(plans, services)].map(([file, yaml]) => [`fixture-${file}`, yaml] as const),
  ...checkedIn.map(file => [file, readFileSync(new URL(file, FOLDER), 'utf8')] as const),
]);

const names = [...documents.keys()];

/** A document with a reference to nothing, so that a linter without rules would be noticed. */
const BROKEN = documents.get('fixture-openapi.yaml')!.replaceAll('#/components/responses/Conflict', '#/components/responses/Nothing');

/**
 * What the specification's own paths cause: `/v1/users/by-handle/{handle}` beside `/v1/users/{user_id}/profile` (OpenAPI 3.1 resolves it: a
 * literal segment wins over a parameter), and the two that only ever redirect: the
 * authorization endpoint and a report's file.
 */
const GIVEN: Readonly<Record<string, RegExp>> = {
  'no-ambiguous-paths': /./,
  'operation-2xx-response': /v1~1oauth~1authorize|v1~1bloodwork~1\{id\}~1file/,
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

  test.each(names)('%s is clean', async file => expect(await lint(documents.get(file)!)).toEqual([]));

  test('a broken document is not', async () => expect(await lint(BROKEN)).not.toEqual([]));
});
