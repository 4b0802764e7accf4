import { get, post, type Exceptions, type Route } from '../../route.js';

const RICH = '{ html json text toc { level id text } wordCount readingMinutes }';
const COMMON = `id collection brandId slug status hasUnpublishedChanges locale requestedLocale availableLocales revision version title audience tags publishedAt
  firstPublishedAt updatedAt createdAt seo { title description canonicalUrl noIndex imageUrl } alternates { locale slug } scheduled { releaseId publishAt revision stale }
  warnings`;
const LINK = 'id slug title';
const FILE = 'id mimeType url width height alt blurhash';
const PRODUCTS = 'relatedProducts { id }';
const ALIAS = 'id slug name title';

const COA = `${COMMON} productName product { id } variantSku batchNumber lotNumber reportNumber lab { name accreditation url } sampleReceivedOn testedOn issuedOn expiresOn
  results { test method specification resultText resultValue unit verdict } purityPercent identityConfirmed verdict file { ${FILE} } fileSha256 verificationUrl
  verificationCode supersedes { id reportNumber } supersededBy { id reportNumber }`;
const FAQ = `${COMMON} question answer ${RICH} category position relatedPeptides { ${ALIAS} } ${PRODUCTS}`;
const GOAL = `${COMMON} name summary icon position relatedPeptides { ${ALIAS} } relatedStacks { ${ALIAS} } biomarkerCodes articles { ${LINK} }`;
const AUTHOR = 'author { name credentials avatar { id url alt } }';
const ARTICLE = `${COMMON} excerpt body ${RICH} hero { ${FILE} } ${AUTHOR} medicallyReviewedBy { name credentials } reviewedOn nextReviewOn difficulty
  relatedPeptides { ${ALIAS} } ${PRODUCTS} citations { id title doi retracted }`;
export const MEDIA = `${COMMON} kind mediaStatus mimeType bytes sha256 width height alt caption credit focalPoint { x y } blurhash url renditions { width format url }
  usages { id collection slug title }`;
const SECTION = `kind: __typename ... on HeroSection { heading text image { ${FILE} } href linkText } ... on RichTextSection { body ${RICH} }
  ... on FaqSection { heading faqs { id question answer ${RICH} } } ... on CardGridSection { heading articles { ${LINK} } peptides { ${LINK} } }
  ... on CtaSection { heading href linkText } ... on MediaSection { media { ${FILE} } caption }
  ... on TestimonialSection { testimonials { id quote displayName rating disclaimer } }`;
const PAGE = `${COMMON} path sections { ${SECTION} }`;
const PEPTIDE = `${COMMON} name aliases sequence molecularFormula molecularWeight casNumber summary mechanism ${RICH} routes halfLifeHours storage
  contraindications ${RICH} evidenceLevel regulatory { countryCode status asOf } products { id } goals { ${LINK} } disclaimer`;
const VERSION = `version title body ${RICH} bodySha256 summaryOfChanges effectiveAt requiresAcceptance`;
const POLICY = `${COMMON} kind current { ${VERSION} } upcoming { ${VERSION} } versions { version title effectiveAt requiresAcceptance bodySha256 summaryOfChanges }`;
const POST = `${COMMON} kind excerpt body ${RICH} hero { ${FILE} } ${AUTHOR} liveSessionId pinnedUntil`;
const PROTOCOL = `${COMMON} summary protocolKey phases { name weeks guidance ${RICH} monitoring } biomarkerCodes contraindications ${RICH} peptides { ${LINK} }
  stacks { ${LINK} } faqs { id question } medicallyReviewedBy { name credentials } reviewedOn nextReviewOn`;
const PAPER = `${COMMON} authors journal publishedOn doi pmid url abstract plainSummary studyType species sampleSize evidenceLevel retracted retractionNotice
  peptides { ${LINK} } goals { ${LINK} }`;
const STACK = `${COMMON} name summary body ${RICH} components { peptide { ${LINK} } role order } goals { ${LINK} } products { id } protocolDetail { ${LINK} } safetyWarnings
  evidenceLevel`;
const TESTIMONIAL = `${COMMON} quote displayName avatar { id url alt } rating product { id } peptide { ${LINK} } occurredOn incentivised disclaimer verifiedPurchase`;

const VARY = 'Authorization, Accept-Language, X-Platform-Preview';
/** Answers differ by reader and language. Source: content 4.3. */
const delivered: Exceptions = { etag: true, vary: VARY, language: 'locale' };
const moved = (path: string): Exceptions => ({ ...delivered, status: [200, 301], moved: path });
const created = (conflict: string, request: object): Exceptions => ({
  status: 201,
  problems: { 409: conflict },
  example: { request },
});

const title = 'How to read a certificate';

