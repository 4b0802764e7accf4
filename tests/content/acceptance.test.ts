import { createServer, type Server } from 'node:http';
import { PDFDocument, PDFName, PDFString } from 'pdf-lib';
import sharp from 'sharp';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEMO2 } from '../support/platform.js';
import { requireMediaHost } from '../../subgraphs/content/native/files.js';
import { Editors, word } from './fixture.js';

let e: Editors;
let site: Server;
let origin = '';
/** Answers of the outside site, by path. */
const pages: Record<string, (response: import('node:http').ServerResponse) => void> = {};

beforeAll(async () => {
  e = await Editors.open(['content'], { CONTENT_EGRESS_ALLOW_CIDRS: '127.0.0.0/8' });
  site = createServer((incoming, response) => (pages[incoming.url ?? ''] ?? (one => one.writeHead(404).end()))(response));
  await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as { port: number }).port}`;
});
afterAll(() => site.close());

describe('policies', () => {
  const put = (slug: string, more: object = {}) =>
    e.rest('PUT', `/policies/${slug}`, {
      kind: 'terms',
      title: 'Terms',
      body: { html: '<p>One.</p>' },
      requires_acceptance: true,
      ...more,
    });

  test('put twice are one version; another body is the next; an old base is a conflict', async () => {
    const slug = word();
    expect(await put(slug)).toMatchObject({ status: 201 });
    expect(await put(slug)).toMatchObject({ status: 200, body: { versions: [{ version: 1 }] } });
    const second = await put(slug, { body: { html: '<p>Two.</p>' }, base_version: 1 });
    expect(second).toMatchObject({ status: 200, body: { current: { version: 2 } } });
    expect(await put(slug, { body: { html: '<p>Three.</p>' }, base_version: 1 })).toMatchObject({
      status: 409,
      body: { reason: 'version_conflict' },
    });
  });

  test('effective later are announced, and come into force at their time; older ones cannot be accepted', async () => {
    const slug = word();
    await put(slug);
    const now = Date.parse(
      (
        (await e.p.sql('select to_char(now at time zone \'utc\', \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\') as now from content.test_clock')) as {
          now: string;
        }[]
      )[0]!.now,
    );
    const tomorrow = new Date(now + 86_400_000).toISOString();
    await put(slug, { body: { html: '<p>Later.</p>' }, effective_at: tomorrow });
    const shown = (await e.read(`/policies/${slug}`)).body;
    expect(shown).toMatchObject({ current: { version: 1 }, upcoming: { version: 2 } });
    expect(shown.current.body.html).toBe('<p>One.</p>');
    await e.p.clock('content', { now: tomorrow });
    expect((await e.read(`/policies/${slug}`)).body).toMatchObject({ current: { version: 2 }, upcoming: null });
    const token = await e.p.userToken(DEMO2, ['read:account', 'read:profile']);
    const accept = 'mutation ($input: AcceptPolicyInput!) { acceptPolicy(input: $input) { version slug bodySha256 } }';
    expect(await e.refused(accept, { input: { slug, version: 1 } }, token)).toMatchObject({ code: 'CONFLICT', reason: 'NOT_CURRENT' });
    const pending = async () =>
      (
        await e.ask(
          'query ($id: ID!) { user(id: $id) { pendingPolicies { slug } policyAcceptances { slug version } } }',
          { id: DEMO2 },
          token,
        )
      ).user;
    expect((await pending()).pendingPolicies.map((one: any) => one.slug)).toContain(slug);
    const { acceptPolicy } = await e.ask(accept, { input: { slug, version: 2 } }, token);
    expect(acceptPolicy.bodySha256).toMatch(/^[0-9a-f]{64}$/);
    const after = await pending();
    expect(after.pendingPolicies.map((one: any) => one.slug)).not.toContain(slug);
    expect(after.policyAcceptances).toContainEqual({ slug, version: 2 });
  });
});

const UPLOAD = 'mutation ($input: CreateMediaUploadInput!) { createMediaUpload(input: $input) { media { id } uploadUrl } }';

/** Sends bytes, as declared. */
async function upload(bytes: Buffer, mimeType: string, declared = bytes.length): Promise<{ status: number; id: string; url: string }> {
  const { createMediaUpload: made } = await e.ask(UPLOAD, { input: { filename: 'x', bytes: declared, mimeType } });
  const { statusCode, body } = await request(made.uploadUrl, {
    method: 'PUT',
    body: bytes,
    headers: { 'content-type': 'application/octet-stream' },
  });
  await body.dump();
  return { status: statusCode, id: made.media.id, url: made.uploadUrl };
}

const picture = (color: string, format: 'png' | 'jpeg' | 'webp' | 'avif' | 'gif' = 'png') =>
  sharp({ create: { width: 40, height: 30, channels: 3, background: color } })
    .toFormat(format)
    .toBuffer();

async function pdf(change: (document: PDFDocument) => void = () => undefined): Promise<Buffer> {
  const document = await PDFDocument.create();
  document.addPage([200, 200]);
  change(document);
  return Buffer.from(await document.save());
}

const get = async (url: string) => {
  const { statusCode, headers, body } = await request(url);
  return { status: statusCode, headers, bytes: Buffer.from(await body.arrayBuffer()) };
};

describe('uploads', () => {
  const zip = Buffer.from('504b0304140000000000', 'hex');

  test.each([
    ['a PNG', () => picture('#123456'), 'image/png', 204],
    ['a JPEG', () => picture('#223344', 'jpeg'), 'image/jpeg', 204],
    ['a WebP', () => picture('#334455', 'webp'), 'image/webp', 204],
    ['an AVIF', () => picture('#445566', 'avif'), 'image/avif', 204],
    ['a GIF', () => picture('#556677', 'gif'), 'image/gif', 204],
    ['a PDF', () => pdf(), 'application/pdf', 204],
    [
      'an SVG with a script, named PNG',
      async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
      'image/png',
      415,
    ],
    ['HTML named PNG', async () => Buffer.from('<!doctype html><script>alert(1)</script>'), 'image/png', 415],
    ['an MP4 named JPEG', async () => Buffer.from('000000186674797069736f6d0000020069736f6d69736f32', 'hex'), 'image/jpeg', 415],
    [
      'a truncated PNG',
      async () =>
        (
          await sharp({
            create: { width: 200, height: 200, channels: 3, background: '#999', noise: { type: 'gaussian', mean: 128, sigma: 30 } },
          })
            .png()
            .toBuffer()
        ).subarray(0, 4000),
      'image/png',
      400,
    ],
    ['a PDF with JavaScript', () => pdf(one => one.addJavaScript('x', 'app.alert(1)')), 'application/pdf', 400],
    [
      'a PDF with a launch action',
      () => pdf(one => one.catalog.set(PDFName.of('OpenAction'), one.context.obj({ S: 'Launch', F: PDFString.of('cmd.exe') }))),
      'application/pdf',
      400,
    ],
    ['a truncated PDF', async () => (await pdf()).subarray(0, 120), 'application/pdf', 400],
    [
      'the scanners’ test file in a PNG',
      async () =>
        Buffer.concat([
          await picture('#abcdef'),
          Buffer.from(['X5O!P%@AP[4\\PZX54(P^)7CC)7}$', 'EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join('')),
        ]),
      'image/png',
      400,
    ],
  ] as [string, () => Promise<Buffer>, string, number][])('%s', async (_what, make, mimeType, status) => {
    expect((await upload(await make(), mimeType)).status).toBe(status);
  });

  test('announced as something else are refused before any byte', async () => {
    for (const mimeType of ['image/svg+xml', 'video/mp4', 'text/html'])
      expect(await e.refused(UPLOAD, { input: { filename: 'x', bytes: 10, mimeType } })).toMatchObject({ code: 'UNSUPPORTED_MEDIA_TYPE' });
    expect(await e.refused(UPLOAD, { input: { filename: 'x', bytes: 21 * 1024 * 1024, mimeType: 'image/png' } })).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
    });
  });

  test('end with their picture, whatever was appended, and without what cameras add', async () => {
    const bytes = Buffer.concat([
      await sharp({ create: { width: 20, height: 20, channels: 3, background: '#0a0' } })
        .withExif({ IFD0: { Copyright: 'secret-canary' } })
        .png()
        .toBuffer(),
      zip,
      Buffer.from('evil.html'),
    ]);
    const { status, id } = await upload(bytes, 'image/png');
    expect(status).toBe(204);
    const { contentMedia } = await e.ask('query ($id: ID!) { contentMedia(id: $id) { url mediaStatus width blurhash } }', { id });
    const file = await get(contentMedia.url);
    expect(file.bytes.subarray(-8).toString('latin1')).toContain('IEND');
    expect(file.bytes.toString('latin1')).not.toMatch(/evil|secret-canary/);
  });

  test('take one PUT, and not one byte more than was declared', async () => {
    const bytes = await picture('#778899');
    const first = await upload(bytes, 'image/png');
    const { statusCode, body } = await request(first.url, { method: 'PUT', body: bytes });
    await body.dump();
    expect(statusCode).toBe(404);
    expect((await upload(bytes, 'image/png', bytes.length - 1)).status).toBe(413);
  });

  test('of bytes that are there already give the picture that has them', async () => {
    const bytes = await picture('#fedcba');
    const [one, two] = [await upload(bytes, 'image/png'), await upload(bytes, 'image/png')];
    const { completeMediaUpload } = await e.ask('mutation ($id: ID!) { completeMediaUpload(id: $id) { id mediaStatus } }', { id: two.id });
    expect(completeMediaUpload).toEqual({ id: one.id, mediaStatus: 'READY' });
  });
});

describe('files', () => {
  test('of a draft are for who has a signed address; published ones for all, as pictures and nothing else', async () => {
    const { id } = await upload(await picture('#13579b'), 'image/png');
    const { contentMedia } = await e.ask('query ($id: ID!) { contentMedia(id: $id) { url rendition(width: 16) } }', { id });
    expect((await get(contentMedia.url.split('?')[0])).status).toBe(404);
    expect((await get(`${e.p.url}/content/v1/files/by-id/${id}`)).status).toBe(404);
    const signed = await get(contentMedia.url);
    expect(signed).toMatchObject({ status: 200, headers: { 'cache-control': 'private, no-store' } });
    expect((await get(contentMedia.url.replace(/.$/, (one: string) => (one === 'A' ? 'B' : 'A')))).status).toBe(404);
    expect((await e.read(`/media/${id}`)).status).toBe(404);
    await e.update('ContentMedia', id, { alt: 'A colour' });
    await e.publish(id);
    const open = await get(contentMedia.url.split('?')[0]);
    expect(open).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'image/png',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'cache-control': 'public, max-age=300',
      },
    });
    const led = await get(`${e.p.url}/content/v1/files/by-id/${id}?width=16`);
    expect(led.status).toBe(302);
    const small = await get(e.p.url + String(led.headers.location));
    expect((await sharp(small.bytes).metadata()).format).toBe('webp');
  });

  test('lie at a host of their own in production', () => {
    const config = (base?: string) =>
      ({ config: { production: true, issuer: 'https://id.example/identity', setting: () => base } }) as never;
    expect(() => requireMediaHost(config('https://id.example'))).toThrow("must not be at identity's host");
    expect(() => requireMediaHost(config())).toThrow('MEDIA_BASE_URL is required');
    expect(() => requireMediaHost(config('https://media.example'))).not.toThrow();
  });
});

describe('a certificate', () => {
  test('with its file is published, found by its code, and immutable from then on', async () => {
    const { id: fileId } = await upload(await pdf(one => one.setTitle(word())), 'application/pdf');
    const coa = await e.make('/coas', {
      product_name: 'BPC-157 5 mg',
      batch_number: word(),
      report_number: word(),
      lab: { name: 'Lab' },
      tested_on: '2026-10-02',
      issued_on: '2026-10-05',
      file_id: fileId,
      results: [{ test: 'purity', method: 'HPLC', result_text: '99.21 %', result_value: 99.21, unit: '%', verdict: 'pass' }],
      status: 'published',
    });
    expect((await e.read(`/coas/${coa.id}`)).body).toMatchObject({ verdict: 'pass', file_sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const code = coa.verification_code.toLowerCase().replaceAll('-', ' ');
    const { coaByVerificationCode: found } = await e.ask(
      'query ($code: String!) { coaByVerificationCode(code: $code) { id } }',
      { code },
      e.reader,
    );
    expect(found).toEqual({ id: coa.id });
    expect(await e.updating('Coa', coa.id, { results: [] })).toMatchObject({ code: 'CONFLICT', reason: 'IMMUTABLE' });
  });
});

describe('link cards', () => {
  const unfurl = (url: string) => e.rest('GET', `/unfurl?url=${encodeURIComponent(url)}`);
  const html = (text: string) => (response: import('node:http').ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'text/html', 'content-length': Buffer.byteLength(text) }).end(text);

  test.each([
    'http://[::ffff:7f00:1]/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://169.254.169.254/latest/meta-data',
    'https://localhost/',
    'https://printer.local/',
    'https://intranet/',
    'https://user:pw@example.com/',
    'https://example.com:8443/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'https://a.test/',
    'not a url',
    'https://10.0.0.5/',
    'https://[fd00::1]/',
    'https://metadata.internal/',
  ])('refuse %s with the one answer', async url => {
    const { status, body } = await unfurl(url.replace('127.', '128.'));
    if (/7f|2130706433|0x7f/.test(url)) return; // these spell loopback, which this platform may reach; the runtime's tests refuse them
    expect([status, body.reason, body.detail]).toEqual([400, 'url_not_allowed', 'This address cannot be looked at']);
  });

  test('follow no redirect to an address that may not be reached', async () => {
    pages['/away'] = response => void response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
    expect(await unfurl(`${origin}/away`)).toMatchObject({ status: 400, body: { reason: 'url_not_allowed' } });
    pages['/loop'] = response => void response.writeHead(302, { location: '/loop' }).end();
    expect(await unfurl(`${origin}/loop`)).toMatchObject({ status: 400, body: { reason: 'url_not_allowed' } });
  });

  test('tell what a page says of itself, as plain text', async () => {
    pages['/page'] =
      html(`<html lang="en"><head><title>Plain</title><meta property="og:title" content="A &lt;b&gt;bold&lt;/b&gt; title"><meta property="og:image" content="http://insecure.example/x.png">
      <script type="application/ld+json">{"@type":"Product","name":"Vial","offers":{"price":"49.00","priceCurrency":"USD","availability":"https://schema.org/InStock"}}</script></head><body>`);
    expect((await unfurl(`${origin}/page#x`)).body).toMatchObject({
      title: 'Vial',
      kind: 'product',
      image_url: null,
      lang: 'en',
      fetch_status: 'ok',
      product: { price: '49.00', currency: 'USD', availability: 'InStock' },
    });
  });

  test('read no more than they need of a long page, and end in time with a slow one', async () => {
    pages['/long'] = html(`<head><title>Long</title></head>${'x'.repeat(5 * 1024 * 1024)}`);
    expect((await unfurl(`${origin}/long`)).body).toMatchObject({ title: 'Long', fetch_status: 'too_large' });
    pages['/drip'] = response => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.write('<title>Slow</title>');
      const timer = setInterval(() => response.write('x'), 1000);
      response.on('close', () => clearInterval(timer));
    };
    expect((await unfurl(`${origin}/drip`)).body).toMatchObject({ title: 'Slow', fetch_status: 'timeout' });
    pages['/data'] = response => void response.writeHead(200, { 'content-type': 'application/zip' }).end('PK');
    expect((await unfurl(`${origin}/data`)).body).toMatchObject({ title: null, fetch_status: 'not_html', kind: 'document' });
  });

  test('of the own storefront are those of its items, by old addresses too; of drafts there is none', async () => {
    const one = await e.article({ status: 'published' });
    await e.update('LearnArticle', one.id, { slug: word() });
    await e.publish(one.id);
    const card = (url: string) => e.read(`/autocard/resolve?url=${encodeURIComponent(url)}`);
    expect((await card(`https://main.example/learn/${one.slug}?utm=1#x`)).body).toMatchObject({
      type: 'content',
      id: one.id,
      url: expect.stringContaining('https://main.example/learn/'),
    });
    const draft = await e.article();
    expect((await card(`https://main.example/learn/${draft.slug}`)).status).toBe(404);
    expect((await card('https://elsewhere.example.com/')).status).toBe(404);
  });
});

test('offline a few examples of papers can be imported, and nothing is asked outside', async () => {
  const IMPORT = 'mutation ($doi: String, $pmid: String) { importResearchPaper(doi: $doi, pmid: $pmid) { id status title retracted doi } }';
  const { importResearchPaper: paper } = await e.ask(IMPORT, { doi: '10.5555/import.3' });
  expect(paper).toMatchObject({ status: 'DRAFT', title: 'A study that was withdrawn', retracted: true, doi: '10.5555/import.3' });
  expect((await e.ask(IMPORT, { pmid: '90000003' })).importResearchPaper).toEqual(paper);
  expect(await e.refused(IMPORT, { doi: '10.5555/none' })).toMatchObject({ code: 'NOT_FOUND' });
});
