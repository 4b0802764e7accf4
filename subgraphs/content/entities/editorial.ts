import { defineCollection, f } from './definition.js';

/** Who wrote something. */
const AUTHOR = {
  name: f.text({ required: true, max: 120, search: 'C' }),
  credentials: f.text({ max: 120 }),
  avatar: f.ref('MEDIA'),
};
const REVIEWER = { name: f.text({ required: true, max: 120 }), credentials: f.text({ max: 120 }) };
const DIFFICULTY = { name: 'LearnArticleDifficulty', values: ['INTRO', 'INTERMEDIATE', 'ADVANCED'] } as const;
const POST_KIND = { name: 'ContentPostKind', values: ['NEWS', 'ANNOUNCEMENT', 'STORY', 'REPLAY'] } as const;
const POLICY_KIND = {
  name: 'ContentPolicyKind',
  values: ['TERMS', 'PRIVACY', 'TELEHEALTH_CONSENT', 'HEALTH_DATA', 'COOKIES', 'REFUND', 'AFFILIATE', 'OTHER'],
} as const;

/** An article to learn from. */
export const learnArticles = defineCollection({
  collection: 'LEARN_ARTICLES',
  type: 'LearnArticle',
  one: 'learnArticle',
  list: 'learnArticles',
  bySlug: 'learnArticleBySlug',
  description: 'An article to learn from, with who wrote and who reviewed it.',
  title: 'title',
  summary: 'excerpt',
  image: 'hero',
  slug: true,
  searchable: true,
  facets: { peptide: 'relatedPeptides', goal: 'goals', evidence_level: undefined },
  filters: {
    difficulty: { field: 'difficulty', op: 'eq', as: DIFFICULTY },
    peptide: { field: 'relatedPeptides', op: 'eq', as: 'id' },
    goal: { field: 'goals', op: 'eq', as: 'id' },
  },
  fields: {
    title: f.text({ required: true, localized: true, max: 200, search: 'A' }),
    excerpt: f.text({ required: true, localized: true, max: 300, search: 'B' }),
    body: f.richText({ required: true, localized: true, search: 'D' }),
    hero: f.ref('MEDIA'),
    author: f.group('LearnArticleAuthor', AUTHOR, { required: true }),
    medicallyReviewedBy: f.group('LearnArticleReviewer', REVIEWER),
    reviewedOn: f.date(),
    nextReviewOn: f.date({ filter: true }),
    difficulty: f.enum(DIFFICULTY.name, DIFFICULTY.values, { filter: true }),
    relatedPeptides: f.ref('PEPTIDES', { many: true, filter: true }),
    relatedProducts: f.entity('Product', { many: true, filter: true }),
    goals: f.ref('GOALS', { many: true, filter: true }),
    citations: f.ref('RESEARCH_PAPERS', { many: true }),
  },
});

/** A page of a storefront, made of sections. */
export const pages = defineCollection({
  collection: 'PAGES',
  type: 'ContentPage',
  one: 'contentPage',
  list: 'contentPages',
  description: 'A page of a storefront, made of sections.',
  title: 'title',
  searchable: true,
  filters: { path: { field: 'path', op: 'eq' } },
  fields: {
    path: f.text({ required: true, localized: true, max: 200, pattern: '^/[a-z0-9/-]*$', unique: 'path_taken', filter: true }),
    title: f.text({ required: true, localized: true, max: 200, search: 'A' }),
    sections: f.blocks(
      'PageSection',
      {
        Hero: {
          heading: f.text({ required: true, max: 200, search: 'C' }),
          text: f.text({ max: 1000, search: 'D' }),
          image: f.ref('MEDIA'),
          href: f.text({ max: 500, pattern: '^(/|https://)' }),
          linkText: f.text({ max: 80 }),
        },
        RichText: { body: f.richText({ required: true, search: 'D' }) },
        Faq: { heading: f.text({ max: 200, search: 'C' }), faqs: f.ref('FAQS', { required: true, many: true }) },
        CardGrid: {
          heading: f.text({ max: 200, search: 'C' }),
          articles: f.ref('LEARN_ARTICLES', { many: true }),
          peptides: f.ref('PEPTIDES', { many: true }),
        },
        Cta: {
          heading: f.text({ required: true, max: 200, search: 'C' }),
          href: f.text({ required: true, max: 500, pattern: '^(/|https://)' }),
          linkText: f.text({ required: true, max: 80 }),
        },
        Media: { media: f.ref('MEDIA', { required: true }), caption: f.text({ max: 300, search: 'D' }) },
        Testimonial: { testimonials: f.ref('TESTIMONIALS', { required: true, many: true }) },
      },
      { required: true, localized: true, minItems: 1, maxItems: 40 },
    ),
  },
});

