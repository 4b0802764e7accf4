import { z } from 'zod';
import type { Config } from '../../../runtime/config.js';
import { civilDate, doiIn, wordsOf, type Citation } from '../rules/citation.js';
import { CitationApi } from './citation-api.js';

const ANSWER = z.object({ result: z.record(z.string(), z.unknown()) });
const list = <One extends z.ZodType>(one: One) => z.array(one).default([]);

/** What is read of a summary. Source: https://www.ncbi.nlm.nih.gov/books/NBK25499/#chapter4.ESummary */
const SUMMARY = z.object({
  title: z.string(),
  authors: list(z.object({ name: z.string() })),
  fulljournalname: z.string().optional(),
  sortpubdate: z.string().optional(),
  pubtype: list(z.string()),
  articleids: list(z.object({ idtype: z.string(), value: z.string() })),
});
type Summary = z.infer<typeof SUMMARY>;

/** The register's types of publications that are types of studies here, the strongest first. */
const STUDIES: readonly (readonly [string, string])[] = [
  ['Meta-Analysis', 'META_ANALYSIS'],
  ['Randomized Controlled Trial', 'RCT'],
  ['Case Reports', 'CASE_SERIES'],
  ['Review', 'REVIEW'],
];

function citationOf(summary: Summary, pmid: string, title: string): Citation {
  const retracted = summary.pubtype.includes('Retracted Publication');
  const date = /^(\d{4})\/(\d{2})\/(\d{2})/.exec(summary.sortpubdate ?? '');
  return {
    title: title.replace(/\.$/, ''),
    authors: summary.authors.flatMap(({ name }) => wordsOf(name, 200) ?? []).slice(0, 200),
    journal: wordsOf(summary.fulljournalname, 200),
    publishedOn: civilDate(date?.slice(1).map(Number) ?? []),
    doi: doiIn(summary.articleids.find(({ idtype }) => idtype === 'doi')?.value ?? ''),
    pmid,
    url: `https://pubmed.ncbi.nlm.nih.gov/${pmid}/`,
    abstract: null,
    studyType: STUDIES.find(([type]) => summary.pubtype.includes(type))?.[1] ?? null,
    retracted,
    retractionNotice: retracted ? 'Retracted, as PubMed says' : null,
  };
}

/** Summaries by their PMID. `PUBMED_URL`, in production the register's own. */
export class PubMed {
  readonly #api: CitationApi;

  constructor(private readonly config: Config) {
    this.#api = new CitationApi('PubMed', config.setting('PUBMED_URL') ?? 'https://eutils.ncbi.nlm.nih.gov', config);
  }

  /** @throws Problem unavailable. */
  async byPmid(pmid: string): Promise<Citation | null> {
    const email = this.config.setting('CITATIONS_EMAIL');
    const query = new URLSearchParams({ db: 'pubmed', retmode: 'json', id: pmid, tool: 'platform-content', ...(email && { email }) });
    const answer = await this.#api.get(`/entrez/eutils/esummary.fcgi?${query}`);
    if (answer === null) return null;
    const { data: known, error } = ANSWER.safeParse(answer);
    if (!known) return this.#api.malformed(error);
    return this.#summary(known.result[pmid], pmid);
  }

  /** Of an unknown PMID there is nothing, or an `error`. */
  #summary(summary: unknown, pmid: string): Citation | null {
    if (summary === undefined || (typeof summary === 'object' && summary !== null && 'error' in summary)) return null;
    const { data, error } = SUMMARY.safeParse(summary);
    const title = wordsOf(data?.title, 500);
    return data && title !== null ? citationOf(data, pmid, title) : this.#api.malformed(error);
  }
}
