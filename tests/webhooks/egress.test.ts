import { createSocket, type Socket } from 'node:dgram';
import dns from 'node:dns';
import dnsPromises from 'node:dns/promises';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DEMO, platform, type TestPlatform } from '../support/platform.js';
import type { Receiver } from '../support/receiver.js';
import { call, PROTOCOL, protocolBegan, subscribe, untilStatuses } from './fixture.js';

/** Addresses by host name, as our own name server answers. */
const zone = new Map<string, string[]>();
let server: Socket;
const systemServers = dns.getServers();
let p: TestPlatform;
let receiver: Receiver;

const labelsOf = (message: Buffer): { name: string; end: number } => {
  const labels: string[] = [];
  let at = 12;
  for (; message[at]! > 0; at += message[at]! + 1) labels.push(message.toString('latin1', at + 1, at + 1 + message[at]!));
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
};

/** One A or AAAA record that points back at the question. */
function record(address: string): Buffer {
  const six = address.includes(':');
  const bytes = six ? Buffer.from(expand(address), 'hex') : Buffer.from(address.split('.').map(Number));
  return Buffer.concat([Buffer.from([0xc0, 12, 0, six ? 28 : 1, 0, 1, 0, 0, 0, 0, 0, bytes.length]), bytes]);
}

function expand(address: string): string {
  const [head = '', tail = ''] = address.split('::');
  const [left, right] = [head.split(':').filter(Boolean), tail.split(':').filter(Boolean)];
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right].map(part => part.padStart(4, '0')).join('');
}

/** Answers A and AAAA questions from the zone. */
function answer(message: Buffer): Buffer {
  const { name, end } = labelsOf(message);
  const wanted = message.readUInt16BE(end - 4) === 28 ? ':' : '.';
  const records = (zone.get(name) ?? []).filter(address => address.includes(wanted)).map(record);
  const header = Buffer.from(message.subarray(0, 12));
  header.writeUInt16BE(zone.has(name) ? 0x8180 : 0x8183, 2);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, message.subarray(12, end), ...records]);
}

beforeAll(async () => {
  server = createSocket('udp4').on('message', (message, from) => server.send(answer(message), from.port, from.address));
  await new Promise<void>(resolve => server.bind(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  dns.setServers([address]);
  dnsPromises.setServers([address]);
  p = await platform({ services: ['webhooks', 'clinical'], transport: 'run', env: { WEBHOOKS_EGRESS_ALLOW_CIDRS: '' } }); // http is allowed, no network is
  receiver = await p.receiver();
});

afterAll(() => {
  dns.setServers(systemServers);
  dnsPromises.setServers(systemServers);
  server.close();
});

const portOf = (url: string): string => new URL(url).port;

test.each([
  ['public and private', ['93.184.215.14', '127.0.0.1']],
  ['loopback', ['127.0.0.1']],
  ['metadata', ['169.254.169.254']],
  ['public, and loopback in IPv6', ['93.184.215.14', '::1']],
  ['public, and loopback mapped into IPv6', ['93.184.215.14', '::ffff:7f00:1']],
])('a host that resolves to %s is not connected to: BLOCKED_ADDRESS, retried', async (_what, addresses) => {
  const host = `receiver-${addresses.length}-${addresses.join('-').replaceAll(/[^0-9a-f]/g, '')}.example.com`;
  zone.set(host, addresses);
  const subscription = await subscribe(p, `http://${host}:${portOf(receiver.url)}/hook`, [PROTOCOL]);
  await protocolBegan(p, DEMO);
  const [delivery] = await untilStatuses(p, subscription.id, ['retrying']);
  expect(delivery).toMatchObject({ last_error: 'blocked_address', last_status_code: null, attempt_count: 1 });
  const [attempt] = (await call(p, 'GET', `/v1/webhook-deliveries/${delivery.id}/attempts`)).body.data;
  expect(attempt).toMatchObject({ error: 'blocked_address', resolved_ip: null, status_code: null });
  expect(receiver.received).toEqual([]);
  await call(p, 'DELETE', `/v1/webhook-subscriptions/${subscription.id}`);
});

test('a host without an address is a DNS failure', async () => {
  const subscription = await subscribe(p, `http://nowhere.example.com:${portOf(receiver.url)}/`, [PROTOCOL]);
  await protocolBegan(p, DEMO);
  expect((await untilStatuses(p, subscription.id, ['retrying']))[0]).toMatchObject({ last_error: 'dns_failure' });
});
