/**
 * Goals of search, content 4.4: 50,000 documents in three languages with words by Zipf's law. The platform runs on embedded PostgreSQL;
 * requests come one after the other, by REST. Exits with 1 when a goal is missed.
 *
 *   npm run bench:content
 *   DOCUMENTS=500000 npm run bench:content      ten times as much, where the goals are only shown
 */
import { randomUUID } from 'node:crypto';
import { FREQUENT, frequentWord, Words, writeDocuments } from './content-documents.mjs';
import { clientOf, judgeTimes, startPlatform, timesOf, withServer } from './one-service.mjs';

const DOCUMENTS = Number(process.env.DOCUMENTS ?? 50_000);
const SEARCHES = Number(process.env.SEARCHES ?? 300);
const PUBLISHED = 40;

/** What people search for: one word, two, a code, a typo, a word that is nowhere. */
function mix(words) {
  const kinds = [
    () => words.word(FREQUENT),
    () => words.word(FREQUENT),
    () => `${words.word(FREQUENT)} ${words.word(FREQUENT)}`,
    () => `${words.word(FREQUENT)} ${words.word()}`,
    () => words.code().replace('-', ['-', '', ' '][Math.floor(words.next() * 3)]),
    () => words.word(FREQUENT).replace(/.k$/, 'k'),
  ];
  return at => kinds[at % kinds.length]();
}

const search = (call, q, more = '&facets=type,tags') => call(`/v1/search?q=${encodeURIComponent(q)}&locale=en${more}`);

/** From before an article is published until another call finds it, ms. */
async function visibleIn(call, other) {
  const word = `neu${randomUUID().replaceAll('-', '').replaceAll(/\d/g, 'x').slice(0, 14)}`;
  const began = performance.now();
  await call('/v1/learn-articles', {
    title: `About ${word}`,
    excerpt: 'A bench',
    body: { html: '<p>Text</p>' },
    author: { name: 'Bench' },
    status: 'published',
    locale: 'en',
  });
  while ((await search(other, word, '')).total === 0);
  return performance.now() - began;
}

async function measure(call, other) {
  const words = new Words(99);
  const [next, goal] = [mix(words), DOCUMENTS <= 50_000];
  const sized = `${DOCUMENTS.toLocaleString('en')} documents`;
  judgeTimes(`mix with facets, ${sized}`, await timesOf(SEARCHES, at => search(call, next(at))), goal ? 80 : null);
  judgeTimes(`frequent words, ${sized}`, await timesOf(SEARCHES / 3, at => search(call, frequentWord(at % FREQUENT))), goal ? 200 : null);
  judgeTimes(`no match, ${sized}`, await timesOf(SEARCHES / 3, at => search(call, `qqqxxw${at}zzz`)), goal ? 80 : null);
  judgeTimes('published, and found here', await timesOf(PUBLISHED, () => visibleIn(call, call)), goal ? 1_000 : null);
  judgeTimes('published, and found in another process', await timesOf(PUBLISHED, () => visibleIn(call, other)), goal ? 2_000 : null);
}

await withServer('content', async (url, folder) => {
  const call = await clientOf(await startPlatform(url, folder, 'content'), '/content');
  const began = performance.now();
  await writeDocuments(url, DOCUMENTS, done => {
    if (done % 15_000 === 0 || done === DOCUMENTS) process.stderr.write(`  ${done} of ${DOCUMENTS} documents\n`);
  });
  console.log(`${DOCUMENTS} documents written in ${((performance.now() - began) / 1000).toFixed(0)} s`);
  const other = await startPlatform(url, folder, 'content');
  await measure(call, await clientOf(other, '/content'));
});
