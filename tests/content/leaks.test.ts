import { request } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';
import { BRAND, DEMO, DEMO2, type Answer } from '../support/platform.js';
import { BODY, Editors, T0, word } from './fixture.js';
import { absentLike, definitionFor, makeHub, makePicture, makeThings, SECOND, type Shared, type Thing, type Why } from './leak-things.js';
import { BY_REFERENCE, SINGLE, Ways, WHOLE } from './leak-ways.js';

/** What a caller may read beyond what is for everybody. */
interface Rights {
  member?: true;
  partner?: true;
  papers?: true;
  second?: true;
  editor?: true;
}

/** Source: content 4, R. */
const CALLERS: Readonly<Record<string, Rights>> = {
  'a service': {},
  'a user without scopes': {},
  'a user with read:content': { member: true },
  'a user with read:research_papers': { papers: true },
  'a user of another brand': { member: true, second: true },
  'staff of another service': { partner: true },
  'staff of content': { member: true, partner: true, papers: true, editor: true },
  'a service of content': { member: true, partner: true, papers: true, editor: true },
};

let e: Editors;
let shared: Shared;
let things: Thing[];
let hub: Thing;
const ways: Record<string, Ways> = {};
const INSTANT = new Date(Date.parse(T0) + 3_600_000).toISOString();

/** An app of the second brand, whose users have its id in their tokens. */
async function secondApp(): Promise<void> {
  await e.p.sql(
    `insert into identity.oauth_client select (r).* from (
       select jsonb_populate_record(c, jsonb_build_object('id', 'second-app', 'brand_id', $1::text)) r from identity.oauth_client c where c.id = 'demo-app') x`,
    [SECOND],
  );
}

async function tokens(): Promise<Record<string, string>> {
  const { p } = e;
  return {
    'a service': e.reader,
    'a user without scopes': await p.userToken(DEMO, ['read:profile']),
    'a user with read:content': await p.userToken(DEMO, ['read:content']),
    'a user with read:research_papers': await p.userToken(DEMO, ['read:research_papers']),
    'a user of another brand': await p.userToken(DEMO2, ['read:content'], { clientId: 'second-app' }),
    'staff of another service': await p.userToken(DEMO2, ['read:profile'], { permissions: ['admin:platform:read'] }),
    'staff of content': await p.userToken(DEMO2, ['read:profile'], { permissions: ['admin:content:read'] }),
    'a service of content': e.token,
  };
}

beforeAll(async () => {
  e = await Editors.open();
  await secondApp();
  for (const [name, token] of Object.entries(await tokens()))
    ways[name] = new Ways(e, { name, token, host: CALLERS[name]!.second ? 'second.example' : 'main.example' });
  const tag = word();
  const peptide = await e.make('/peptides', { name: word(), summary: 'S', evidence_level: 'animal', disclaimer: 'D', status: 'published' });
  const goal = await e.make('/goals', { name: word(), summary: 'S', status: 'published' });
  shared = { tag, peptide: peptide.id, goal: goal.id, publishAt: INSTANT };
  things = await makeThings(e, shared);
  hub = await makeHub(e, shared, things);
  await e.update('ContentGoal', goal.id, { articleIds: things.filter(one => one.collection === 'LEARN_ARTICLES').map(({ id }) => id) });
  await e.publish(goal.id, { allowDanglingReferences: true });
  things.push(hub);
}, 400_000);

const BY_RIGHT: Readonly<Record<Why, (rights: Rights) => boolean>> = {
  open: () => true,
  own: ({ second }) => second !== true,
  foreign: ({ second }) => second === true,
  member: ({ member }) => member === true,
  partner: ({ partner }) => partner === true,
  draft: () => false,
  scheduled: () => false,
  archived: () => false,
  unpublished: () => false,
};
const isShown = (thing: Thing, rights: Rights): boolean =>
  BY_RIGHT[thing.why](rights) && (thing.collection !== 'RESEARCH_PAPERS' || rights.papers === true);

