import { beforeAll, describe, expect, test } from 'vitest';
import { BODY, Editors, word } from './fixture.js';

let e: Editors;
beforeAll(async () => {
  e = await Editors.open();
});

describe('an article', () => {
  test('with a title only is a draft that users do not find; publishing lists what is missing', async () => {
    const draft = await e.make('/learn-articles', { title: 'Only a title' });
    expect(draft).toMatchObject({ status: 'draft', slug: 'only-a-title', revision: 1, version: 1, locale: 'en' });
    expect((await e.read(`/learn-articles/by-slug/${draft.slug}`)).status).toBe(404);
    const { code, errors } = (await e.publishing(draft.id))!;
    expect([code, errors!.map(one => one.pointer)]).toEqual(['INVALID_REQUEST', ['/excerpt', '/body', '/author']]);
  });

  test('that is changed is delivered as it was until it is published', async () => {
    const one = await e.article({ title: 'First title' });
    await e.publish(one.id);
    await e.update('LearnArticle', one.id, { title: 'Second title' });
    const before = await e.read(`/learn-articles/by-slug/${one.slug}`);
    expect(before.body).toMatchObject({ title: 'First title', revision: 1, status: 'published', version: 1 });
    await e.publish(one.id);
    expect((await e.read(`/learn-articles/by-slug/${one.slug}`)).body).toMatchObject({ title: 'Second title', revision: 2 });
  });

  test('published in one locale changes no other locale’s answer but for what locales there are', async () => {
    const one = await e.article({ title: 'English' });
    await e.publish(one.id);
    const before = (await e.read(`/learn-articles/by-slug/${one.slug}`)).body;
    await e.update('LearnArticle', one.id, { locale: 'de', title: 'Deutsch', excerpt: 'Fünf Zeilen.', body: { html: '<p>Text</p>' } });
    expect((await e.read(`/learn-articles/by-slug/${one.slug}?locale=de`)).body).toMatchObject({
      title: 'English',
      locale: 'en',
      requested_locale: 'de',
    });
    await e.publish(one.id, { locales: ['de'] });
    const after = (await e.read(`/learn-articles/by-slug/${one.slug}`)).body;
    expect({ ...after, available_locales: null, alternates: null }).toEqual({ ...before, available_locales: null, alternates: null });
    expect(after.available_locales).toEqual(['de', 'en']);
    expect((await e.read(`/learn-articles/by-slug/${one.slug}?locale=de`)).body).toMatchObject({ title: 'Deutsch', locale: 'de' });
    expect((await e.read(`/learn-articles/by-slug/${one.slug}`, { 'accept-language': 'de-AT,de;q=0.9' })).body).toMatchObject({
      title: 'Deutsch',
    });
  });

  test('is given in a locale of the fallback chain, and not at all without fallback', async () => {
    const one = await e.article();
    await e.publish(one.id);
    const path = `/learn-articles/by-slug/${one.slug}?locale=de-AT`;
    expect((await e.read(path)).body).toMatchObject({ locale: 'en', requested_locale: 'de-AT' });
    expect((await e.read(`${path}&fallback=false`)).status).toBe(404);
  });

  test('keeps its old slugs: they lead to the current one in one step, and belong to nobody else', async () => {
    const [a, b] = [word(), word()];
    const one = await e.article({ slug: a });
    await e.publish(one.id);
    for (const slug of [b, a]) {
      await e.update('LearnArticle', one.id, { slug });
      await e.publish(one.id);
      if (slug === b)
        expect(await e.read(`/learn-articles/by-slug/${a}`)).toMatchObject({
          status: 301,
          headers: { location: `/content/v1/learn-articles/by-slug/${b}` },
        });
    }
    const moved = await e.read(`/learn-articles/by-slug/${b}?locale=en`);
    expect(moved).toMatchObject({ status: 301, body: '', headers: { location: `/content/v1/learn-articles/by-slug/${a}?locale=en` } });
    expect((await e.read(`/learn-articles/by-slug/${a}`)).status).toBe(200);
    expect(await e.rest('POST', '/learn-articles', { title: 'x', slug: b })).toMatchObject({ status: 409, body: { reason: 'slug_taken' } });
    const taken = await e.rest('POST', '/learn-articles', { title: 'x', slug: b, take_over_slug: true });
    expect(taken.status).toBe(201);
  });

  test('names its violations on creation by the caller’s pointers, and stores nothing', async () => {
    const title = word();
    const answer = await e.rest('POST', '/learn-articles', { title, status: 'published' });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(answer.body.errors.map((one: { pointer: string }) => one.pointer)).toEqual(['/excerpt', '/body', '/author']);
    expect((await e.rest('GET', '/learn-articles?status=all&limit=100')).body.data.filter((one: any) => one.title === title)).toEqual([]);
  });
});

