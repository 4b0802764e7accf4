import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { civilDate, doiIn, pmidIn, waitOf, wordsOf } from '../../subgraphs/content/rules/citation.js';
import { Editors, word } from './fixture.js';

/** A register's stand-in: notes what is asked, and answers by path. */
class Register {
  readonly asked: IncomingMessage[] = [];
  readonly answers: Record<string, (response: ServerResponse) => void> = {};
  readonly #server: Server = createServer((request, response) => {
    this.asked.push(request);
    (this.answers[new URL(request.url!, 'http://x').pathname] ?? (one => one.writeHead(404).end('Resource not found.')))(response);
  });

  async open(): Promise<string> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const json =
  (body: unknown) =>
  (response: ServerResponse): void =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body));

const [crossref, pubmed, stranger] = [new Register(), new Register(), new Register()];
let e: Editors;
let elsewhere: string;

beforeAll(async () => {
  elsewhere = await stranger.open();
  e = await Editors.open(['content'], {
    CONTENT_CITATIONS: 'registers',
    CONTENT_EGRESS_ALLOW_CIDRS: '127.0.0.1/32',
    CROSSREF_URL: await crossref.open(),
    PUBMED_URL: await pubmed.open(),
    CITATIONS_EMAIL: 'library@main.example',
  });
});
afterAll(() => [crossref, pubmed, stranger].forEach(one => one.close()));
beforeEach(() => [crossref, pubmed, stranger].forEach(one => void one.asked.splice(0)));

const IMPORT = `mutation ($doi: String, $pmid: String) { importResearchPaper(doi: $doi, pmid: $pmid) {
  id status title authors journal publishedOn doi pmid url abstract studyType retracted retractionNotice brandId } }`;
const take = async (names: object) => (await e.ask(IMPORT, names)).importResearchPaper;
const refused = (names: object, token = e.token) => e.refused(IMPORT, names, token);
const papers = async () =>
  (await e.p.sql<{ n: number }>("select count(*)::int as n from content.content_item where collection = 'RESEARCH_PAPERS'"))[0]!.n;

const SUMMARIES = '/entrez/eutils/esummary.fcgi';
const pathOf = (doi: string): string => `/works/${encodeURIComponent(doi)}`;
const work = (doi: string, more: object = {}) => ({
  status: 'ok',
  'message-type': 'work',
  message: {
    DOI: doi.toUpperCase(),
    title: ['A <i>pentadecapeptide</i> &amp; its   storage'],
    author: [{ given: 'Rosa', family: 'Example', sequence: 'first' }, { name: 'The Storage Group' }],
    'container-title': ['Journal of Examples'],
    issued: { 'date-parts': [[2019, 3]] },
    URL: `https://doi.org/${doi}`,
    abstract: '<jats:title>Abstract</jats:title><jats:p>Kept at p &lt; 0.05.</jats:p>',
    ...more,
  },
});
const summary = (pmid: string, more: object = {}) => ({
  header: { type: 'esummary', version: '0.3' },
  result: {
    uids: [pmid],
    [pmid]: {
      uid: pmid,
      title: 'A trial of examples.',
      authors: [{ name: 'Example R', authtype: 'Author', clusterid: '' }],
      fulljournalname: 'The journal of trials',
      sortpubdate: '2020/11/05 00:00',
      pubtype: ['Journal Article', 'Randomized Controlled Trial'],
      articleids: [{ idtype: 'pubmed', idtypen: 1, value: pmid }],
      ...more,
    },
  },
});