export const items: Route[] = [
  get('/v1/coas', 'coas', COA, 'List certificates of analysis', delivered),
  post(
    '/v1/coas',
    'createCoa',
    COA,
    'Make a certificate of analysis',
    created('The laboratory has reported under this number', { product_name: 'BPC-157 5 mg' }),
  ),
  get('/v1/coas/{id}', 'coa', COA, 'Read a certificate of analysis', delivered),
  get('/v1/faqs', 'faqs', FAQ, 'List questions and answers', delivered),
  post('/v1/faqs', 'createFaq', FAQ, 'Make a question and its answer', created('It is taken', { question: 'How is it stored?' })),
  get('/v1/faqs/{id}', 'faq', FAQ, 'Read a question and its answer', delivered),
  get('/v1/goals', 'contentGoals', GOAL, 'List goals', delivered),
  post('/v1/goals', 'createContentGoal', GOAL, 'Make a goal', created('The slug is taken', { name: 'Recovery' })),
  get('/v1/goals/{id}', 'contentGoal', GOAL, 'Read a goal', delivered),
  get('/v1/learn-articles', 'learnArticles', ARTICLE, 'List articles', delivered),
  post('/v1/learn-articles', 'createLearnArticle', ARTICLE, 'Make an article', created('The slug is taken', { title })),
  get(
    '/v1/learn-articles/by-slug/{slug}',
    'learnArticleBySlug',
    ARTICLE,
    'Read an article by its slug',
    moved('/v1/learn-articles/by-slug/{slug}'),
  ),
  get('/v1/media', 'contentMediaList', MEDIA, 'List pictures and documents', delivered),
  get('/v1/media/{id}', 'contentMedia', MEDIA, 'Read a picture or document', delivered),
  get('/v1/pages', 'contentPages', PAGE, 'List pages', delivered),
  get('/v1/pages/{id}', 'contentPage', PAGE, 'Read a page', delivered),
  get('/v1/peptides', 'peptides', PEPTIDE, 'List peptides', delivered),
  post('/v1/peptides', 'createPeptide', PEPTIDE, 'Make a peptide', created('The slug or the CAS number is taken', { name: 'Thymosin' })),
  get('/v1/peptides/{id}', 'peptide', PEPTIDE, 'Read a peptide', delivered),
  get('/v1/peptides/by-slug/{slug}', 'peptideBySlug', PEPTIDE, 'Read a peptide by its slug', moved('/v1/peptides/by-slug/{slug}')),
  get('/v1/posts', 'contentPosts', POST, 'List posts', delivered),
  get('/v1/posts/{id}', 'contentPost', POST, 'Read a post', delivered),
  get(
    '/v1/protocol-details/{slug}',
    'protocolDetail',
    PROTOCOL,
    'Read what a protocol asks of a member',
    moved('/v1/protocol-details/{slug}'),
  ),
  get('/v1/research-papers', 'researchPapers', PAPER, 'List research papers', delivered),
  post(
    '/v1/research-papers',
    'createResearchPaper',
    PAPER,
    'Make a research paper',
    created('The DOI or PMID is known', { title: 'A study', authors: ['R. Example'] }),
  ),
  get('/v1/research-papers/{id}', 'researchPaper', PAPER, 'Read a research paper', delivered),
  get('/v1/stacks', 'contentStacks', STACK, 'List stacks', delivered),
  post('/v1/stacks', 'createContentStack', STACK, 'Make a stack', created('The slug is taken', { name: 'Recovery stack' })),
  get('/v1/stacks/{id}', 'contentStack', STACK, 'Read a stack', delivered),
  get('/v1/testimonials', 'testimonials', TESTIMONIAL, 'List testimonials', delivered),
  post('/v1/testimonials', 'createTestimonial', TESTIMONIAL, 'Make a testimonial', {
    ...created('It is taken', {
      quote: 'It helped me.',
      display_name: 'A. Customer',
      consent: { given_at: '2026-11-01T09:00:00.000Z', scope: 'web' },
    }),
    problems: { 400: 'There is no consent', 409: 'It is taken' },
  }),
  get('/v1/testimonials/{id}', 'testimonial', TESTIMONIAL, 'Read a testimonial', delivered),
];

export const policies: Route[] = [
  get('/v1/policies', 'contentPolicies', POLICY, 'List policies', delivered),
  get('/v1/policies/{slug}', 'contentPolicy', POLICY, 'Read a policy, as it is or was at a time', delivered),
  {
    method: 'PUT',
    path: '/v1/policies/{slug}',
    field: 'putContentPolicy',
    selection: POLICY,
    summary: 'Put a new version of a policy',
    pathNames: {},
    queryNames: {},
    status: [200, 201],
    location: '/v1/policies/{slug}',
    problems: { 409: 'It was changed meanwhile' },
    example: { request: { kind: 'terms', title: 'Terms of use', body: { html: '<p>Be kind.</p>' }, requires_acceptance: true } },
  },
];
