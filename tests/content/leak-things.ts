/** What must not leak: an item of every state, audience and brand, with a word of its own in every field. Source: content 10.26. */
import { createHash } from 'node:crypto';
import sharp from 'sharp';
import { request } from 'undici';
import { newId } from '../../runtime/data/ids.js';
import { definitionOf } from '../../subgraphs/content/entities/collections.js';
import type { ContentCollection } from '../../subgraphs/content/entities/enums.js';
import { BRAND } from '../support/platform.js';
import { word, type Editors } from './fixture.js';

export const SECOND = '0190b3a0-0000-7000-8000-000000000002';
/** The seeded report of the laboratory, which is published. */
const REPORT = '0190b3a0-0000-7000-8000-0000000c0900';

export interface Thing {
  collection: ContentCollection;
  /** What hides it; `open` for what everybody may read. */
  why: Why;
  id: string;
  slug: string | null;
  /** Stands in all its texts, its slug and its address. */
  canary: string;
  code?: string;
}

export type Why = 'open' | 'draft' | 'scheduled' | 'archived' | 'unpublished' | 'foreign' | 'own' | 'member' | 'partner';
/** Of these a publication lies in the tables. */
export const DELIVERED: readonly Why[] = ['open', 'foreign', 'own', 'member', 'partner'];

/** Everything that stands in the matrix refers to these, and bears the tag. */
export interface Shared {
  tag: string;
  peptide: string;
  goal: string;
  publishAt: string;
}

const MORE: Readonly<Record<Why, object>> = {
  open: {},
  draft: {},
  scheduled: {},
  archived: {},
  unpublished: {},
  foreign: { brand_id: SECOND, locale: 'en' },
  own: { brand_id: BRAND },
  member: { audience: 'member' },
  partner: { audience: 'partner' },
};

const seoOf = (canary: string) => ({
  title: `${canary} seo`,
  description: `${canary} described`,
  canonical_url: `https://${canary}.example.com/`,
});
const richOf = (canary: string) => ({ html: `<h2>${canary} heading</h2><p>${canary} text</p>` });
const commonOf = (canary: string, { tag }: Shared) => ({ tags: [tag, canary], seo: seoOf(canary) });

type Body = (canary: string, shared: Shared) => Record<string, unknown>;

/** Bodies of the POST requests. */
const BODIES: Readonly<Partial<Record<ContentCollection, Body>>> = {
  LEARN_ARTICLES: (canary, { peptide, goal }) => ({
    slug: canary,
    title: `${canary} title`,
    excerpt: `${canary} excerpt`,
    body: richOf(canary),
    author: { name: `${canary} author`, credentials: `${canary} credentials` },
    medically_reviewed_by: { name: `${canary} reviewer` },
    related_peptide_ids: [peptide],
    goal_ids: [goal],
  }),
  GOALS: canary => ({ slug: canary, name: `${canary} goal`, summary: `${canary} summary`, icon: canary, biomarker_codes: ['ldl_c'] }),
  PEPTIDES: (canary, { goal }) => ({
    slug: canary,
    name: `${canary} peptide`,
    aliases: [`${canary} alias`],
    summary: `${canary} summary`,
    mechanism: richOf(canary),
    storage: `${canary} storage`,
    contraindications: richOf(canary),
    evidence_level: 'animal',
    disclaimer: `${canary} disclaimer`,
    goal_ids: [goal],
  }),
  FAQS: (canary, { peptide }) => ({
    question: `${canary} question`,
    answer: richOf(canary),
    category: canary,
    related_peptide_ids: [peptide],
  }),
  RESEARCH_PAPERS: (canary, { peptide, goal }) => ({
    title: `${canary} paper`,
    authors: [`${canary} author`],
    journal: `${canary} journal`,
    published_on: '2020-01-01',
    doi: `10.1000/${canary}`,
    url: `https://${canary}.example.com/`,
    abstract: `${canary} abstract`,
    plain_summary: `${canary} summary`,
    peptide_ids: [peptide],
    goal_ids: [goal],
  }),
  COAS: canary => ({
    product_name: `${canary} product`,
    variant_sku: `${canary} sku`,
    batch_number: `${canary} batch`,
    lot_number: `${canary} lot`,
    report_number: `${canary} report`,
    lab: { name: `${canary} laboratory`, accreditation: `${canary} accreditation` },
    tested_on: '2026-10-02',
    issued_on: '2026-10-05',
    results: [{ test: 'appearance', method: `${canary} method`, result_text: `${canary} result`, verdict: 'pass' }],
    file_id: REPORT,
  }),
};

/** Collections in which every reason is tried, and those in which the main ones are. */
const EVERY: readonly ContentCollection[] = ['LEARN_ARTICLES', 'GOALS', 'COAS'];
const SOME: readonly ContentCollection[] = ['PEPTIDES', 'FAQS', 'RESEARCH_PAPERS'];
const MAIN_REASONS: readonly Why[] = ['open', 'draft', 'foreign', 'member'];

const pathOf = (collection: ContentCollection): string => `/${collection.toLowerCase().replaceAll('_', '-')}`;

async function take(e: Editors, why: Why, id: string): Promise<void> {
  const mutation = { archived: 'archiveContent(id: $id)', unpublished: 'unpublishContent(input: { id: $id })' }[why as string];
  if (mutation) await e.ask(`mutation ($id: ID!) { ${mutation} { id } }`, { id });
}

async function make(e: Editors, collection: ContentCollection, why: Why, shared: Shared): Promise<Thing> {
  const canary = word();
  const time = why === 'draft' ? {} : why === 'scheduled' ? { publish_at: shared.publishAt } : { status: 'published' };
  const body = { ...BODIES[collection]!(canary, shared), ...commonOf(canary, shared), ...MORE[why], ...time };
  const made = await e.make(pathOf(collection), body);
  await take(e, why, made.id);
  return { collection, why, id: made.id, slug: made.slug, canary, code: made.verification_code };
}

