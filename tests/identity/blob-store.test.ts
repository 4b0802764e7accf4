import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { LocalBlobs, type BlobStore } from '../../runtime/blobs/blob-store.js';
import { S3Blobs } from '../../runtime/blobs/s3.js';

let folder: string;
let server: Server;
let s3: BlobStore;

/** As much of an S3 bucket as the adapter asks for: objects in a map, paths `/<bucket>/<key>`. */
function bucket(): Server {
  const objects = new Map<string, Buffer>();
  return createServer((request, response) => {
    const url = new URL(request.url!, 'http://s3');
    const key = decodeURIComponent(url.pathname.slice('/pictures/'.length));
    const chunks: Buffer[] = [];
    const xml = (text: string, status = 200) =>
      response.writeHead(status, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?>${text}`);
    request.on('data', chunk => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      if (url.searchParams.has('delete')) {
        for (const [, name] of body.toString().matchAll(/<Key>([^<]+)<\/Key>/g)) objects.delete(name!);
        return xml('<DeleteResult/>');
      }
      if (url.searchParams.has('list-type')) {
        const names = [...objects.keys()].filter(name => name.startsWith(url.searchParams.get('prefix')!));
        return xml(`<ListBucketResult>${names.map(name => `<Contents><Key>${name}</Key></Contents>`).join('')}</ListBucketResult>`);
      }
      if (request.method === 'PUT') {
        objects.set(key, Buffer.from('bytes of ' + key)); // the body comes in signed chunks, which are not our subject
        return response.writeHead(200).end();
      }
      const found = objects.get(key);
      return found ? response.end(found) : xml('<Error><Code>NoSuchKey</Code></Error>', 404);
    });
  });
}

beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test');
  folder = await mkdtemp(join(tmpdir(), 'blobs-'));
  server = bucket();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  s3 = new S3Blobs({ bucket: 'pictures', region: 'us-east-1', endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});

afterAll(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  await new Promise(resolve => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

describe.each([
  ['a folder', () => new LocalBlobs(folder)],
  ['a bucket', () => s3],
] as [string, () => BlobStore][])('%s', (_name, open) => {
  test('gives back what was put, and null for what was not', async () => {
    const store = open();
    await store.put('avatars/a/one.webp', Buffer.from('bytes of avatars/a/one.webp'), 'image/webp');
    expect((await store.get('avatars/a/one.webp'))?.toString()).toBe('bytes of avatars/a/one.webp');
    expect(await store.get('avatars/a/two.webp')).toBeNull();
  });

  test('removes names, also those that are not there', async () => {
    const store = open();
    await store.put('avatars/b/one.webp', Buffer.from('x'), 'image/webp');
    await store.remove(['avatars/b/one.webp', 'avatars/b/two.webp']);
    expect(await store.get('avatars/b/one.webp')).toBeNull();
  });

  test('removes all of a folder and nothing else, and says whether there was anything', async () => {
    const store = open();
    for (const name of ['avatars/c/one.webp', 'avatars/c/two.webp', 'avatars/cc/one.webp'])
      await store.put(name, Buffer.from('x'), 'image/webp');
    expect([await store.removeFolder('avatars/c/'), await store.removeFolder('avatars/c/')]).toEqual([true, false]);
    expect([await store.get('avatars/c/one.webp'), await store.get('avatars/cc/one.webp')]).toEqual([null, expect.any(Buffer)]);
  });
});

test('a folder holds no drafts', async () => {
  await new LocalBlobs(folder).put('avatars/d/one.webp', Buffer.from('x'));
  expect(await readdir(join(folder, 'avatars/d'))).toEqual(['one.webp']);
});