const nameOf = ({ collection, why }: Thing): string => `${why} of ${collection}`;
const holds = (text: string, { id, canary }: Thing): boolean => text.includes(id) || text.includes(canary);
/** What an answer says, whichever item it was asked for. */
const saysOf = ({ status, body }: Answer, { id, canary }: Thing): string =>
  JSON.stringify({ status, body }, (key, value: unknown) => (/^(request_?id|took_?ms)$/i.test(key) ? undefined : value))
    .replaceAll(id, 'ID')
    .replaceAll(canary, 'WORD');

describe.each(Object.keys(CALLERS))('%s', name => {
  const rights = CALLERS[name]!;

  test.each(Object.keys(SINGLE))('sees by %s what it may read; the rest is as if it were not there', async way => {
    const { of, ask, forEditors } = SINGLE[way]!;
    const asked = things.filter(of);
    const found = await Promise.all(
      asked.map(async thing => {
        const answer = await ask(ways[name]!, thing, shared);
        if (isShown(thing, rights) || (forEditors && rights.editor))
          return holds(JSON.stringify(answer.body), thing) ? [] : [`no ${nameOf(thing)}`];
        const absent = absentLike(thing);
        const [says, nothing] = [saysOf(answer, thing), saysOf(await ask(ways[name]!, absent, shared), absent)];
        return says === nothing ? [] : [`${nameOf(thing)}: ${says.slice(0, 200)}, not ${nothing.slice(0, 200)}`];
      }),
    );
    expect(found.flat()).toEqual([]);
  });

  test.each(Object.keys(BY_REFERENCE))('learns by %s nothing of what it may not read', async way => {
    const { of, ask, finds = () => hub } = BY_REFERENCE[way]!;
    const found = await Promise.all(
      things.filter(of).map(async thing => {
        const text = JSON.stringify((await ask(ways[name]!, thing, shared)).body);
        return text.includes(finds(things, hub).canary) === isShown(thing, rights) ? [] : [nameOf(thing)];
      }),
    );
    expect(found.flat()).toEqual([]);
  });

  test.each(Object.keys(WHOLE))('finds in %s everything that it may read, and nothing else', async way => {
    const { ask, shows } = WHOLE[way]!;
    const text = JSON.stringify(await ask(ways[name]!, shared, hub, things));
    // editors get texts as they were written, with the ids to which they lead
    const isIn = (thing: Thing): boolean => (rights.editor ? text.includes(thing.canary) : holds(text, thing));
    const leaks = things.filter(thing => !isShown(thing, rights) && isIn(thing));
    const lost = things.filter(thing => isShown(thing, rights) && shows(thing) && !holds(text, thing));
    expect({ leaks: leaks.map(nameOf), lost: lost.map(nameOf) }).toEqual({ leaks: [], lost: [] });
  });

  test('counts in totals and facets what it may read, and nothing else', async () => {
    const { body } = (await WHOLE.search!.ask(ways[name]!, shared, hub, things)) as Answer;
    const shown = things.filter(thing => isShown(thing, rights) && definitionFor(thing).searchable);
    const counts = Object.fromEntries(
      body.facets.type.map(({ value, count }: { value: string; count: number }) => [value.toUpperCase(), count]),
    );
    const expected = Object.fromEntries(
      [...new Set(shown.map(one => one.collection))].map(one => [one, shown.filter(({ collection }) => collection === one).length]),
    );
    expect([body.total, counts]).toEqual([shown.length, expected]);
  });
});

const isNothing = async (way: Ways, texts: readonly string[], paths: readonly string[]): Promise<void> => {
  const answers = JSON.stringify(await Promise.all(paths.map(async path => (await way.rest(path)).body)));
  expect(texts.filter(text => answers.includes(text))).toEqual([]);
};

