import type { ServiceHost } from '../../../runtime/request/context.js';
import type { Citation } from '../rules/citation.js';
import { Crossref } from './crossref.js';
import { PubMed } from './pubmed.js';

/** Registers of published studies. */
export interface Citations {
  /** Null for an unknown one. @throws Problem unavailable. */
  byDoi(doi: string): Promise<Citation | null>;
  byPmid(pmid: string): Promise<Citation | null>;
}

const paper = (known: Partial<Citation> & { title: string; doi: string; pmid: string }): Citation => ({
  authors: ['R. Example', 'S. Sample'],
  journal: 'Journal of Examples',
  publishedOn: '2021-05-01',
  url: `https://doi.org/${known.doi}`,
  abstract: null,
  studyType: null,
  retracted: false,
  retractionNotice: null,
  ...known,
});

/** Studies that there are not; `10.5555` is the registers' own prefix for examples. */
const EXAMPLES: readonly Citation[] = [
  paper({ title: 'Storage of lyophilised peptides at three temperatures', doi: '10.5555/import.1', pmid: '90000001', studyType: 'RCT' }),
  paper({ title: 'Methods of identity testing compared', doi: '10.5555/import.2', pmid: '90000002', studyType: 'REVIEW' }),
  paper({
    title: 'A study that was withdrawn',
    doi: '10.5555/import.3',
    pmid: '90000003',
    retracted: true,
    retractionNotice: 'Retracted: 10.5555/import.3.r',
  }),
];

/** Offline: a few examples. */
const embedded: Citations = {
  byDoi: async doi => EXAMPLES.find(one => one.doi === doi) ?? null,
  byPmid: async pmid => EXAMPLES.find(one => one.pmid === pmid) ?? null,
};

function outside({ config }: ServiceHost): Citations {
  const [crossref, pubmed] = [new Crossref(config), new PubMed(config)];
  return { byDoi: doi => crossref.byDoi(doi), byPmid: pmid => pubmed.byPmid(pmid) };
}

const known = new WeakMap<ServiceHost, Citations>();

/** `CONTENT_CITATIONS=registers`: Crossref and PubMed; else a few examples. */
export function citationsOf(host: ServiceHost): Citations {
  let citations = known.get(host);
  if (!citations) known.set(host, (citations = host.config.setting('CONTENT_CITATIONS') === 'registers' ? outside(host) : embedded));
  return citations;
}
