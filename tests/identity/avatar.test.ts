import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync, crc32 } from 'node:zlib';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { eraseUser } from '../../runtime/erasure/erasure.js';
import { erase } from '../../subgraphs/identity/erase.js';
import { atEnd } from '../support/at-end.js';
import { DEMO, DEMO2, platform, type Answer, type TestPlatform } from '../support/platform.js';

let p: TestPlatform;
let folder: string;
let token: string;
let photo: Buffer;
let images: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'avatars-'));
  atEnd(() => rm(folder, { recursive: true, force: true }));
  p = await platform({ services: ['identity'], env: { DATA_DIR: folder, IDENTITY_EGRESS_ALLOW_CIDRS: '127.0.0.1/32' } });
  token = await p.userToken(DEMO, ['read:profile']);
  photo = await withGps();
  images = await imageServer();
});

/** A picture taken sideways somewhere: EXIF with position and orientation. */
const withGps = (): Promise<Buffer> =>
  sharp({ create: { width: 300, height: 200, channels: 3, background: '#3355aa' } })
    .jpeg()
    .withExif({ IFD0: { Make: 'Camera', Orientation: '6' }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '52/1 31/1 12/1' } })
    .toBuffer();

async function imageServer(): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url === '/photo.jpg') response.end(photo);
    else if (request.url === '/large') response.end(Buffer.alloc(5 * 1024 * 1024 + 1));
    else if (request.url === '/page') response.end('<html></html>');
    else response.writeHead(404).end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  atEnd(async () => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A PNG of one bit a pixel: tiny as a file, huge as a picture. */
function hugePng(edge: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(edge, 0);
  header.writeUInt32BE(edge, 4);
  header[8] = 1;
  const pixels = deflateSync(Buffer.alloc((Math.ceil(edge / 8) + 1) * edge));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const PATH = '/identity/v1/users/me/avatar';
const asUrl = (url: string | null, by = token): Promise<Answer> => p.rest('POST', PATH, { token: by, body: { url } });

async function upload(parts: Record<string, Buffer | string>, by = token): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(parts))
    form.set(name, typeof value === 'string' ? value : new Blob([new Uint8Array(value)]), ...(typeof value === 'string' ? [] : ['x.exe']));
  const answer = await fetch(`${p.url}${PATH}`, { method: 'POST', body: form, headers: { authorization: `Bearer ${by}` } });
  return { status: answer.status, headers: {}, body: await answer.json() };
}

const served = async (url: string): Promise<{ status: number; type: string | null; bytes: Buffer }> => {
  const answer = await fetch(url);
  return { status: answer.status, type: answer.headers.get('content-type'), bytes: Buffer.from(await answer.arrayBuffer()) };
};

const pointers = (answer: Answer): string[] => answer.body.errors.map((one: { pointer: string }) => one.pointer);

