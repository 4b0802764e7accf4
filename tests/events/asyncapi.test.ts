import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Parser } from '@asyncapi/parser';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asyncApiDocuments, deliveriesAsyncApi } from '../../events/asyncapi.js';
import { CATALOGUE } from '../../events/catalogue.js';
import { docsRoutes } from '../../gateway/endpoints/docs.js';
import { createHttp } from '../../runtime/http/server.js';
import { ROOT } from '../house/sources.js';

interface Message {
  payload: { schema: { required: string[] } };
  examples: { payload: { client_id?: string } }[];
}
interface Document {
  channels: Record<string, { messages: object }>;
  operations: Record<string, { action: string }>;
  components: { messages: Record<string, Message> };
}

const documents = new Map([...asyncApiDocuments(CATALOGUE)].map(([name, document]) => [name, document as unknown as Document]));
const operationsOf = (name: string): string[] => Object.keys(documents.get(name)!.operations);

const parser = new Parser();
/** A document that says it is older than the newest specification is what we want. */
const WANTED = 'asyncapi-latest-version';

describe('the AsyncAPI documents', () => {
  test.each(['asyncapi', 'webhooks', 'identity', 'payments', 'jobs'])(
    '%s is a valid AsyncAPI 3.0 document to an independent parser',
    async name => {
      const { document, diagnostics } = await parser.parse(readFileSync(join(ROOT, `events/asyncapi/${name}.yaml`), 'utf8'));
      expect(diagnostics.filter(({ code }) => code !== WANTED).map(({ message, path }) => `${path.join('/')}: ${message}`)).toEqual([]);
      expect(document!.version()).toBe('3.0.0');
    },
  );

  test('what webhooks alone deliver is a valid document, too, and shows nothing of the bus', async () => {
    const document = deliveriesAsyncApi(CATALOGUE.values());
    const { diagnostics } = await parser.parse(JSON.stringify(document));
    expect(diagnostics.filter(({ code }) => code !== WANTED).map(({ message, path }) => `${path.join('/')}: ${message}`)).toEqual([]);
    expect(JSON.stringify(document)).not.toContain('platform.events');
  });

  test('the unified one has a channel and a sender for each type, and a receiver for each consumer', () => {
    const { channels } = documents.get('asyncapi')!;
    expect(Object.keys(channels).sort()).toEqual([...CATALOGUE.keys()].sort());
    const expected = [...CATALOGUE.values()].flatMap(({ name, owner, consumers }) => [
      `${owner}.send.${name}`,
      ...consumers.map(slug => `${slug}.receive.${name}`),
    ]);
    expect(operationsOf('asyncapi')).toEqual(expect.arrayContaining(expected));
  });

  test("a service's own has what it sends and receives, and nothing else", () => {
    expect(operationsOf('cash')).toContain('cash.send.cash.granted.v1');
    expect(operationsOf('cash')).toContain('cash.receive.payment.refunded.v1');
    for (const [name] of documents)
      if (name !== 'asyncapi') expect(operationsOf(name).filter(key => !key.startsWith(`${name}.`))).toEqual([]);
  });

  test("the webhooks service's shows each type with a scope as a signed POST with a client id, and no other", () => {
    const { channels, components } = documents.get('webhooks')!;
    const scoped = [...CATALOGUE.values()].filter(({ scope }) => scope !== null).map(({ name }) => name);
    expect(Object.keys(channels.webhook!.messages).sort()).toEqual(scoped.sort());
    for (const name of scoped) {
      const { payload, examples } = components.messages[`webhook.${name}`]!;
      expect([payload.schema.required.includes('client_id'), typeof examples[0]!.payload.client_id]).toEqual([true, 'string']);
    }
  });

  test('every example satisfies the draft-07 schema beside it', () => {
    const ajv = formats.default(new Ajv({ strict: true, allowUnionTypes: true }));
    for (const name of ['asyncapi', 'webhooks']) {
      for (const [type, { payload, examples }] of Object.entries(documents.get(name)!.components.messages)) {
        const accepts = ajv.compile(payload.schema);
        for (const example of examples) expect(accepts(example.payload), `${type}: ${ajv.errorsText(accepts.errors)}`).toBe(true);
      }
    }
  });
});

describe('served', () => {
  const app = createHttp({ log: pino({ level: 'silent' }) });
  beforeAll(() => docsRoutes(app));
  afterAll(() => app.close());

  test.each([
    ['/api/asyncapi.yaml', 'asyncapi'],
    ['/api/payments/asyncapi.yaml', 'payments'],
  ])('%s needs no token and is what is checked in', async (url, file) => {
    const answer = await app.inject({ url });
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/yaml; charset=utf-8']);
    expect(answer.body).toBe(readFileSync(join(ROOT, `events/asyncapi/${file}.yaml`), 'utf8'));
    expect((await app.inject({ url, headers: { 'if-none-match': answer.headers.etag as string } })).statusCode).toBe(304);
  });

  test('the OpenAPI documents keep their place, and an unknown service has none', async () => {
    expect((await app.inject({ url: '/api/openapi.yaml' })).body).toMatch(/^# Generated[^\n]*\nopenapi: /);
    expect((await app.inject({ url: '/api/nosuch/asyncapi.yaml' })).json()).toMatchObject({ status: 404, code: 'not_found' });
  });
});
