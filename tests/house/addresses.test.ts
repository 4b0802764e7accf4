import { expect, test } from 'vitest';
import { ROOMS, sourcesIn, textOf } from './sources.js';

/** Where an address comes from or goes to: everything else takes `request.info.ip`, which was judged by `TRUSTED_PROXIES`. */
const ALLOWED = [
  'runtime/http/server.ts', // reads it, once for each request
  'gateway/endpoints/proxy.ts', // sends it on
  'gateway/sources/forwarded.ts',
  'runtime/http/local-only.ts', // a development page for this machine only, which no proxy may pass on
  'subgraphs/webhooks/ports/connections.ts', // of receivers that we call
];

const READS = /x-forwarded-for|x-real-ip|remoteAddress|(?<!ctx\.)\brequest\.ips?\b|\btrustProxy\b/i;

test('only one file reads the address of a client', () => {
  const readers = ROOMS.flatMap(sourcesIn).filter(file => READS.test(textOf(file).replace(/\/\*\*[\s\S]*?\*\//g, '')));
  expect(readers.sort()).toEqual([...ALLOWED].sort());
});

test.each(['request.ip', 'request.ips', "headers['x-forwarded-for']", 'socket.remoteAddress', 'app({ trustProxy: true })'])(
  '%s is found',
  text => {
    expect(READS.test(text)).toBe(true);
  },
);
