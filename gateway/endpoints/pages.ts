import staticFiles from '@fastify/static';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { CATALOGUE } from '../../events/catalogue.js';
import { SLUGS, type Slug } from '../../events/slugs.js';

const require = createRequire(import.meta.url);
/** A folder of a package, found by its package.json, because `exports` names only its entry. */
const folderOf = (name: string, folder: string): string => join(dirname(require.resolve(`${name}/package.json`)), folder);

/** Everything from this origin only. GraphiQL's editor sets inline styles. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

const page = (title: string, head: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title>${head}</head><body>${body}</body></html>`;

const GRAPHIQL = page(
  'GraphQL · Platform Service Suite',
  '<link rel="stylesheet" href="/assets/graphiql/graphiql.min.css"><link rel="stylesheet" href="/assets/page.css">',
  '<div id="graphiql">Loading…</div><script src="/assets/react/react.production.min.js"></script><script src="/assets/react-dom/react-dom.production.min.js"></script><script src="/assets/graphiql/graphiql.min.js"></script><script src="/assets/graphiql-start.js"></script>',
);

const START_QUERY = `# Put a token into the headers below: { "Authorization": "Bearer svc_…" }
# Then try, for example:
query Brands {
  brands { nodes { id slug name } }
}
`;

const START_SCRIPT = `const fetcher = GraphiQL.createFetcher({ url: '/graphql' });
ReactDOM.createRoot(document.getElementById('graphiql')).render(React.createElement(GraphiQL, { fetcher, shouldPersistHeaders: false, defaultQuery: ${JSON.stringify(START_QUERY)} }));
`;

const STYLE =
  'body{margin:0;font:16px/1.5 system-ui,sans-serif;color:#1a1a1a}#graphiql{height:100dvh}main{max-width:46rem;margin:3rem auto;padding:0 1rem}code{background:#f2f2f2;padding:.1rem .3rem}li{margin:.2rem 0}';

const home = (here: readonly Slug[]): string =>
  page(
    'Platform Service Suite',
    '<link rel="stylesheet" href="/assets/page.css">',
    `<main><h1>Platform Service Suite</h1><p>${here.length} of ${SLUGS.length} services answer here.</p><ul><li><a href="/graphql">GraphQL</a></li><li><a href="/docs">REST reference</a></li>
  <li><a href="/api/openapi.yaml">OpenAPI 3.1</a></li><li><a href="/api/asyncapi.yaml">AsyncAPI 3.0</a>: ${CATALOGUE.size} event types</li></ul><h2>Services</h2><ul>${here.map(slug => `<li><code>/${slug}/v1</code> · <a href="/${slug}/readyz">ready?</a> · <a href="/api/${slug}/openapi.yaml">OpenAPI</a> · <a href="/api/${slug}/asyncapi.yaml">AsyncAPI</a></li>`).join('')}</ul></main>`,
  );

const html = (reply: FastifyReply, text: string): FastifyReply =>
  reply.header('content-security-policy', CSP).type('text/html; charset=utf-8').send(text);

/** The start page. */
export async function pages(app: FastifyInstance, services: readonly Slug[]): Promise<void> {
  app.get('/assets/page.css', (_request, reply) => reply.type('text/css').send(STYLE));
  app.get('/', (_request, reply) => html(reply, home(services)));
}

async function graphiqlAssets(app: FastifyInstance): Promise<void> {
  const assets = { react: folderOf('react', 'umd'), 'react-dom': folderOf('react-dom', 'umd'), graphiql: folderOf('graphiql', '.') };
  for (const [name, root] of Object.entries(assets)) {
    await app.register(staticFiles, {
      root,
      prefix: `/assets/${name}/`,
      decorateReply: false,
      index: false,
      cacheControl: true,
      maxAge: '1d',
    });
  }
  app.get('/assets/graphiql-start.js', (_request, reply) => reply.type('text/javascript').send(START_SCRIPT));
}

/** Whether a person's browser asks for `/graphql`, without an operation. */
const wantsGraphiql = ({ method, url, headers, query }: FastifyRequest): boolean =>
  method === 'GET' &&
  url.split('?')[0] === '/graphql' &&
  (headers.accept ?? '').includes('text/html') &&
  !(query as { query?: unknown })?.query;

/** Answers browsers at `GET /graphql` with GraphiQL, and serves its files. */
export async function graphiql(app: FastifyInstance): Promise<void> {
  await graphiqlAssets(app);
  app.addHook('onRequest', async (request, reply) => (wantsGraphiql(request) ? html(reply, GRAPHIQL) : undefined));
}
