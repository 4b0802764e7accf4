import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { atEnd } from '../support/at-end.js';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import { until } from '../support/until.js';
import { PROTOCOL, subscribe } from '../webhooks/fixture.js';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: { stringValue?: string } }[];
}

const CALLER = 'b7ad6b7169203331';

/** A collector as the OTLP specification has it: spans as JSON by POST. */
async function collector(): Promise<{ url: string; spans: Span[]; sent: string[] }> {
  const [spans, sent]: [Span[], string[]] = [[], []];
  const take = (body: string): void => {
    sent.push(body);
    const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
    spans.push(...resourceSpans.flatMap(one => one.scopeSpans).flatMap(one => one.spans));
  };
  const server: Server = createServer((request, response) => {
    void text(request)
      .then(take)
      .then(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(() => new Promise(resolve => server.close(resolve)));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`, spans, sent };
}

describe.each([
  ['process', '0af7651916cd43dd8448eb211c80319c'],
  ['http', '1af7651916cd43dd8448eb211c80319d'],
])('a protocol that is started through REST, subgraph calls by %s', (calls, TRACE) => {
  let p: TestPlatform;
  let spans: Span[];
  let sent: string[];
  const webhook = 'webhook attempt';

  beforeAll(async () => {
    const found = await collector();
    ({ spans, sent } = found);
    p = await platform({ env: { TRACES_URL: found.url, SUBGRAPH_CALLS: calls } });
    const receiver = await p.receiver();
    await subscribe(p, receiver.url, [PROTOCOL]);
    const made = await p.rest('POST', '/clinical/v1/protocols', {
      token: await p.serviceToken(),
      body: { user_id: DEMO, kind: 'protocol', key: 'lipid_reset' },
      headers: { traceparent: `00-${TRACE}-${CALLER}-01` },
    });
    expect(made.status).toBe(201);
    await receiver.until(all => all.length === 1);
    await until(
      'the spans to be sent, each after the one above it',
      async () => ofTrace(),
      all => all.some(one => one.name === webhook) && all.every(one => lineage(one)[0] === 'caller'),
      20_000,
    );
  });

  /** Names from the caller's span down to this one. */
  const lineage = (leaf: Span): string[] => {
    const above = spans.find(one => one.spanId === leaf.parentSpanId);
    return above ? [...lineage(above), leaf.name] : [leaf.parentSpanId === CALLER ? 'caller' : 'lost', leaf.name];
  };
  const ofTrace = (): Span[] => spans.filter(one => one.traceId === TRACE);

  test('is one trace from the caller through endpoint, subgraph, outbox, consumer and webhook', () => {
    const names = lineage(ofTrace().find(one => one.name === webhook)!);
    expect(names[0]).toBe('caller');
    expect(names[1]).toMatch(/^POST /);
    expect(names).toEqual(expect.arrayContaining(['subgraph clinical', 'consume webhooks.delivery']));
    expect(names.at(-1)).toBe(webhook);
    expect(ofTrace().filter(one => lineage(one)[0] !== 'caller')).toEqual([]);
  });

  test('has a span for each SQL statement, below the subgraph that ran it', () => {
    const insert = ofTrace().find(one => one.name === 'insert clinical.intervention')!;
    expect(lineage(insert)).toEqual(expect.arrayContaining(['caller', 'subgraph clinical']));
  });

  test('of a query of two services has each subgraph below its own call', async () => {
    const [before, trace] = [spans.length, randomUUID().replaceAll('-', '')];
    const query = '{ brand(slug: "main") { id } jobQueues { __typename } }';
    const { body } = await p.rest('POST', '/graphql', {
      token: await p.serviceToken(),
      body: { query },
      headers: { traceparent: `00-${trace}-${CALLER}-01` },
    });
    expect(body.errors).toBeUndefined();
    const subgraphs = await until(
      'the spans of both subgraphs',
      async () => spans.slice(before).filter(one => one.traceId === trace && one.name.startsWith('subgraph ')),
      all => all.length === 2 && all.every(one => lineage(one)[0] === 'caller'),
      20_000,
    );
    for (const one of subgraphs) {
      const calledBy = lineage(one).filter(name => name.startsWith('call '));
      expect(calledBy).toEqual(calls === 'http' ? [one.name.replace('subgraph', 'call')] : []);
    }
  });

  test('holds no value: no id of a person, no parameter, no address', () => {
    const all = sent.join('\n');
    for (const canary of [DEMO, 'lipid_reset', '127.0.0.1', 'Bearer']) expect(all).not.toContain(canary);
  });
});