describe('a research paper', () => {
  test('is asked of Crossref by its DOI, however that is written, and becomes a draft', async () => {
    const doi = `10.1000/${word()}`;
    crossref.answers[pathOf(doi)] = json(work(doi));
    const paper = await take({ doi: ` https://doi.org/${doi.toUpperCase()} ` });
    expect(paper).toEqual({
      id: expect.any(String),
      status: 'DRAFT',
      title: 'A pentadecapeptide & its storage',
      authors: ['Rosa Example', 'The Storage Group'],
      journal: 'Journal of Examples',
      publishedOn: '2019-03-01',
      doi,
      pmid: null,
      url: `https://doi.org/${doi}`,
      abstract: 'Abstract Kept at p < 0.05.',
      studyType: null,
      retracted: false,
      retractionNotice: null,
      brandId: null,
    });
    const [request] = crossref.asked;
    expect([crossref.asked.length, request!.method, request!.url]).toEqual([1, 'GET', `${pathOf(doi)}?mailto=library%40main.example`]);
    expect(request!.headers).toMatchObject({ accept: 'application/json', 'accept-encoding': 'identity' });
    expect(Object.keys(request!.headers)).not.toEqual(expect.arrayContaining([expect.stringMatching(/authorization|cookie|referer/)]));
    expect((await e.rest('GET', `/research-papers/${paper.id}`, undefined, e.member)).status).toBe(404);
  });

  test('is asked of PubMed by its PMID, and is an RCT where PubMed says so', async () => {
    const doi = `10.1000/${word()}`;
    pubmed.answers[SUMMARIES] = json(summary('31234567', { articleids: [{ idtype: 'doi', value: doi }] }));
    const paper = await take({ pmid: 'PMID: 31234567' });
    expect(paper).toMatchObject({
      status: 'DRAFT',
      title: 'A trial of examples',
      authors: ['Example R'],
      journal: 'The journal of trials',
      publishedOn: '2020-11-05',
      doi,
      pmid: '31234567',
      url: 'https://pubmed.ncbi.nlm.nih.gov/31234567/',
      studyType: 'RCT',
    });
    expect(pubmed.asked.map(({ url }) => Object.fromEntries(new URL(url!, 'http://x').searchParams))).toEqual([
      { db: 'pubmed', retmode: 'json', id: '31234567', tool: 'platform-content', email: 'library@main.example' },
    ]);
  });

  test('that is here is returned, and nobody is asked; one that is known by its other name, too', async () => {
    const doi = `10.1000/${word()}`;
    crossref.answers[pathOf(doi)] = json(work(doi));
    const { id } = await take({ doi });
    expect([(await take({ doi: `doi:${doi}` })).id, crossref.asked.length]).toEqual([id, 1]);
    pubmed.answers[SUMMARIES] = json(summary('31234568', { articleids: [{ idtype: 'doi', value: doi.toUpperCase() }] }));
    expect((await take({ pmid: '31234568' })).id).toBe(id);
  });

  test('that is imported by two editors at once is one draft', async () => {
    const doi = `10.1000/${word()}`;
    crossref.answers[pathOf(doi)] = json(work(doi));
    const [one, other] = await Promise.all([take({ doi }), take({ doi })]);
    expect(one.id).toBe(other.id);
  });

  test('that was retracted says so by either register', async () => {
    const doi = `10.1000/${word()}`;
    crossref.answers[pathOf(doi)] = json(work(doi, { 'updated-by': [{ type: 'retraction', DOI: '10.1000/notice' }] }));
    expect(await take({ doi })).toMatchObject({ retracted: true, retractionNotice: 'Retracted: 10.1000/notice' });
    pubmed.answers[SUMMARIES] = json(summary('31234569', { pubtype: ['Retracted Publication'] }));
    expect(await take({ pmid: '31234569' })).toMatchObject({ retracted: true, retractionNotice: 'Retracted, as PubMed says' });
  });

  test('brings no markup and no address that is none, and not more than a paper may hold', async () => {
    const doi = `10.1000/${word()}`;
    const author = Array.from({ length: 300 }, () => ({ family: `${'y'.repeat(300)}` }));
    crossref.answers[pathOf(doi)] = json(
      work(doi, {
        title: [`<script>alert(1)</script>${'x'.repeat(600)}`],
        URL: 'javascript:alert(1)',
        author,
        issued: { 'date-parts': [[null]] },
      }),
    );
    const paper = await take({ doi });
    expect([paper.title.length, paper.title.includes('<'), paper.url, paper.publishedOn]).toEqual([500, false, null, null]);
    expect([paper.authors.length, paper.authors[0].length]).toEqual([200, 200]);
  });

  test('that no register knows is not found, and leaves nothing', async () => {
    const before = await papers();
    expect(await refused({ doi: `10.1000/${word()}` })).toMatchObject({ code: 'NOT_FOUND' });
    pubmed.answers[SUMMARIES] = json({ result: { uids: ['1'], 1: { uid: '1', error: 'cannot get document summary' } } });
    expect(await refused({ pmid: '1' })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await papers()).toBe(before);
  });

  test.each([{}, { doi: '10.1000/x', pmid: '1' }, { doi: 'nonsense' }, { doi: '10.1/x' }, { pmid: '12a' }])(
    'named by %j is an invalid request, and nobody is asked',
    async names => {
      expect(await refused(names)).toMatchObject({ code: 'INVALID_REQUEST' });
      expect([...crossref.asked, ...pubmed.asked]).toEqual([]);
    },
  );

  test('is imported by editors alone', async () => {
    for (const token of [e.reader, e.member])
      expect(['FORBIDDEN', 'INSUFFICIENT_SCOPE']).toContain((await refused({ pmid: '1' }, token))!.code);
    expect(pubmed.asked).toEqual([]);
  });
});