describe('two editors', () => {
  test('the second save with an old version is a conflict, and nothing is merged', async () => {
    const one = await e.article();
    const save = 'mutation ($input: LearnArticleUpdateInput!) { updateLearnArticle(input: $input) { version } }';
    const inputs = [
      { id: one.id, version: 1, title: 'Mine' },
      { id: one.id, version: 1, excerpt: 'Theirs' },
    ];
    const answers = await Promise.all(inputs.map(input => e.p.graphql(save, { input }, { token: e.token })));
    const reasons = answers.map(({ errors }) => errors[0]?.extensions.reason ?? 'saved').sort();
    expect(reasons).toEqual(['VERSION_CONFLICT', 'saved']);
    const [{ revision }] = (await e.p.sql('select revision from content.content_item where id = $1', [one.id])) as [{ revision: number }];
    expect(revision).toBe(2);
  });

  test('twenty at once leave revisions without gaps, one per save that was told as saved', async () => {
    const one = await e.article();
    let saved = 0;
    for (let round = 0; round < 4; round++) {
      const version = await e.version(one.id);
      const save = 'mutation ($input: LearnArticleUpdateInput!) { updateLearnArticle(input: $input) { version } }';
      const all = await Promise.all(
        Array.from({ length: 5 }, (_, at) =>
          e.p.graphql(save, { input: { id: one.id, version, title: `T${round}${at}` } }, { token: e.token }),
        ),
      );
      saved += all.filter(({ errors }) => errors.length === 0).length;
    }
    const rows = await e.p.sql<{ number: number }>('select number from content.content_revision where item_id = $1 order by number', [
      one.id,
    ]);
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: saved + 1 }, (_, at) => at + 1));
    expect(saved).toBe(4);
  });

  test('an old revision is restored byte for byte as a new one, which publishes nothing', async () => {
    const one = await e.article({ title: 'As it was' });
    await e.publish(one.id);
    await e.update('LearnArticle', one.id, { title: 'Spoilt', body: { html: '<p>Gone</p>' } });
    const restore = 'mutation ($input: RestoreContentRevisionInput!) { restoreContentRevision(input: $input) { revision title } }';
    const { restoreContentRevision: restored } = await e.ask(restore, { input: { id: one.id, revision: 1, version: 2 } });
    expect(restored).toEqual({ revision: 3, title: 'As it was' });
    const data = await e.p.sql<{ data: unknown }>(
      'select data::text as data from content.content_revision where item_id = $1 and number in (1, 3)',
      [one.id],
    );
    expect(data[0]!.data).toBe(data[1]!.data);
    const { contentDiff } = await e.ask('query ($id: ID!) { contentDiff(id: $id, from: 1, to: 2) { op path text } }', { id: one.id });
    expect(contentDiff).toContainEqual({ op: 'replace', path: '/locales/en/title', text: '[-As -][-it -][-was-]{+Spoilt+}' });
  });
});

