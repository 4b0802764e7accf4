import { z } from 'zod';
import type { Config } from '../../../runtime/config.js';
import { civilDate, doiIn, wordsOf, type Citation } from '../rules/citation.js';
import { CitationApi } from './citation-api.js';

const list = <One extends z.ZodType>(one: One) => z.array(one).default([]);

/** What is read of a work. Source: https://api.crossref.org/swagger-ui */
const WORK = z.object({
  message: z.object({
    DOI: z.string(),
    title: z.array(z.string()).min(1),
    author: list(z.object({ given: z.string().optional(), family: z.string().optional(), name: z.string().optional() })),
    'container-title': list(z.string()),
    issued: z.object({ 'date-parts': z.array(z.array(z.number().int().nullable())) }).optional(),
    URL: z.string().optional(),
    abstract: z.string().optional(),
    'updated-by': list(z.object({ type: z.string(), DOI: z.string().optional() })),
  }),
});
type Work = z.infer<typeof WORK>['message'];

const authorOf = ({ given, family, name }: Work['author'][number]): string => name ?? [given, family].filter(Boolean).join(' ');

function citationOf(work: Work, title: string): Citation {
  const retraction = work['updated-by'].find(({ type }) => type === 'retraction');
  return {
    title,
    authors: work.author.flatMap(one => wordsOf(authorOf(one), 200) ?? []).slice(0, 200),
    journal: wordsOf(work['container-title'][0], 200),
    publishedOn: civilDate(work.issued?.['date-parts'][0] ?? []),
    doi: doiIn(work.DOI),
    pmid: null,
    url: work.URL && /^https?:\/\/[^\s]{1,2000}$/i.test(work.URL) ? work.URL : null,
    abstract: wordsOf(work.abstract, 10_000),
    studyType: null,
    retracted: retraction !== undefined,
    retractionNotice: retraction ? `Retracted: ${retraction.DOI ?? 'notice at the publisher'}`.slice(0, 2_000) : null,
  };
}

/** Works by their DOI. `CROSSREF_URL`, in production the register's own; `CITATIONS_EMAIL` is told, which brings us to its polite pool. */
export class Crossref {
  readonly #api: CitationApi;

  constructor(private readonly config: Config) {
    this.#api = new CitationApi('Crossref', config.setting('CROSSREF_URL') ?? 'https://api.crossref.org', config);
  }

  /** @throws Problem unavailable. */
  async byDoi(doi: string): Promise<Citation | null> {
    const email = this.config.setting('CITATIONS_EMAIL');
    const answer = await this.#api.get(`/works/${encodeURIComponent(doi)}${email ? `?mailto=${encodeURIComponent(email)}` : ''}`);
    if (answer === null) return null;
    const { data, error } = WORK.safeParse(answer);
    const title = wordsOf(data?.message.title[0], 500);
    return data && title !== null ? citationOf(data.message, title) : this.#api.malformed(error);
  }
}