describe('for every reader', () => {
  const READERS = Object.keys(CALLERS).filter(name => !CALLERS[name]!.editor);

  test('a change and a translation that are not published are in no answer', async () => {
    const one = await e.article({ tags: [shared.tag], status: 'published' });
    const [newer, german] = [word(), word()];
    const body = { html: `<p>${newer}</p>` };
    await e.update('LearnArticle', one.id, { title: newer, slug: newer, excerpt: newer, tags: [newer], author: { name: newer }, body });
    await e.update('LearnArticle', one.id, {
      locale: 'de',
      slug: german,
      title: german,
      excerpt: german,
      body: { html: `<p>${german}</p>` },
    });
    for (const name of READERS) {
      const way = ways[name]!;
      const { body: shown } = await way.rest(`/learn-articles/by-slug/${one.slug}?locale=en`);
      expect(shown).toMatchObject({ available_locales: ['en'], alternates: [{ locale: 'en', slug: one.slug }], revision: 1, version: 1 });
      await isNothing(
        way,
        [newer, german],
        [
          `/learn-articles/by-slug/${one.slug}?locale=de&body_format=all`,
          `/learn-articles?ids=${one.id}&locale=de&body_format=all`,
          `/learn-articles?tag=${newer}`,
          `/search?q=${newer}&facets=tags`,
          `/search?q=${german}&locale=de`,
          `/autocard/resolve?slug=${newer}`,
          ...[newer, german].map(slug => `/learn-articles/by-slug/${slug}`),
        ],
      );
      expect((await way.graphql('query ($q: String!) { searchSuggest(prefix: $q) }', { q: newer })).body.data.searchSuggest).toEqual([]);
    }
  });

  test('a brand’s own item that they may not read does not hide the shared one of the same slug', async () => {
    const slug = word();
    const [open, own] = [
      await e.article({ slug, status: 'published' }),
      await e.article({ slug, brand_id: BRAND, audience: 'member', status: 'published' }),
    ];
    const idFor = async (name: string) => (await ways[name]!.rest(`/learn-articles/by-slug/${slug}`)).body.id;
    expect(await idFor('a service')).toBe(open.id);
    expect(await idFor('a user without scopes')).toBe(open.id);
    expect(await idFor('a user with read:content')).toBe(own.id);
    expect(await idFor('a service of content')).toBe(own.id);
    const { body } = await ways['a service']!.rest(`/learn-articles?slugs=${slug}`);
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([open.id]);
  });

  test('another brand is as one that there is not; a service reads whichever it names', async () => {
    const of = (why: Why) => things.find(thing => thing.why === why && thing.collection === 'LEARN_ARTICLES')!;
    const paths = (brand: string) => [
      `/learn-articles?brand=${brand}`,
      `/learn-articles/by-slug/${of('foreign').slug}?brand=${brand}`,
      `/search?q=${shared.tag}&brand=${brand}`,
      `/autocard/resolve?slug=${of('foreign').slug}&brand=${brand}`,
    ];
    const answers = async (name: string, brand: string) => {
      const all = await Promise.all(paths(brand).map(path => ways[name]!.rest(path)));
      return all.map(({ status, body }) => [status, body.code, body.detail]);
    };
    for (const name of READERS.filter(one => one !== 'a service' && one !== 'a user of another brand'))
      expect(await answers(name, 'second')).toEqual(await answers(name, 'nonsense'));
    expect(await answers('a user of another brand', 'main')).toEqual(await answers('a user of another brand', 'nonsense'));
    const { body: seen } = await ways['a service']!.rest('/learn-articles?brand=second&limit=100');
    const ids = seen.data.map(({ id }: { id: string }) => id);
    expect([ids.includes(of('foreign').id), ids.includes(of('own').id)]).toEqual([true, false]);
  });

  test('a preview link shows its one draft, and no other', async () => {
    const [shown, other] = [await e.article(), await e.article()];
    const PREVIEW = 'mutation ($id: ID!) { createContentPreview(input: { id: $id }) { token } }';
    const { createContentPreview: link } = await e.ask(PREVIEW, { id: shown.id });
    const read = (slug: string) => e.read(`/learn-articles/by-slug/${slug}`, { 'x-platform-preview': link.token });
    expect([(await read(shown.slug)).status, (await read(other.slug)).status]).toEqual([200, 404]);
    expect((await e.read(`/learn-articles/by-slug/${shown.slug}`)).status).toBe(404);
    expect((await e.read(`/learn-articles?ids=${shown.id}`, { 'x-platform-preview': link.token })).body.data).toEqual([]);
  });

  test('a policy’s text that is still to come is announced, and nowhere else', async () => {
    const [slug, later] = [word(), word()];
    const put = (title: string, more: object) =>
      e.rest('PUT', `/policies/${slug}`, { kind: 'other', title, body: { html: `<p>${title}</p>` }, requires_acceptance: false, ...more });
    await put('Now', {});
    await put(later, { effective_at: INSTANT });
    for (const name of READERS) {
      const asked = ['', '?version=2', `?at=${encodeURIComponent(INSTANT)}`].map(query => ways[name]!.rest(`/policies/${slug}${query}`));
      for (const { status, body } of await Promise.all(asked)) {
        expect([status, body.upcoming.version]).toEqual([200, 2]);
        expect(JSON.stringify({ ...body, upcoming: null })).not.toContain(later);
      }
      await isNothing(ways[name]!, [later], [`/search?q=${later}`, `/autocard/resolve?slug=${slug}`]);
    }
  });

  test('a picture’s file is served, in every size, from when something published shows it, and its uses name what they may read', async () => {
    const picture = await makePicture(e);
    const paths = [`by-id/${picture.id}`, `by-id/${picture.id}?width=64`, `${picture.sha256}.png`];
    const statuses = () =>
      Promise.all(
        paths.map(async path => {
          const { statusCode, body } = await request(`${e.p.url}/content/v1/files/${path}`);
          await body.dump();
          return statusCode;
        }),
      );
    const hidden = await e.article({ hero_id: picture.id, body: BODY });
    expect(await statuses()).toEqual([404, 404, 404]);
    await e.publish(picture.id);
    const open = await e.article({ hero_id: picture.id, status: 'published' });
    const member = await e.article({ hero_id: picture.id, audience: 'member', status: 'published' });
    expect(await statuses()).toEqual([302, 302, 200]);
    const usages = async (name: string) =>
      new Set((await ways[name]!.rest(`/media/${picture.id}`)).body.usages.map(({ id }: { id: string }) => id));
    expect(await usages('a user without scopes')).toEqual(new Set([open.id]));
    expect(await usages('a user with read:content')).toEqual(new Set([open.id, member.id]));
    await e.ask('mutation ($id: ID!) { unpublishContent(input: { id: $id }) { id } }', { id: picture.id });
    for (const one of [open, member]) await e.ask('mutation ($id: ID!) { archiveContent(id: $id) { id } }', { id: one.id });
    expect([await statuses(), hidden.status]).toEqual([[404, 404, 404], 'draft']);
  });

  test('events name what is delivered by its id, and nothing that is not', async () => {
    const rows = await e.p.sql<{ text: string }>("select data::text as text from events.outbox where type like 'content.%'");
    const text = rows.map(one => one.text).join('\n');
    expect(things.filter(({ canary }) => text.includes(canary)).map(nameOf)).toEqual([]);
    const isTold = ({ why }: Thing): boolean => why !== 'draft' && why !== 'scheduled';
    expect(things.filter(one => isTold(one) !== text.includes(one.id)).map(nameOf)).toEqual([]);
  });

  test('what was scheduled is there by every way from its instant on', async () => {
    await e.p.clock('content', { now: INSTANT });
    const due = things.filter(({ why }) => why === 'scheduled');
    for (const [way, { of, ask }] of Object.entries(SINGLE)) {
      const lost = await Promise.all(
        due
          .filter(of)
          .map(async thing => (holds(JSON.stringify((await ask(ways['a service']!, thing, shared)).body), thing) ? [] : [nameOf(thing)])),
      );
      expect({ way, lost: lost.flat() }).toEqual({ way, lost: [] });
    }
    const rows = await e.p.sql<{ text: string }>("select data::text as text from events.outbox where type like 'content.%'");
    expect(due.filter(({ id }) => !rows.some(({ text }) => text.includes(id))).map(nameOf)).toEqual([]);
  });
});
