import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { beforeAll, describe, expect, test } from 'vitest';
import { systemTxt } from '../../subgraphs/platform/ports/dns-txt.js';
import { atEnd } from '../support/at-end.js';
import { BRAND, platform, type TestPlatform } from '../support/platform.js';

/** TXT records of a name server, each as the parts that it is sent in. */
const zone = new Map<string, string[][]>();
const TXT = 16;
const asked: { name: string; type: number }[] = [];

/** The name and type that a query asks for. Source: RFC 1035, 4.1. */
function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.subarray(at + 1, at + 1 + length).toString('latin1'));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function recordOf(parts: readonly string[]): Buffer {
  const data = Buffer.concat(parts.map(part => Buffer.concat([Buffer.from([Buffer.byteLength(part)]), Buffer.from(part)])));
  const head = Buffer.from([0xc0, 0x0c, 0, TXT, 0, 1, 0, 0, 0, 60, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

/** The answer: its records, or that there is no such name. */
function answerTo(query: Buffer): Buffer {
  const { name, type, end } = questionOf(query);
  asked.push({ name, type });
  const records = type === TXT ? (zone.get(name) ?? null) : [];
  const head = Buffer.from([query[0]!, query[1]!, 0x81, records === null ? 0x83 : 0x80, 0, 1, 0, records?.length ?? 0, 0, 0, 0, 0]);
  return Buffer.concat([head, query.subarray(12, end), ...(records ?? []).map(recordOf)]);
}

async function startNameServer(): Promise<string> {
  const socket: Socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => socket.send(answerTo(query), port, address));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  atEnd(async () => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}

let server: string;
beforeAll(async () => {
  server = await startNameServer();
});

describe('the TXT records of a name', () => {
  test('are read from the given name server, TXT only, their parts joined', async () => {
    zone.set('two.example', [['one'], ['tw', 'o']]);
    expect([...(await systemTxt([server])('two.example'))].sort()).toEqual(['one', 'two']);
    expect(asked.filter(({ name }) => name === 'two.example')).toEqual([{ name: 'two.example', type: TXT }]);
  });

  test.each([
    ['a name that there is not', 'nowhere.example'],
    ['a name without TXT records', 'empty.example'],
    ['what is no name', '..'],
  ])('of %s are none', async (_what, name) => {
    zone.set('empty.example', []);
    expect(await systemTxt([server])(name)).toEqual([]);
  });

  test('are none where the server does not understand', async () => {
    const refusing = createSocket('udp4');
    refusing.on('message', (query, { port, address }) => {
      const { end } = questionOf(query);
      refusing.send(
        Buffer.concat([Buffer.from([query[0]!, query[1]!, 0x81, 0x85, 0, 1, 0, 0, 0, 0, 0, 0]), query.subarray(12, end)]),
        port,
        address,
      );
    });
    refusing.bind(0, '127.0.0.1');
    await once(refusing, 'listening');
    atEnd(async () => void refusing.close());
    expect(await systemTxt([`127.0.0.1:${refusing.address().port}`])('two.example')).toEqual([]);
  });
});

describe('a host of a brand', () => {
  let p: TestPlatform;
  let token: string;
  beforeAll(async () => {
    p = await platform({ services: ['platform'], env: { PLATFORM_DNS_SERVERS: server } });
    token = await p.serviceToken();
  });

  test('is verified by the record that the name server holds, and not by another', async () => {
    const path = `/platform/v1/admin/brands/${BRAND}/domains`;
    const added = await p.rest('POST', path, { token, body: { host: 'proof.main.example', purpose: 'shop' } });
    expect(added).toMatchObject({ status: 201, body: { status: 'pending' } });
    const verify = async () => (await p.rest('POST', `${path}/${added.body.id}/verify`, { token })).body.status;
    expect(await verify()).toBe('failed');
    zone.set('_platform-challenge.proof.main.example', [['something else']]);
    expect(await verify()).toBe('failed');
    const record: string = added.body.verification_record;
    zone.set('_platform-challenge.proof.main.example', [['something else'], [record.slice(0, 10), record.slice(10)]]);
    expect(await verify()).toBe('verified');
  });
});
