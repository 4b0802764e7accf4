import type { FastifyInstance } from 'fastify';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { docs } from '../../rest-adapter/documents/reference.js';
import { generateOpenApi } from '../../rest-adapter/documents/openapi.js';
import { createHttp } from '../../runtime/http/server.js';
import { plans, services } from './fixture.js';

const documents = generateOpenApi(plans, services);
let app: FastifyInstance;
beforeAll(async () => {
  app = createHttp({ log: pino({ level: 'silent' }) });
  await app.register(docs({ documents: new Map([...documents].map(([file, yaml]) => [file, async () => yaml])) }));
});
afterAll(() => app.close());

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ method: 'GET', url, headers });

describe('the documents', () => {
  test.each([
    ['/api/openapi.yaml', 'openapi.yaml'],
    ['/api/clinical/openapi.yaml', 'clinical.yaml'],
    ['/api/content/openapi.yaml', 'content.yaml'],
  ])('%s needs no token', async (url, file) => {
    const answer = await get(url);
    expect([answer.statusCode, answer.headers['content-type'], answer.body]).toEqual([
      200,
      'application/yaml; charset=utf-8',
      documents.get(file),
    ]);
  });

  test('bear an ETag, and are 304 to who has them', async () => {
    const { etag } = (await get('/api/openapi.yaml')).headers;
    for (const known of [etag as string, `W/${etag}`, `"x", ${etag}`]) {
      const again = await get('/api/openapi.yaml', { 'if-none-match': known });
      expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', etag]);
    }
    expect((await get('/api/openapi.yaml', { 'if-none-match': '"x"' })).statusCode).toBe(200);
  });

  test.each([
    '/api/nosuch/openapi.yaml',
    '/api/..%2fclinical/openapi.yaml',
    '/api/openapi/openapi.yaml/x',
    '/docs/package.json',
    '/docs/..%2fpackage.json',
  ])('%s is a 404', async url => {
    const answer = await get(url);
    expect([answer.statusCode, answer.json().code]).toEqual([404, 'not_found']);
  });
});

describe('the reference page', () => {
  test.each(['/docs', '/docs/'])('%s is a page whose policy names this origin only and nothing unsafe', async url => {
    const answer = await get(url);
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = answer.headers['content-security-policy'] as string;
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(answer.headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
  });

  test('has nothing inline and nothing of another origin, and all that it refers to is here', async () => {
    const { body } = await get('/docs');
    expect(body).not.toMatch(/<style|style=|\son\w+=|<script>|https?:\/\/|src="\/\//);
    const addresses = [...body.matchAll(/(?:src|href)="([^"]+)"/g)].map(match => match[1]!);
    expect(addresses).toHaveLength(6);
    for (const address of addresses) expect((await get(address)).statusCode).toBe(200);
  });

  test('lists all services first, then each, and asks no validator', async () => {
    const { body } = await get('/docs/start.js');
    expect(body).toContain(
      '[{"url":"/api/openapi.yaml","name":"All services"},{"url":"/api/clinical/openapi.yaml","name":"clinical"},{"url":"/api/content/openapi.yaml","name":"content"}]',
    );
    expect(body).toContain('validatorUrl: null');
  });

  test('its script runs: the bundle is of the version that the start script speaks to', async () => {
    const bundle = (await get('/docs/swagger-ui-bundle.js')).body;
    const preset = (await get('/docs/swagger-ui-standalone-preset.js')).body;
    expect([bundle.includes('SwaggerUIBundle'), preset.includes('SwaggerUIStandalonePreset')]).toEqual([true, true]);
  });
});
