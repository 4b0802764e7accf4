import { readdirSync, readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore from '@stoplight/spectral-core';
import spectralRulesets from '@stoplight/spectral-rulesets';
import { beforeAll, describe, expect, test } from 'vitest';
import { generateOpenApi } from '../../rest-adapter/openapi.js';
import { clinical, content, schema, services } from './fixture.js';

const FOLDER = new URL('../../rest-adapter/openapi/', import.meta.url);

/** The documents of the fixture's routes, and all that are checked in. */
const documents = new Map([
  ...[...generateOpenApi(schema, [clinical, content], services)].map(([file, yaml]) => [`fixture ${file}`, yaml] as const),
  ...readdirSync(FOLDER)
    .filter(file => file.endsWith('.yaml'))
    .map(file => [file, readFileSync(new URL(file, FOLDER), 'utf8')] as const),
]);

/** A probe takes no input and no token, so it has nothing to refuse: `operation-4xx-response` does not apply to these two paths. */
const isProbe = (location: string): boolean => /\/(readyz|healthz)/.test(decodeURIComponent(location).replaceAll('~1', '/'));

describe('Redocly, recommended rules', () => {
  test.each([...documents.keys()])('%s is clean', async file => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: documents.get(file)!, absoluteRef: `/${file.replace(' ', '-')}`, config });
    const found = problems.map(({ ruleId, message, location }) => ({ ruleId, message, pointer: location[0]?.pointer ?? '' }));
    expect(found.filter(({ ruleId, pointer }) => !(ruleId === 'operation-4xx-response' && isProbe(pointer)))).toEqual([]);
  });
});

describe('Spectral, recommended rules', () => {
  const spectral = new spectralCore.Spectral();
  beforeAll(() => spectral.setRuleset({ extends: [[spectralRulesets.oas as never, 'recommended']] }));

  test.each([...documents.keys()])('%s is clean', async file => {
    const found = await spectral.run(documents.get(file)!);
    expect(found.map(({ code, message, path }) => ({ code, message, path: path.join('/') }))).toEqual([]);
  });
});