describe('releases', () => {
  const SCHEDULE = 'mutation ($input: ScheduleContentReleaseInput!) { scheduleContentRelease(input: $input) { id status } }';
  const CREATE =
    'mutation ($input: CreateContentReleaseInput!) { createContentRelease(input: $input) { id items { itemId revision stale } } }';
  const READ = 'query ($id: ID!) { contentRelease(id: $id) { status items { itemId revision reason stale } } }';
  const inAnHour = async (): Promise<string> => {
    const [{ now }] = (await e.p.sql(
      'select to_char(now at time zone \'utc\', \'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\') as now from content.test_clock',
    )) as [{ now: string }];
    return new Date(Date.parse(now) + 3_600_000).toISOString();
  };

  test('publish at their time the revision that was scheduled, whatever was saved meanwhile', async () => {
    const one = await e.article({ title: 'r1' });
    await e.publish(one.id);
    await e.update('LearnArticle', one.id, { title: 'r2 scheduled' });
    const { createContentRelease: release } = await e.ask(CREATE, { input: { name: 'Spring', items: [{ itemId: one.id }] } });
    const at = await inAnHour();
    await e.ask(SCHEDULE, { input: { id: release.id, publishAt: at } });
    await e.update('LearnArticle', one.id, { title: 'r3 later' });
    expect((await e.rest('GET', `/learn-articles?ids=${one.id}`)).body.data[0].scheduled).toMatchObject({ revision: 2, stale: true });
    expect((await e.read(`/learn-articles?ids=${one.id}`)).body.data[0]).toMatchObject({ title: 'r1', scheduled: null });
    await e.p.clock('content', { now: at });
    expect((await e.read(`/learn-articles?ids=${one.id}`)).body.data[0]).toMatchObject({ title: 'r2 scheduled', revision: 2 });
  });

  test('publish all or nothing: one item that became invalid fails them, with its reason', async () => {
    const all = await Promise.all([e.article(), e.article(), e.article()]);
    const { createContentRelease: release } = await e.ask(CREATE, { input: { name: 'All', items: all.map(({ id }) => ({ itemId: id })) } });
    const at = await inAnHour();
    await e.ask(SCHEDULE, { input: { id: release.id, publishAt: at } });
    await e.ask('mutation ($id: ID!) { archiveContent(id: $id) { id } }', { id: all[1].id });
    await e.p.clock('content', { now: at });
    const { contentRelease } = await e.ask(READ, { id: release.id });
    expect(contentRelease.status).toBe('FAILED');
    expect(contentRelease.items.filter((one: any) => one.reason !== null)).toEqual([
      expect.objectContaining({ itemId: all[1].id, reason: 'archived' }),
    ]);
    const ids = all.map(({ id }) => `ids=${id}`).join('&');
    expect((await e.read(`/learn-articles?${ids}`)).body.data).toEqual([]);
    await e.ask('mutation ($id: ID!) { restoreContent(id: $id) { id } }', { id: all[1].id });
    await e.ask('mutation ($id: ID!) { publishContentRelease(id: $id) { status } }', { id: release.id });
    expect((await e.read(`/learn-articles?${ids}`)).body.data).toHaveLength(3);
  });

  test('are scheduled more than a minute ahead, and cancelled only while they wait', async () => {
    const one = await e.article();
    const { createContentRelease: release } = await e.ask(CREATE, { input: { name: 'Soon', items: [{ itemId: one.id }] } });
    const at = await inAnHour();
    expect(
      await e.refused(SCHEDULE, { input: { id: release.id, publishAt: new Date(Date.parse(at) - 3_600_000).toISOString() } }),
    ).toMatchObject({ code: 'INVALID_REQUEST' });
    await e.ask('mutation ($id: ID!) { cancelContentRelease(id: $id) { status } }', { id: release.id });
    expect(await e.refused(SCHEDULE, { input: { id: release.id, publishAt: at } })).toMatchObject({ code: 'CONFLICT' });
  });
});

describe('references', () => {
  test('to what is not published stop a publication, or are left out', async () => {
    const peptide = await e.make('/peptides', { name: `Peptide ${word()}` });
    const one = await e.article({ related_peptide_ids: [peptide.id] });
    expect(await e.publishing(one.id)).toMatchObject({ code: 'CONFLICT', reason: 'UNPUBLISHED_REFERENCE' });
    await e.publish(one.id, { allowDanglingReferences: true });
    const shown = await e.read(`/learn-articles/by-slug/${one.slug}`);
    expect(shown.body.related_peptides).toEqual([]);
    expect(JSON.stringify(shown.body)).not.toContain(peptide.id);
  });

  test('of a hundred items cost one statement per level', async () => {
    const paper = await e.make('/research-papers', {
      title: word(),
      authors: ['R. Example'],
      published_on: '2020-01-01',
      status: 'published',
    });
    const peptide = await e.make('/peptides', {
      name: word(),
      summary: 'S',
      evidence_level: 'animal',
      disclaimer: 'D',
      status: 'published',
    });
    await Promise.all(
      Array.from({ length: 6 }, () =>
        e.article({ citation_ids: [paper.id], related_peptide_ids: [peptide.id], tags: ['batched'], status: 'published' }),
      ),
    );
    const query = '{ learnArticles(first: 100, filter: { tag: ["batched"] }) { nodes { id citations { id } relatedPeptides { id } } } }';
    const { learnArticles } = await e.ask(query, {}, e.member);
    expect(learnArticles.nodes).toHaveLength(6);
    expect(learnArticles.nodes[0]).toMatchObject({ citations: [{ id: paper.id }], relatedPeptides: [{ id: peptide.id }] });
  });
});

