import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { request } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { blobsOf } from '../../runtime/blobs/blobs.js';
import { blobName } from '../../subgraphs/content/commands/media.js';
import { Editors, word } from './fixture.js';

let e: Editors;
beforeAll(async () => {
  e = await Editors.open();
});

const UPLOAD = 'mutation ($input: CreateMediaUploadInput!) { createMediaUpload(input: $input) { media { id } uploadUrl } }';

async function upload(bytes: Buffer, mimeType: string): Promise<{ id: string; status: number; detail: string }> {
  const { createMediaUpload: made } = await e.ask(UPLOAD, { input: { filename: 'x', bytes: bytes.length, mimeType } });
  const { statusCode, body } = await request(made.uploadUrl, { method: 'PUT', body: bytes });
  const text = await body.text();
  return { id: made.media.id, status: statusCode, detail: text ? JSON.parse(text).detail : '' };
}

const MIB = 1024 * 1024;
const stream = (dict: string, contents: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`<<${dict} /Length ${contents.length}>>\nstream\n`), contents, Buffer.from('\nendstream')]);

/** A document with these objects beside its catalogue. A word makes each one a file of its own. */
function pdf(...objects: readonly Buffer[]): Buffer {
  const all = [
    Buffer.from('<</Type /Catalog /Pages 2 0 R>>'),
    Buffer.from(`<</Type /Pages /Kids [] /Count 0 /Note (${word()})>>`),
    ...objects,
  ];
  const bodies = all.flatMap((body, index) => [Buffer.from(`${index + 1} 0 obj\n`), body, Buffer.from('\nendobj\n')]);
  return Buffer.concat([Buffer.from('%PDF-1.7\n'), ...bodies, Buffer.from('trailer\n<</Root 1 0 R>>\nstartxref\n0\n%%EOF\n')]);
}

/** What 32 MiB of nothing are packed to. */
const NOTHING = deflateSync(Buffer.alloc(32 * MIB));
const OBJECTS = '/N 1 /First 4';
const UNPACKS = 'The document unpacks to more than can be shown';

describe('a document', () => {
  test('that shows something is kept, with its text packed', async () => {
    const text = deflateSync(Buffer.from('BT /F1 12 Tf (Report) Tj ET'));
    const objects = Buffer.from('5 0 <</Type /Note>>');
    const all = [stream('/Filter /FlateDecode', text), stream(`/Type /ObjStm ${OBJECTS} /Filter /FlateDecode`, deflateSync(objects))];
    expect(await upload(pdf(...all), 'application/pdf')).toMatchObject({ status: 204 });
  });

  test.each([
    ['objects packed a thousandfold', [stream(`/Type /ObjStm ${OBJECTS} /Filter /FlateDecode`, NOTHING)]],
    ['the same under names with escapes', [stream(`/Type /Obj#53tm ${OBJECTS} /Filter /Fl#61teDecode`, NOTHING)]],
    ['a packed table of references', [stream('/Type /XRef /W [1 2 1] /Size 1 /Filter /FlateDecode', NOTHING)]],
    ['objects packed twice', [stream(`/Type /ObjStm ${OBJECTS} /Filter [/FlateDecode /FlateDecode]`, deflateSync(NOTHING))]],
    ['objects packed by another method', [stream(`/Type /ObjStm ${OBJECTS} /Filter /LZWDecode`, Buffer.from([0x80, 0x0b]))]],
    ['a page packed twice', [stream('/Filter [/ASCIIHexDecode /FlateDecode /FlateDecode]', deflateSync(NOTHING))]],
    ['twenty pages of 32 MiB of nothing', Array.from({ length: 20 }, () => stream('/Filter /FlateDecode', NOTHING))],
  ])('with %s is refused before it is unpacked', async (_what, objects) => {
    const bytes = pdf(...objects);
    expect(bytes.length).toBeLessThan(MIB);
    expect(await upload(bytes, 'application/pdf')).toMatchObject({ status: 400, detail: UNPACKS });
  });

  test('whose packed text is broken is kept as it came: whoever shows it sees what is there', async () => {
    const text = deflateSync(Buffer.from('BT (Report) Tj ET'.repeat(100))).subarray(0, 20);
    expect(await upload(pdf(stream('/Filter /FlateDecode', text)), 'application/pdf')).toMatchObject({ status: 204 });
  });
});

