import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { COLLECTIONS } from '../../subgraphs/content/entities/collections.js';
import { bulkOf, lines, report } from '../support/bulk.js';
import { BODY, Editors, word } from './fixture.js';

let e: Editors;
let bulk: ReturnType<typeof bulkOf>;

beforeAll(async () => {
  e = await Editors.open();
  bulk = bulkOf(e.p, '/content/v1/admin', e.token);
});

const ARTICLES = 'collection=learn_articles&format=jsonl';
const row = (slug: string, more: object = {}): object => ({ slug, title: `Article ${slug}`, excerpt: 'One line.', body: BODY, ...more });
const itemsOf = (slugs: string[]): Promise<any[]> =>
  e.p.sql(
    `select i.id, i.status, i.revision, r.data->'slugs' as slugs, r.data->'locales' as locales from content.content_item i
     join content.content_revision r on r.item_id = i.id and r.number = i.revision where r.data->'slugs'->>'en' = any($1) order by r.data->'slugs'->>'en'`,
    [slugs],
  );

describe('import of items', () => {
  test('30: of 3 rows, one bad, dry_run: created 2, failed 1 with row and pointer, nothing stored; without: 2 drafts', async () => {
    const [one, bad, two] = [word(), word(), word()];
    const file = lines([row(one), row(bad, { body: { html: '<p>a</p>', json: {} } }), row(two)]);
    const expected = report({ rows: 3, created: 2, failed: 1, errors: [{ row: 2, pointer: '/body', message: expect.any(String) }] });
    expect(await bulk.take(file, `${ARTICLES}&dry_run=true`)).toMatchObject({ status: 200, body: expected });
    expect(await itemsOf([one, bad, two])).toEqual([]);
    expect((await bulk.take(file, ARTICLES)).body).toEqual(expected);
    expect((await itemsOf([one, bad, two])).map(item => item.status)).toEqual(['DRAFT', 'DRAFT']);
  });

  test.each(COLLECTIONS.filter(one => !one.managed).map(one => one.collection.toLowerCase()))(
    '30: an export of %s imported again is all unchanged, in both formats',
    async collection => {
      for (const format of ['jsonl', 'csv']) {
        const query = `collection=${collection}&format=${format}`;
        const { body } = await bulk.take(await bulk.file(query), query);
        expect(body).toEqual(report({ rows: body.rows, unchanged: body.rows }));
        expect(body.rows).toBeGreaterThan(0);
      }
    },
  );

  test('a row with the slug or the id of an item makes a new revision, which is not published; another locale is a row of its own', async () => {
    const slug = word();
    await bulk.take(lines([row(slug, { author: { name: 'Editorial team' } })]), ARTICLES);
    const [{ id }] = await itemsOf([slug]);
    await e.publish(id);
    const change = { slug, title: 'Another title' };
    const german = { id, locale: 'de', title: 'Deutsch', excerpt: 'Fünf Zeilen.' };
    expect((await bulk.take(lines([change, change, german]), ARTICLES)).body).toEqual(report({ rows: 3, updated: 2, unchanged: 1 }));
    expect(await itemsOf([slug])).toMatchObject([{ status: 'PUBLISHED', revision: 3, slugs: { de: 'deutsch' } }]);
    expect((await e.read(`/learn-articles/by-slug/${slug}`)).body).toMatchObject({ title: `Article ${slug}`, revision: 1 });
    const exported = (await bulk.file(ARTICLES))
      .split('\n')
      .filter(Boolean)
      .map(line => JSON.parse(line));
    expect(exported.filter(one => one.id === id)).toMatchObject([
      { locale: 'en', title: 'Another title' },
      { locale: 'de', title: 'Deutsch' },
    ]);
  });

  test('publishing, foreign ids, other brands and policies are refused, each by its row', async () => {
    const slug = word();
    const { body } = await bulk.take(
      lines([
        row(slug, { status: 'published' }),
        row(slug, { publish_at: '2027-03-01T00:00:00.000Z' }),
        { id: randomUUID(), title: 'None' },
        row(slug, { brand_id: randomUUID() }),
      ]),
      ARTICLES,
    );
    expect(body.errors.map((error: any) => `${error.row} ${error.pointer}`)).toEqual([
      '1 /status',
      '2 /publish_at',
      '3 /id',
      '4 /brand_id',
    ]);
    expect(await itemsOf([slug])).toEqual([]);
    const policy = await bulk.take(lines([{ title: 'Terms' }]), 'collection=policies&format=jsonl');
    expect(policy.body).toMatchObject({ rows: 1, failed: 1 });
    expect(await bulk.take('', 'collection=recipes')).toMatchObject({ status: 400, body: { errors: [{ pointer: '/collection' }] } });
  });

  test('staff who read export and import nothing; whoever has no part in content gets neither', async () => {
    const member = bulkOf(e.p, '/content/v1/admin', e.member);
    expect(await member.take('{}', ARTICLES)).toMatchObject({ status: 403 });
    await expect(member.file(ARTICLES)).rejects.toThrow('403');
    const reader = bulkOf(e.p, '/content/v1/admin', e.reader);
    await expect(reader.file(ARTICLES)).rejects.toThrow('403');
  });
});
