import { defineCollection, f, type Field } from './definition.js';

export const EVIDENCE = {
  name: 'ContentEvidenceLevel',
  values: ['HUMAN_RCT', 'HUMAN_OBSERVATIONAL', 'ANIMAL', 'IN_VITRO', 'ANECDOTAL'],
} as const;
const evidence = (required = false): Field => f.enum(EVIDENCE.name, EVIDENCE.values, { required, filter: true });
const STUDIES = {
  name: 'ContentStudyType',
  values: ['META_ANALYSIS', 'RCT', 'COHORT', 'CASE_CONTROL', 'CASE_SERIES', 'ANIMAL', 'IN_VITRO', 'REVIEW'],
} as const;

/** A question that people ask, and its answer. */
export const faqs = defineCollection({
  collection: 'FAQS',
  type: 'Faq',
  one: 'faq',
  list: 'faqs',
  description: 'A question that people ask, and its answer.',
  title: 'question',
  searchable: true,
  sorts: ['POSITION'],
  facets: { peptide: 'relatedPeptides', goal: undefined, evidence_level: undefined },
  filters: { category: { field: 'category', op: 'eq' } },
  fields: {
    question: f.text({ required: true, localized: true, max: 300, search: 'A' }),
    answer: f.richText({ required: true, localized: true, search: 'D' }),
    category: f.text({ max: 64, filter: true }),
    position: f.int({ min: 0, max: 100_000, filter: true }),
    relatedPeptides: f.ref('PEPTIDES', { many: true, filter: true }),
    relatedProducts: f.entity('Product', { many: true }),
  },
});

/** What a member wants to reach. */
export const goals = defineCollection({
  collection: 'GOALS',
  type: 'ContentGoal',
  one: 'contentGoal',
  list: 'contentGoals',
  description: 'What a member wants to reach, with what belongs to it.',
  title: 'name',
  summary: 'summary',
  slug: true,
  searchable: true,
  sorts: ['POSITION'],
  facets: { peptide: 'relatedPeptides', goal: undefined, evidence_level: undefined },
  fields: {
    name: f.text({ required: true, localized: true, max: 120, search: 'A' }),
    summary: f.text({ required: true, localized: true, max: 500, search: 'B' }),
    icon: f.text({ max: 64, pattern: '^[a-z0-9-]+$' }),
    position: f.int({ min: 0, max: 100_000, filter: true }),
    relatedPeptides: f.ref('PEPTIDES', { many: true, filter: true }),
    relatedStacks: f.ref('STACKS', { many: true }),
    biomarkerCodes: f.text({ many: true, max: 48, maxItems: 50, filter: true, pattern: '^[a-z][a-z0-9_]{1,47}$' }),
    articles: f.ref('LEARN_ARTICLES', { many: true }),
  },
});

/** A peptide as an encyclopaedia tells of it. */
export const peptides = defineCollection({
  collection: 'PEPTIDES',
  type: 'Peptide',
  one: 'peptide',
  list: 'peptides',
  bySlug: 'peptideBySlug',
  description: 'A peptide as an encyclopaedia tells of it.',
  title: 'name',
  summary: 'summary',
  names: ['aliases', 'casNumber'],
  slug: true,
  searchable: true,
  facets: { goal: 'goals', evidence_level: 'evidenceLevel', peptide: undefined },
  filters: {
    evidenceLevel: { field: 'evidenceLevel', op: 'eq', as: EVIDENCE },
    goal: { field: 'goals', op: 'eq', as: 'id' },
    q: { field: 'name', op: 'text' },
  },
  fields: {
    name: f.text({ required: true, max: 120, search: 'A' }),
    aliases: f.text({ many: true, max: 120, maxItems: 20, search: 'A' }),
    sequence: f.text({ max: 500, pattern: '^[A-Z-]+$' }),
    molecularFormula: f.text({ max: 100, pattern: '^[A-Za-z0-9()·.]+$' }),
    molecularWeight: f.float({ min: 0, max: 1_000_000, description: 'g/mol.' }),
    casNumber: f.text({ max: 14, pattern: '^\\d{2,7}-\\d{2}-\\d$', unique: 'cas_taken', search: 'A' }),
    summary: f.text({ required: true, localized: true, max: 1000, search: 'B' }),
    mechanism: f.richText({ localized: true, search: 'D' }),
    routes: f.text({ many: true, max: 64, maxItems: 10 }),
    halfLifeHours: f.float({ min: 0, max: 10_000 }),
    storage: f.text({ localized: true, max: 500 }),
    contraindications: f.richText({ localized: true, search: 'D' }),
    evidenceLevel: evidence(true),
    regulatory: f.group(
      'PeptideRegulation',
      {
        countryCode: f.country({ required: true }),
        status: f.enum('PeptideRegulationStatus', ['APPROVED', 'COMPOUNDED', 'RESEARCH_ONLY', 'PROHIBITED'], { required: true }),
        asOf: f.date({ required: true }),
      },
      { many: true, maxItems: 60 },
    ),
    papers: f.ref('RESEARCH_PAPERS', { many: true, connection: true }),
    products: f.entity('Product', { many: true }),
    goals: f.ref('GOALS', { many: true, filter: true }),
    disclaimer: f.text({ required: true, localized: true, max: 1000 }),
  },
});