/** What the nightly check found; the file is shared by nobody else, because files of tests lie in one folder. */
const HEALTH = '{ contentHealth { changedFiles { id collection detail } } }';
const found = async (...ids: string[]) =>
  (await e.ask(HEALTH)).contentHealth.changedFiles
    .filter(({ id }: { id: string }) => ids.includes(id))
    .map((one: any) => [one.id, one.detail]);
const tonight = () => e.p.clock('content', { advance: 'P1D' });
const alarms = (id: string) =>
  e.p.sql<{ action: string }>("select action from content.audit_log where target = $1 and action like 'media\\_asset.%' order by at, id", [
    id,
  ]);
const statusOf = async (path: string): Promise<number> => {
  const { statusCode, body } = await request(`${e.p.url}/content/v1/files/${path}`);
  await body.dump();
  return statusCode;
};
const hashOf = async (id: string): Promise<string> =>
  (await e.ask('query ($id: ID!) { contentMedia(id: $id) { sha256 } }', { id })).contentMedia.sha256;

describe('every night', () => {
  test('the file of a certificate is hashed: one that was changed is told, given to nobody, and given again when it is back', async () => {
    const bytes = pdf();
    const { id: fileId } = await upload(bytes, 'application/pdf');
    const coa = await e.make('/coas', {
      product_name: 'BPC-157 5 mg',
      batch_number: word(),
      report_number: word(),
      lab: { name: 'Lab' },
      tested_on: '2026-10-02',
      issued_on: '2026-10-05',
      results: [{ test: 'appearance', method: 'Eye', result_text: 'White', verdict: 'pass' }],
      file_id: fileId,
      status: 'published',
    });
    const [blobs, hash] = [blobsOf(e.p.host('content')), (await e.read(`/coas/${coa.id}`)).body.file_sha256];
    await tonight();
    expect([await found(coa.id), await statusOf(`${hash}.pdf`)]).toEqual([[], 200]);

    await blobs.put(blobName(hash), Buffer.concat([bytes, Buffer.from('% forged')]), 'application/pdf');
    await tonight();
    expect([await found(coa.id), await statusOf(`${hash}.pdf`), await statusOf(`by-id/${fileId}`)]).toEqual([
      [[coa.id, 'CHANGED']],
      404,
      404,
    ]);
    await blobs.remove([blobName(hash)]);
    await tonight();
    expect(await found(coa.id)).toEqual([[coa.id, 'MISSING']]);
    await tonight();
    await blobs.put(blobName(hash), bytes, 'application/pdf');
    await tonight();
    expect([await found(coa.id), await statusOf(`${hash}.pdf`)]).toEqual([[], 200]);
    expect((await alarms(fileId)).map(one => one.action)).toEqual([
      'media_asset.ready',
      'media_asset.damaged',
      'media_asset.damaged',
      'media_asset.mended',
    ]);
  });

  test('pictures are hashed, too, and a smaller form that was changed is made anew', async () => {
    const [r, g, b] = Buffer.from(word());
    const picture = await sharp({ create: { width: 300, height: 200, channels: 3, background: { r: r!, g: g!, b: b! } } })
      .png()
      .toBuffer();
    const { id } = await upload(picture, 'image/png');
    await e.update('ContentMedia', id, { alt: word() });
    await e.publish(id);
    const [blobs, hash] = [blobsOf(e.p.host('content')), await hashOf(id)];
    const small = async () =>
      String((await request(`${e.p.url}/content/v1/files/by-id/${id}?width=64`)).headers.location)
        .split('/')
        .at(-1)!;
    const name = await small();
    const key = blobName(name.split('.')[0]!);
    const before = await blobs.get(key);
    await blobs.put(key, Buffer.from('changed'), 'image/webp');
    await tonight();
    expect([await small(), await statusOf(name), await found(id)]).toEqual([name, 200, []]);
    expect(Buffer.compare((await blobs.get(key))!, before!)).toBe(0);

    const original = await blobs.get(blobName(hash));
    await blobs.put(blobName(hash), Buffer.from('changed'), 'image/png');
    await tonight();
    expect([await found(id), await statusOf(`${hash}.png`), await statusOf(name)]).toEqual([[[id, 'CHANGED']], 404, 404]);
    await blobs.put(blobName(hash), original!, 'image/png');
    await tonight();
    expect(await found(id)).toEqual([]);
  });
});
