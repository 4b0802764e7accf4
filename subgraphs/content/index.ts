import { serveBulk } from '../../runtime/bulk/routes.js';
import { service } from '../../runtime/service.js';
import { itemPaths, items } from './native/bulk.js';
import { PolicyAcceptance } from './entities/policy.js';
import { ContentRelease } from './entities/release.js';
import { ITEM_CLASSES } from './entities/types.js';
import { erase } from './erase.js';
import { filePaths, serveFiles } from './native/files.js';
import { references } from './references.js';
import { COLLECTION_RESOLVERS, ContentItemResolver } from './resolvers/collections.js';
import { CitationResolver } from './resolvers/citations.js';
import { ContentEditingResolver, ContentReleaseResolver } from './resolvers/editing.js';
import { BiomarkerContentResolver, BrandContentResolver, CertificateResolver, UserPoliciesResolver } from './resolvers/extended.js';
import { LinkResolver } from './resolvers/links.js';
import { SearchResolver } from './resolvers/search.js';
import { seed } from './seed.js';
import { consumers } from './consumers.js';
import { MediaResolver } from './resolvers/media.js';
import { PolicyAcceptanceResolver, PolicyResolver } from './resolvers/policies.js';
import { Biomarker, Brand, Product, User } from './stubs.js';
import { timers } from './timers.js';

export default service({
  slug: 'content',
  purpose: 'What is authored, published, searched and delivered: articles, certificates, policies, pictures',
  entities: [ContentRelease, PolicyAcceptance],
  resolvers: [
    ContentItemResolver,
    ...COLLECTION_RESOLVERS,
    PolicyResolver,
    PolicyAcceptanceResolver,
    ContentEditingResolver,
    ContentReleaseResolver,
    MediaResolver,
    SearchResolver,
    LinkResolver,
    UserPoliciesResolver,
    BrandContentResolver,
    BiomarkerContentResolver,
    CertificateResolver,
    CitationResolver,
  ],
  types: [User, Brand, Product, Biomarker, ContentRelease, ...ITEM_CLASSES],
  references,
  consumers,
  timers,
  seed,
  erase,
  native: async (app, host, authenticate) => {
    await serveFiles(app, host);
    await serveBulk(app, host, authenticate, items);
  },
  nativePaths: [...filePaths, ...itemPaths],
});
