/** Documents of the search bench: words by Zipf's law, in the rows that publishing writes (subgraphs/content/commands/search-index.ts). */
import pg from 'pg';
import { random } from '../tests/chaos/support/random.ts';

/** Locale, search configuration, and the letter at the end of each word: languages share codes, not words. */
const LOCALES = [
  ['en', 'english', 'k'],
  ['de', 'german', 'z'],
  ['fr', 'french', 'x'],
];
const VOCABULARY = 20_000;
const [TITLE_WORDS, SUMMARY_WORDS, BODY_WORDS] = [6, 20, 120];
const BATCH = 500;
const CODED = 0.2;

const SYLLABLES = ['ba', 'do', 'ki', 'lu', 'me', 'no', 'pa', 'ra', 'si', 'to', 'vu', 'za', 'fe', 'gi', 'ho', 'ja'];
/** The word of a rank: four syllables and its language's letter, which no stemmer shortens to another's. */
const wordOf = (rank, letter = 'k') => [12, 8, 4, 0].map(shift => SYLLABLES[(rank >> shift) & 15]).join('') + letter;

/** Words by Zipf's law with exponent 1. */
export class Words {
  #sums = [];

  constructor(seed) {
    this.next = random(seed);
    let sum = 0;
    for (let rank = 1; rank <= VOCABULARY; rank++) this.#sums.push((sum += 1 / rank));
    this.total = sum;
  }

  #rank() {
    const wanted = this.next() * this.total;
    let [low, high] = [0, VOCABULARY - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#sums[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** @param least rank: the words that most documents have are left out. */
  word(least = 0, letter = 'k') {
    for (;;) {
      const rank = this.#rank();
      if (rank >= least) return wordOf(rank, letter);
    }
  }

  text(count, letter) {
    return Array.from({ length: count }, () => this.word(0, letter)).join(' ');
  }

  code() {
    return `xb-${Math.floor(this.next() * 2_000)}`;
  }
}

/** Ranks of words that at least 30 % of the documents have: 1 − (1 − p)^146 ≥ 0.3 for p = 1 / (rank × Σ 1/k). */
export const FREQUENT = 39;
export const frequentWord = rank => wordOf(rank);

const ROWS = `jsonb_to_recordset($1::jsonb) as r(id uuid, collection text, locale text, language text, slug text, title text, codes text[], summary text, body text, tags text[],
  data jsonb, at timestamptz)`;

const STATEMENTS = [
  `insert into content.content_item (id, collection, base_locale, status, created_at, updated_at, first_published_at)
   select distinct on (id) id, collection, 'en', 'PUBLISHED', at, at, at from ${ROWS} order by id`,
  `insert into content.content_publication (item_id, locale, any_locale, collection, audience, slug, title, tags, data, schema_version, revision, item_version,
     created_at, first_published_at, published_at, updated_at)
   select id, locale, false, collection, 'PUBLIC', slug, title, tags, data, 1, 1, 1, at, at, at, at from ${ROWS}`,
  `insert into content.content_document (item_id, locale, any_locale, collection, audience, slug, title, names, codes, summary, body, tsv, tags, goals, peptides, demoted, published_at)
   select id, locale, false, collection, 'PUBLIC', slug, title, content.fold(title), codes, summary, body,
     setweight(to_tsvector(language::regconfig, content.fold(title || ' ' || array_to_string(codes, ' '))), 'A')
       || setweight(to_tsvector(language::regconfig, content.fold(summary || ' ' || array_to_string(tags, ' '))), 'B')
       || setweight(to_tsvector(language::regconfig, content.fold(body)), 'D'),
     tags, '{}', '{}', false, at from ${ROWS}`,
];

function versionOf(words, { id, number, isArticle, code, at }, [locale, language, letter]) {
  const [title, summary, body] = [
    words.text(TITLE_WORDS, letter) + (code ? ` ${code}` : ''),
    words.text(SUMMARY_WORDS, letter),
    words.text(BODY_WORDS, letter),
  ];
  const doc = { type: 'doc', content: [{ type: 'paragraph', content: [{ type: 'text', text: body }] }] };
  const data = isArticle ? { title, excerpt: summary, body: doc, author: { name: 'Bench' } } : { question: title, answer: doc };
  const slug = isArticle ? `bench-${number}-${locale}` : null;
  const collection = isArticle ? 'LEARN_ARTICLES' : 'FAQS';
  const tags = [`tag-${number % 40}`];
  return { id, collection, locale, language, slug, title, codes: code ? [code.replace('-', '')] : [], summary, body, tags, data, at };
}

const idOf = number => `0190b3a0-0000-7000-9000-${number.toString(16).padStart(12, '0')}`;

/** Writes so many documents, each item in three languages. */
export async function writeDocuments(url, count, told) {
  const [words, client] = [new Words(7), new pg.Client({ connectionString: url })];
  await client.connect();
  try {
    for (let number = 0; number * LOCALES.length < count;) {
      const rows = [];
      for (let n = 0; n < BATCH && number * LOCALES.length < count; n++, number++) {
        const at = new Date(Date.UTC(2024, 0, 1) + (number % 900) * 86_400_000).toISOString();
        const item = { id: idOf(number), number, isArticle: number % 3 > 0, code: words.next() < CODED ? words.code() : null, at };
        for (const locale of LOCALES) rows.push(versionOf(words, item, locale));
      }
      const json = JSON.stringify(rows);
      for (const text of STATEMENTS) await client.query(text, [json]);
      told(Math.min(count, number * LOCALES.length));
    }
    await client.query('analyze');
  } finally {
    await client.end();
  }
}