describe('rich text', () => {
  const doc = (...content: object[]) => ({ json: { type: 'doc', content } });
  const link = (href: string) =>
    doc({ type: 'paragraph', content: [{ type: 'text', text: 'x', marks: [{ type: 'link', attrs: { href } }] }] });

  test.each([
    ['a javascript link', link('javascript:alert(1)'), '/body/json/content/0/content/0/marks/0/attrs/href'],
    ['an unknown node', doc({ type: 'iframe' }), '/body/json/content/0/type'],
    ['an unknown attribute', doc({ type: 'paragraph', attrs: { onclick: 'x' } }), '/body/json/content/0/attrs/onclick'],
    [
      'an unknown mark',
      doc({ type: 'paragraph', content: [{ type: 'text', text: 'x', marks: [{ type: 'blink' }] }] }),
      '/body/json/content/0/content/0/marks/0/type',
    ],
    ['neither form', {}, '/body'],
  ])('with %s is refused', async (_what, body, pointer) => {
    const answer = await e.rest('POST', '/learn-articles', { title: 'x', body });
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.body.errors.map((one: { pointer: string }) => one.pointer)).toContain(pointer);
  });

  test('as HTML loses what is not allowed, and says so', async () => {
    const html =
      '<h1 onclick="x()">Head</h1><p><a href="javascript:alert(1)">bad</a> <a href="https://good.example">good</a><script>alert(1)</script></p><img src=x onerror=1>';
    const one = await e.article({ body: { html } });
    expect(one.warnings.join(' ')).toMatch(/link.*script.*picture/);
    await e.publish(one.id);
    const { body } = (await e.read(`/learn-articles/by-slug/${one.slug}`)).body;
    expect(body.html).toBe('<h2 id="head">Head</h2><p>bad <a href="https://good.example" rel="nofollow noopener">good</a></p>');
    expect(body).toMatchObject({
      json: null,
      text: null,
      word_count: 3,
      reading_minutes: 1,
      toc: [{ level: 2, id: 'head', text: 'Head' }],
    });
  });
});

describe('certificates', () => {
  const results = [
    {
      test: 'purity',
      method: 'RP-HPLC 220 nm',
      specification: '≥ 98 %',
      result_text: '99.21 %',
      result_value: 99.21,
      unit: '%',
      verdict: 'pass',
    },
    { test: 'identity', method: 'ESI-MS', result_text: '1419.6 Da', result_value: 1419.6, unit: 'Da', verdict: 'pass' },
  ];
  const coa = (more: object = {}) => ({
    product_name: 'BPC-157 5 mg',
    variant_sku: 'BPC157-5',
    batch_number: 'B2611',
    lot_number: 'L-0042',
    report_number: word(),
    lab: { name: 'Example Analytical', accreditation: 'ISO/IEC 17025:2017 #1234' },
    tested_on: '2026-10-02',
    issued_on: '2026-10-05',
    results,
    ...more,
  });

  test('have a derived purity, verdict and code; the same report of a laboratory is there once', async () => {
    const one = await e.make('/coas', coa({ report_number: 'R-88213' }));
    expect(one).toMatchObject({
      purity_percent: 99.21,
      identity_confirmed: true,
      verdict: 'pass',
      verification_code: expect.stringMatching(/^[2-9A-Z]{4}-[2-9A-Z]{4}-[2-9A-Z]{4}$/),
    });
    expect(await e.rest('POST', '/coas', coa({ report_number: 'R-88213' }))).toMatchObject({
      status: 409,
      body: { reason: 'report_exists' },
    });
    const failed = await e.make('/coas', coa({ results: [{ ...results[0], verdict: 'fail' }] }));
    expect(failed).toMatchObject({ verdict: 'fail', identity_confirmed: false });
  });

  test('are not published with dates that contradict each other, or without their file', async () => {
    const answer = await e.rest('POST', '/coas', coa({ tested_on: '2026-10-09', status: 'published' }));
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.body.errors.map((one: { pointer: string }) => one.pointer).sort()).toEqual(['/file_id', '/issued_on']);
  });
});