/** A page, which has an address and no slug; made by GraphQL alone. */
async function makePage(e: Editors, why: Why, { tag }: Shared, articles: readonly string[]): Promise<Thing> {
  const canary = word();
  const { brand_id: brandId, locale, audience } = MORE[why] as { brand_id?: string; locale?: string; audience?: string };
  const input = {
    path: `/${canary}`,
    title: `${canary} page`,
    tags: [tag, canary],
    sections: [{ hero: { heading: `${canary} hero`, text: `${canary} text` } }, { cardGrid: { heading: canary, articleIds: articles } }],
    ...(brandId && { brandId, locale }),
    ...(audience && { audience: audience.toUpperCase() }),
  };
  const { createContentPage: page } = await e.ask(
    'mutation ($input: ContentPageCreateInput!) { createContentPage(input: $input) { id } }',
    { input },
  );
  if (why !== 'draft') await e.publish(page.id, { allowDanglingReferences: true });
  return { collection: 'PAGES', why, id: page.id, slug: null, canary };
}

/** A picture whose bytes are there and that nothing published shows. */
export async function makePicture(e: Editors): Promise<Thing & { sha256: string }> {
  const canary = word();
  const [red, green, blue] = createHash('sha256').update(canary).digest();
  const bytes = await sharp({ create: { width: 40, height: 30, channels: 3, background: { r: red!, g: green!, b: blue! } } })
    .png()
    .toBuffer();
  const { createMediaUpload: made } = await e.ask(
    'mutation ($input: CreateMediaUploadInput!) { createMediaUpload(input: $input) { media { id } uploadUrl } }',
    { input: { filename: `${canary}.png`, bytes: bytes.length, mimeType: 'image/png' } },
  );
  const { body } = await request(made.uploadUrl, { method: 'PUT', body: bytes });
  await body.dump();
  const { id } = made.media;
  await e.update('ContentMedia', id, { alt: `${canary} alt`, caption: `${canary} caption`, credit: `${canary} credit` });
  const { contentMedia } = await e.ask('query ($id: ID!) { contentMedia(id: $id) { sha256 } }', { id });
  return { collection: 'MEDIA', why: 'draft', id, slug: null, canary, sha256: contentMedia.sha256 };
}

/** A policy whose first text is still to come. */
async function makeAnnounced(e: Editors, { publishAt }: Shared): Promise<Thing> {
  const canary = word();
  const body = { kind: 'other', title: `${canary} policy`, body: richOf(canary), requires_acceptance: true, effective_at: publishAt };
  const { body: made } = await e.rest('PUT', `/policies/${canary}`, body);
  return { collection: 'POLICIES', why: 'scheduled', id: made.id, slug: canary, canary };
}

/** Items of the matrix. */
export async function makeThings(e: Editors, shared: Shared): Promise<Thing[]> {
  const things: Thing[] = [await makePicture(e), await makeAnnounced(e, shared)];
  const whole = Object.keys(MORE) as Why[];
  for (const [collections, reasons] of [
    [EVERY, whole],
    [SOME, MAIN_REASONS],
  ] as const)
    for (const collection of collections) things.push(...(await Promise.all(reasons.map(why => make(e, collection, why, shared)))));
  const articles = things.filter(({ collection }) => collection === 'LEARN_ARTICLES').map(({ id }) => id);
  for (const why of MAIN_REASONS) things.push(await makePage(e, why, shared, articles));
  return things;
}

const idsOf = (things: readonly Thing[], collection: ContentCollection): string[] =>
  things.filter(one => one.collection === collection).map(({ id }) => id);

const marked = (text: string, mark: object) => ({ type: 'paragraph', content: [{ type: 'text', text, marks: [mark] }] });

/** An article for everybody that refers to all of them: by its fields, by links and citations in its text. */
export async function makeHub(e: Editors, shared: Shared, things: readonly Thing[]): Promise<Thing> {
  const canary = word();
  const content = [
    ...idsOf(things, 'RESEARCH_PAPERS').map(paperId => marked('a study', { type: 'citation', attrs: { paperId } })),
    ...idsOf(things, 'LEARN_ARTICLES').map(id => marked('an article', { type: 'link', attrs: { href: `content:${id}` } })),
  ];
  const made = await e.make('/learn-articles', {
    ...BODIES.LEARN_ARTICLES!(canary, shared),
    ...commonOf(canary, shared),
    body: { json: { type: 'doc', content } },
    related_peptide_ids: idsOf(things, 'PEPTIDES'),
    goal_ids: idsOf(things, 'GOALS'),
    citation_ids: idsOf(things, 'RESEARCH_PAPERS'),
  });
  await e.publish(made.id, { allowDanglingReferences: true });
  const { id: peptide } = things.find(({ collection, why }) => collection === 'PEPTIDES' && why === 'open')!;
  await e.update('Peptide', peptide, { goalIds: idsOf(things, 'GOALS') }); // the search by goal looks for this one's words
  await e.publish(peptide, { allowDanglingReferences: true });
  return { collection: 'LEARN_ARTICLES', why: 'open', id: made.id, slug: made.slug, canary };
}

/** What is not there at all, in the form of a thing. */
export const absentLike = ({ collection, slug, code, why }: Thing): Thing => {
  const canary = word();
  return { collection, why, id: newId(), slug: slug === null ? null : canary, canary, ...(code && { code: 'ABCD-EFGH-2345' }) };
};

export const definitionFor = ({ collection }: Thing) => definitionOf(collection);