describe('a register', () => {
  const hostile: [string, (response: ServerResponse) => void][] = [
    ['that answers with no JSON', json('<html>maintenance</html>')],
    ['that answers with other JSON', json({ message: { title: 'a text, no list' } })],
    ['that answers with a paper without a title', json(work('10.1000/x', { title: [] }))],
    ['that answers with more than two mebibytes', json(JSON.stringify({ message: 'x'.repeat(3 * 1024 * 1024) }))],
    ['that fails', response => void response.writeHead(500).end('a stack trace')],
    [
      'that ends in the middle',
      response => void response.writeHead(200, { 'content-length': '1000' }).write('{"mess', () => response.destroy()),
    ],
    ['that leads to a private address', response => void response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end()],
    ['that leads to another host', response => void response.writeHead(302, { location: `${elsewhere}/works/x` }).end()],
    ['that leads in a circle', response => void response.writeHead(302, { location: '/works/10.1000%2Fcircle' }).end()],
  ];

  test.each(hostile)('%s is unavailable, which is told without its words, and nothing is stored', async (what, answer) => {
    const before = await papers();
    const doi = what.includes('circle') ? '10.1000/circle' : `10.1000/${word()}`;
    crossref.answers[pathOf(doi)] = answer;
    const error = await refused({ doi });
    expect(error).toMatchObject({ code: 'UNAVAILABLE', retryAfter: 5 });
    expect(JSON.stringify(error)).not.toMatch(/maintenance|stack trace|169\.254|127\.0\.0\.1/);
    expect([await papers(), stranger.asked.length]).toEqual([before, 0]);
  });

  test('that leads to another address of its own is followed', async () => {
    const [alias, doi] = [`10.1000/${word()}`, `10.1000/${word()}`];
    crossref.answers[pathOf(alias)] = response => void response.writeHead(301, { location: pathOf(doi) }).end();
    crossref.answers[pathOf(doi)] = json(work(doi));
    expect((await take({ doi: alias })).doi).toBe(doi);
  });

  test('that does not answer is unavailable after four seconds', async () => {
    const doi = `10.1000/${word()}`;
    crossref.answers[pathOf(doi)] = () => undefined;
    const began = performance.now();
    expect(await refused({ doi })).toMatchObject({ code: 'UNAVAILABLE' });
    expect(performance.now() - began).toBeLessThan(8_000);
  });

  test('that asks for a pause gets it: the editor is told how long, and it is not asked again; the other one is', async () => {
    const doi = `10.1000/${word()}`;
    crossref.answers[pathOf(doi)] = response => void response.writeHead(429, { 'retry-after': '120' }).end();
    expect(await refused({ doi })).toMatchObject({ code: 'UNAVAILABLE', reason: 'BUSY', retryAfter: 120 });
    crossref.answers[pathOf(doi)] = json(work(doi));
    const again = await refused({ doi });
    expect([again!.code, crossref.asked.length]).toEqual(['UNAVAILABLE', 1]);
    pubmed.answers[SUMMARIES] = json(summary('31234570'));
    expect(await take({ pmid: '31234570' })).toMatchObject({ pmid: '31234570' });
  });
});

const NOW = Date.parse('2027-01-01T00:00:00Z');
test.each([
  ['120', 120],
  ['Fri, 01 Jan 2027 00:02:00 GMT', 120],
  ['Thu, 31 Dec 2026 00:00:00 GMT', 1],
  ['0', 1],
  ['999999', 3_600],
  ['soon', 60],
  [null, 60],
])('Retry-After %j is a wait of %d s', (header, seconds) => expect(waitOf(header, NOW)).toBe(seconds));

test.each([
  [[2019, 3, 5], '2019-03-05'],
  [[2019], '2019-01-01'],
  [[2019, 13], null],
  [[2019, 2, 30], null],
  [[null], null],
  [[], null],
])('the date of %j is %s', (parts, date) => expect(civilDate(parts)).toBe(date));

test.each([
  ['https://dx.doi.org/10.1000/A', '10.1000/a', null],
  ['10.1000/a b', null, null],
  ['123', null, '123'],
  ['pmid:123', null, '123'],
])('%j names the DOI %s and the PMID %s', (text, doi, pmid) => expect([doiIn(text), pmidIn(text)]).toEqual([doi, pmid]));

test.each([
  ['<p>H<sub>2</sub>O</p><p>and more.</p>', 20, 'H2O and more.'],
  ['<p></p>', 20, null],
  [undefined, 20, null],
])('the words of %j are %s', (markup, length, words) => expect(wordsOf(markup, length)).toBe(words));