/** A published study. */
export const researchPapers = defineCollection({
  collection: 'RESEARCH_PAPERS',
  type: 'ResearchPaper',
  one: 'researchPaper',
  list: 'researchPapers',
  description: 'A published study. A retracted one stays readable, and says so.',
  title: 'title',
  summary: 'plainSummary',
  names: ['doi', 'pmid'],
  scope: 'read:research_papers',
  searchable: true,
  facets: { peptide: 'peptides', goal: 'goals', evidence_level: 'evidenceLevel' },
  filters: {
    doi: { field: 'doi', op: 'eq' },
    pmid: { field: 'pmid', op: 'eq' },
    studyType: { field: 'studyType', op: 'eq', as: STUDIES },
    peptide: { field: 'peptides', op: 'eq', as: 'id' },
    publishedFrom: { field: 'publishedOn', op: 'from', as: 'date' },
    publishedTo: { field: 'publishedOn', op: 'to', as: 'date' },
    retracted: { field: 'retracted', op: 'eq', as: 'boolean' },
  },
  fields: {
    title: f.text({ required: true, max: 500, search: 'A' }),
    authors: f.text({ required: true, many: true, max: 200, minItems: 1, maxItems: 200, search: 'C' }),
    journal: f.text({ max: 200, search: 'C' }),
    publishedOn: f.date({ required: true, filter: true }),
    doi: f.text({ max: 200, lower: true, pattern: '^10\\.\\d{4,9}/\\S+$', unique: 'doi_exists', filter: true, search: 'A' }),
    pmid: f.text({ max: 12, pattern: '^\\d{1,12}$', unique: 'pmid_exists', filter: true, search: 'A' }),
    url: f.url(),
    abstract: f.text({ max: 10_000, search: 'D' }),
    plainSummary: f.text({ localized: true, max: 2000, search: 'B' }),
    studyType: f.enum(STUDIES.name, STUDIES.values, { filter: true }),
    species: f.text({ max: 64 }),
    sampleSize: f.int({ min: 0, max: 100_000_000 }),
    evidenceLevel: evidence(),
    retracted: f.boolean({ filter: true }),
    retractionNotice: f.text({ max: 2000 }),
    peptides: f.ref('PEPTIDES', { many: true, filter: true }),
    goals: f.ref('GOALS', { many: true, filter: true }),
  },
});

/** Peptides that are used together. */
export const stacks = defineCollection({
  collection: 'STACKS',
  type: 'ContentStack',
  one: 'contentStack',
  list: 'contentStacks',
  description: 'Peptides that are described together.',
  title: 'name',
  summary: 'summary',
  slug: true,
  searchable: true,
  facets: { goal: 'goals', evidence_level: 'evidenceLevel', peptide: undefined },
  filters: { goal: { field: 'goals', op: 'eq', as: 'id' }, peptide: { field: 'components.peptide', op: 'eq', as: 'id' } },
  fields: {
    name: f.text({ required: true, localized: true, max: 120, search: 'A' }),
    summary: f.text({ required: true, localized: true, max: 1000, search: 'B' }),
    body: f.richText({ localized: true, search: 'D' }),
    components: f.group(
      'ContentStackComponent',
      { peptide: f.ref('PEPTIDES', { required: true, filter: true }), role: f.text({ max: 200 }), order: f.int({ min: 0, max: 1000 }) },
      { required: true, localized: false, many: true, minItems: 1, maxItems: 20 },
    ),
    goals: f.ref('GOALS', { many: true, filter: true }),
    products: f.entity('Product', { many: true }),
    protocolDetail: f.ref('PROTOCOL_DETAILS'),
    safetyWarnings: f.text({ required: true, localized: true, max: 2000, search: 'D' }),
    evidenceLevel: evidence(),
  },
});

/** What a protocol of clinical asks of a member, in words. */
export const protocolDetails = defineCollection({
  collection: 'PROTOCOL_DETAILS',
  type: 'ProtocolDetail',
  one: 'protocolDetail',
  list: 'protocolDetails',
  description: 'What a protocol asks of a member, in words.',
  title: 'title',
  summary: 'summary',
  slug: true,
  oneBySlug: true,
  searchable: true,
  facets: { peptide: 'peptides', goal: undefined, evidence_level: undefined },
  fields: {
    title: f.text({ required: true, localized: true, max: 200, search: 'A' }),
    summary: f.text({ required: true, localized: true, max: 1000, search: 'B' }),
    protocolKey: f.text({ max: 64, filter: true, pattern: '^[a-z0-9][a-z0-9_-]*$' }),
    phases: f.group(
      'ProtocolDetailPhase',
      {
        name: f.text({ required: true, max: 120, search: 'C' }),
        weeks: f.int({ min: 1, max: 520 }),
        guidance: f.richText({ search: 'D' }),
        monitoring: f.text({ max: 1000 }),
      },
      { required: true, localized: true, many: true, minItems: 1, maxItems: 20 },
    ),
    biomarkerCodes: f.text({ many: true, max: 48, maxItems: 50, filter: true, pattern: '^[a-z][a-z0-9_]{1,47}$' }),
    contraindications: f.richText({ localized: true, search: 'D' }),
    peptides: f.ref('PEPTIDES', { many: true, filter: true }),
    stacks: f.ref('STACKS', { many: true }),
    faqs: f.ref('FAQS', { many: true }),
    papers: f.ref('RESEARCH_PAPERS', { many: true }),
    medicallyReviewedBy: f.group(
      'ProtocolDetailReviewer',
      { name: f.text({ required: true, max: 120 }), credentials: f.text({ max: 120 }) },
      { required: true },
    ),
    reviewedOn: f.date({ required: true }),
    nextReviewOn: f.date({ filter: true }),
  },
});