describe('a picture that is sent', () => {
  test('comes back as WebP in three sizes, upright, square, without EXIF', async () => {
    const answer = await upload({ file: photo });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const { avatar_url: shown, avatar_versions: versions } = answer.body;
    expect(versions.map((one: { size: number }) => one.size)).toEqual([64, 256, 512]);
    expect(shown).toBe(versions[1].url);
    expect(shown.startsWith(`${p.url}/identity/v1/avatars/`)).toBe(true);
    for (const { size, url } of versions) {
      const { status, type, bytes } = await served(url);
      const { format, width, height, exif, icc, xmp, orientation } = await sharp(bytes).metadata();
      expect([status, type, format, width, height]).toEqual([200, 'image/webp', 'webp', size, size]);
      expect([exif, icc, xmp, orientation]).toEqual([undefined, undefined, undefined, undefined]);
    }
  });

  test('is judged by its content, not by its name', async () => {
    expect((await upload({ file: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>') })).status).toBe(415);
    expect((await upload({ file: Buffer.alloc(0) })).status).toBe(415);
  });

  test.each(['png', 'webp', 'gif', 'avif'] as const)('may be %s', async format => {
    const bytes = await sharp({ create: { width: 40, height: 60, channels: 4, background: '#ff000080' } })
      .toFormat(format)
      .toBuffer();
    expect((await upload({ file: bytes })).status).toBe(200);
  });

  test('of 30 000 × 30 000 pixels is refused before it is unpacked', async () => {
    const answer = await upload({ file: hugePng(30_000) });
    expect([answer.status, pointers(answer)]).toEqual([400, ['/file']]);
  });

  test('that is cut off is refused', async () => {
    const answer = await upload({ file: photo.subarray(0, 400) });
    expect([answer.status, pointers(answer)]).toEqual([400, ['/file']]);
  });

  test('of more than 5 MiB is refused', async () => {
    expect((await upload({ file: Buffer.alloc(5 * 1024 * 1024 + 1) })).status).toBe(413);
  });

  test('comes alone: what else the form holds is named', async () => {
    expect(pointers(await upload({ file: photo, colour: 'red' }))).toEqual(['/colour']);
    expect(pointers(await upload({ picture: photo }))).toEqual(['/file']);
  });

  test('cannot be sent to a path that takes no files', async () => {
    const form = new FormData();
    form.set('file', 'x');
    const answer = await fetch(`${p.url}/identity/v1/users/me/addresses`, {
      method: 'POST',
      body: form,
      headers: { authorization: `Bearer ${await p.userToken(DEMO, ['read:account'])}` },
    });
    expect(answer.status).toBe(415);
  });
});

describe('a picture that is fetched', () => {
  test('from an address is kept as one that was sent', async () => {
    const answer = await asUrl(`${images}/photo.jpg`);
    expect([answer.status, (await served(answer.body.avatar_url)).status]).toEqual([200, 200]);
  });

  test.each([
    'https://169.254.169.254/x',
    'https://127.0.0.2/x',
    'http://example.com/x',
    'https://example.com:444/x',
    'https://[::ffff:a00:1]/x',
  ])('is not fetched from %s', async url => {
    const answer = await asUrl(url, await p.userToken(DEMO2, ['read:profile']));
    expect([answer.status, pointers(answer)]).toEqual([400, ['/url']]);
    expect(JSON.stringify(answer.body)).not.toContain('169.254');
  });

  test.each([
    ['/page', 415],
    ['/large', 413],
    ['/nothing', 400],
  ])('%s is %i', async (path, status) => {
    expect((await asUrl(images + path)).status).toBe(status);
  });

  test('is fetched ten times an hour, then 429', async () => {
    await p.sql('delete from identity.sign_in_limit');
    for (let count = 0; count < 10; count++) expect((await asUrl(`${images}/nothing`)).status).toBe(400);
    const refused = await asUrl(`${images}/nothing`);
    expect([refused.status, Number(refused.headers['retry-after'])]).toEqual([429, expect.any(Number)]);
    expect((await upload({ file: photo })).status).toBe(200);
  });
});

describe('the own picture', () => {
  test('is changed by first-party apps of the user only, with a picture or null', async () => {
    expect((await asUrl(null, await p.serviceToken())).status).toBe(403);
    expect((await asUrl(null, await p.userToken(DEMO, ['read:profile'], { clientId: 'demo-partner-app' }))).status).toBe(403);
    expect((await p.rest('POST', PATH, { token, body: {} })).status).toBe(400);
    expect((await p.rest('POST', PATH, { token, body: { url: null, file: 'AAAA' } })).status).toBe(400);
  });

  test('is gone when it is removed or replaced', async () => {
    const [first, second] = [await upload({ file: photo }), await upload({ file: await sharp(photo).negate().jpeg().toBuffer() })];
    expect(second.body.avatar_url).not.toBe(first.body.avatar_url);
    await expect.poll(async () => (await served(first.body.avatar_url)).status).toBe(404);
    expect((await asUrl(null)).body).toMatchObject({ avatar_url: null, avatar_versions: [] });
    await expect.poll(async () => (await served(second.body.avatar_url)).status).toBe(404);
  });

  test('is erased with the account, also what an upload left that was cut off', async () => {
    const theirs = await p.userToken(DEMO2, ['read:profile']);
    const { body } = await upload({ file: photo }, theirs);
    await p.sql('update identity.user_profile set avatar_key = null where user_id = $1', [DEMO2]);
    await p.host('identity').transaction(ctx => eraseUser(ctx, erase, { userId: DEMO2, requestId: DEMO2, scope: 'full' }));
    expect((await served(body.avatar_url)).status).toBe(404);
    expect((await readdir(join(folder, 'blobs', 'avatars'))).filter(owner => body.avatar_url.includes(owner))).toEqual([]);
  });

  test.each(['x/y', '..%2f..%2fsecrets.env', `${'0'.repeat(32)}/${'0'.repeat(32)}-63.webp`])('nothing else is served: %s', async path => {
    expect((await served(`${p.url}/identity/v1/avatars/${path}`)).status).toBe(404);
  });
});