/** News, and stories of the house. */
export const posts = defineCollection({
  collection: 'POSTS',
  type: 'ContentPost',
  one: 'contentPost',
  list: 'contentPosts',
  description: 'News, announcements, stories and replays.',
  title: 'title',
  summary: 'excerpt',
  image: 'hero',
  slug: true,
  searchable: true,
  filters: { kind: { field: 'kind', op: 'eq', as: POST_KIND } },
  fields: {
    kind: f.enum(POST_KIND.name, POST_KIND.values, { required: true, filter: true }),
    title: f.text({ required: true, localized: true, max: 200, search: 'A' }),
    excerpt: f.text({ localized: true, max: 500, search: 'B' }),
    body: f.richText({ required: true, localized: true, search: 'D' }),
    hero: f.ref('MEDIA'),
    author: f.group('ContentPostAuthor', AUTHOR),
    liveSessionId: f.uuid(),
    pinnedUntil: f.dateTime(),
  },
});

/** What people agree to. Made by `putContentPolicy`, version by version. */
export const policies = defineCollection({
  collection: 'POLICIES',
  type: 'ContentPolicy',
  one: 'contentPolicy',
  list: 'contentPolicies',
  description: 'What people agree to, version by version.',
  title: 'title',
  slug: true,
  alwaysPublic: true,
  managed: true,
  searchable: true,
  filters: { kind: { field: 'kind', op: 'eq', as: POLICY_KIND } },
  fields: {
    kind: f.enum(POLICY_KIND.name, POLICY_KIND.values, { required: true, filter: true }),
    title: f.text({ required: true, localized: true, max: 200, search: 'A' }),
    body: f.richText({ required: true, localized: true, search: 'D' }),
  },
});

/** What a customer says, with their consent. */
export const testimonials = defineCollection({
  collection: 'TESTIMONIALS',
  type: 'Testimonial',
  one: 'testimonial',
  list: 'testimonials',
  description: 'What a customer says, shown with their consent.',
  title: 'displayName',
  searchable: false,
  filters: {
    productId: { field: 'product', op: 'eq', as: 'id' },
    peptide: { field: 'peptide', op: 'eq', as: 'id' },
    ratingMin: { field: 'rating', op: 'from', as: 'int' },
  },
  fields: {
    quote: f.text({ required: true, localized: true, max: 1000, personal: true }),
    displayName: f.text({ required: true, max: 120, personal: true }),
    user: f.entity('User', { personal: true }),
    avatar: f.ref('MEDIA', { personal: true }),
    rating: f.int({ min: 1, max: 5, filter: true }),
    product: f.entity('Product', { filter: true }),
    peptide: f.ref('PEPTIDES', { filter: true }),
    occurredOn: f.date(),
    consent: f.group(
      'TestimonialConsent',
      {
        givenAt: f.dateTime({ required: true }),
        scope: f.enum('TestimonialConsentScope', ['WEB', 'SOCIAL', 'ALL'], { required: true }),
        evidenceRef: f.text({ max: 200 }),
        withdrawnAt: f.dateTime(),
      },
      { required: true },
    ),
    incentivised: f.boolean(),
    disclaimer: f.text({ required: true, localized: true, max: 1000 }),
    verifiedPurchase: f.boolean({ derived: true }),
    moderation: f.enum('TestimonialModeration', ['PENDING', 'APPROVED', 'REJECTED']),
  },
});

/** Pictures and documents; their bytes are known by the upload. */
export const media = defineCollection({
  collection: 'MEDIA',
  type: 'ContentMedia',
  one: 'contentMedia',
  list: 'contentMediaList',
  description: 'A picture or document.',
  title: 'alt',
  filters: { kind: { field: 'kind', op: 'eq', as: { name: 'ContentMediaKind', values: ['IMAGE', 'DOCUMENT'] } } },
  fields: {
    kind: f.enum('ContentMediaKind', ['IMAGE', 'DOCUMENT'], { derived: true, filter: true }),
    alt: f.text({ localized: true, max: 300 }),
    caption: f.text({ localized: true, max: 500 }),
    credit: f.text({ max: 200 }),
    focalPoint: f.group('ContentFocalPoint', {
      x: f.float({ required: true, min: 0, max: 1 }),
      y: f.float({ required: true, min: 0, max: 1 }),
    }),
  },
});
