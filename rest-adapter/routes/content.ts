import { get, post, type RouteTable } from '../route.js';
import { items, policies } from './content/items.js';

const CARD = 'type collection id slug url title description image { url width height alt } badge meta { label value } locale';
const PIECES = '{ text match }';
const HIT = `collection id slug locale title titleHighlights ${PIECES} snippet ${PIECES} snippetHtml score matched card { ${CARD} }`;
const COUNTS = '{ value count }';
const FOUND = `data { ${HIT} } nextCursor facets { type ${COUNTS} tags ${COUNTS} goal ${COUNTS} peptide ${COUNTS} evidenceLevel ${COUNTS} } total
  totalIsExact suggestion tookMs`;
const PREVIEW = `url finalUrl canonicalUrl kind title description siteName author publishedAt imageUrl imageWidth imageHeight faviconUrl lang
  product { name price currency availability } oembedType fetchStatus fetchedAt`;

/** Routes of the content service. Source: contracts/content.md, section 4. */
const table: RouteTable = {
  service: 'content',
  routes: [
    ...items,
    ...policies,
    get('/v1/search', 'searchContent', FOUND, 'Search what the caller may read', { query: { limit: 'first', cursor: 'after' } }),
    get('/v1/autocard/resolve', 'autocard', CARD, 'The card of what an address or a slug leads to'),
    get('/v1/unfurl', 'linkPreview', PREVIEW, 'What an outside page says of itself', { problems: { 429: 'More than 30 in a minute' } }),
    post('/v1/admin/test-clock', 'setContentClock', 'now', "Move this service's manual clock (development and tests)"),
  ],
};
export default table;