describe('lists', () => {
  test('are paged without gaps by every order, and refuse what they do not know', async () => {
    const tag = word();
    const made = await Promise.all(['b', 'C', 'a', 'Ä'].map(title => e.article({ title, tags: [tag], status: 'published' })));
    for (const sort of ['title', 'published_at', 'updated_at']) {
      const seen: string[] = [];
      let cursor = '';
      do {
        const { body } = await e.read(`/learn-articles?tag=${tag}&limit=1&sort=${sort}${cursor && `&cursor=${cursor}`}`);
        seen.push(...body.data.map((one: any) => one.title));
        cursor = body.next_cursor ?? '';
      } while (cursor);
      expect([...seen].sort()).toEqual(['C', 'a', 'b', 'Ä'].sort());
      if (sort === 'title') expect(seen).toEqual(['a', 'Ä', 'b', 'C']);
    }
    expect((await e.read('/learn-articles?nonsense=1')).status).toBe(400);
    expect((await e.read('/learn-articles?cursor=bm9uZQ')).status).toBe(400);
    expect((await e.read('/learn-articles?status=draft')).status).toBe(403);
    expect((await e.read(`/learn-articles?slugs=${made[0].slug}`)).body.data).toHaveLength(1);
  });

  test('bear an ETag by which a repetition is a 304, until something is published', async () => {
    const one = await e.article({ status: 'published' });
    const path = `/learn-articles/by-slug/${one.slug}`;
    const first = await e.read(path);
    expect(first.headers).toMatchObject({
      vary: 'Authorization, Accept-Language, X-Platform-Preview',
      'cache-control': 'private, no-cache',
      'content-language': 'en',
    });
    const etag = String(first.headers.etag);
    expect((await e.read(path, { 'if-none-match': etag })).status).toBe(304);
    await e.update('LearnArticle', one.id, { title: 'New' });
    expect((await e.read(path, { 'if-none-match': etag })).status).toBe(304);
    await e.publish(one.id);
    expect((await e.read(path, { 'if-none-match': etag })).status).toBe(200);
  });
});

describe('testimonials', () => {
  const one = {
    quote: 'It helped.',
    display_name: 'A. Customer',
    disclaimer: 'Results vary.',
    consent: { given_at: '2026-11-01T09:00:00.000Z', scope: 'web' },
  };

  test('need consent, approval and a disclaimer, and are gone at once when consent is taken back', async () => {
    expect((await e.rest('POST', '/testimonials', { ...one, consent: undefined, status: 'published' })).status).toBe(400);
    const made = await e.make('/testimonials', one);
    expect(await e.publishing(made.id)).toMatchObject({ errors: [{ pointer: '/moderation' }] });
    await e.update('Testimonial', made.id, { moderation: 'APPROVED' });
    await e.publish(made.id);
    expect((await e.read(`/testimonials/${made.id}`)).status).toBe(200);
    await e.update('Testimonial', made.id, {
      consent: { givenAt: '2026-11-01T09:00:00.000Z', scope: 'WEB', withdrawnAt: '2027-01-01T00:00:00.000Z' },
    });
    expect((await e.read(`/testimonials/${made.id}`)).status).toBe(404);
  });
});

describe('pages', () => {
  test('are unions of sections through REST and GraphQL', async () => {
    const faq = await e.make('/faqs', { question: 'Why?', answer: BODY, status: 'published' });
    const path = `/${word()}`;
    const input = {
      path,
      title: 'About us',
      sections: [
        { hero: { heading: 'Welcome' } },
        { richText: { body: BODY } },
        { faq: { faqIds: [faq.id] } },
        { cta: { heading: 'Go', href: '/shop', linkText: 'Shop' } },
      ],
      status: 'PUBLISHED',
    };
    const { createContentPage: page } = await e.ask(
      'mutation ($input: ContentPageCreateInput!) { createContentPage(input: $input) { id } }',
      { input },
    );
    const shown = (await e.read(`/pages/${page.id}`)).body;
    expect(shown.sections.map((one: any) => one.kind)).toEqual(['hero_section', 'rich_text_section', 'faq_section', 'cta_section']);
    expect(shown.sections[2].faqs[0]).toMatchObject({ id: faq.id, question: 'Why?' });
    expect(shown.sections[1].body.toc[0].text).toBe('Match the batch');
    const query =
      'query ($path: [String!]) { contentPages(filter: { path: $path }, bodyFormat: HTML) { nodes { __typename ... on ContentItem { title card { type title } } sections { __typename ... on HeroSection { heading } ... on RichTextSection { body { html } } } } } }';
    const { contentPages } = await e.ask(query, { path: [path] }, e.reader);
    expect(contentPages.nodes[0]).toMatchObject({
      __typename: 'ContentPage',
      title: 'About us',
      card: { type: 'CONTENT', title: 'About us' },
      sections: [{ __typename: 'HeroSection', heading: 'Welcome' }, { body: { html: expect.stringContaining('<h2') } }, {}, {}],
    });
    const twice = await e.refused('mutation ($input: ContentPageCreateInput!) { createContentPage(input: $input) { id } }', {
      input: { path, title: 'x' },
    });
    expect(twice).toMatchObject({ reason: 'PATH_TAKEN' });
    const two = { path: `/${word()}`, title: 'x', sections: [{ hero: { heading: 'a' }, cta: { heading: 'b', href: '/', linkText: 'c' } }] };
    expect(
      await e.refused('mutation ($input: ContentPageCreateInput!) { createContentPage(input: $input) { id } }', { input: two }),
    ).toMatchObject({ code: 'INVALID_REQUEST' });
  });
});
