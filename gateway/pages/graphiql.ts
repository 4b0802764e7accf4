import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { asset, sendAsset } from '../../runtime/http/assets.js';
import { ICON } from './html.js';

const require = createRequire(import.meta.url);
/** A package's file, found by its package.json, because `exports` names only its entry. */
const fileOf = (name: string, file: string): string => join(dirname(require.resolve(`${name}/package.json`)), file);

/** Everything from this origin only. GraphiQL's editor sets inline styles. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

const GRAPHIQL = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>GraphQL · Platform Service Suite</title><link rel="icon" href="${ICON}"><link rel="stylesheet" href="/assets/graphiql/graphiql.min.css"><link rel="stylesheet" href="/assets/graphiql.css"></head><body><div id="graphiql">Loading…</div><script src="/assets/react/react.production.min.js"></script><script src="/assets/react-dom/react-dom.production.min.js"></script><script src="/assets/graphiql/graphiql.min.js"></script><script src="/assets/graphiql-start.js"></script></body></html>`;

const STYLE = 'body{margin:0;font:16px/1.5 system-ui,sans-serif}#graphiql{height:100dvh}';

const QUERY = `query Brands {
  brands { nodes { id slug name } }
}
`;
const HINT = '# Put a token into the headers below: { "Authorization": "Bearer svc_…" }\n# Then try, for example:\n';
const DEMO_HINT = '# The headers below have a token of development data, valid for an hour. Press Ctrl-Enter.\n';

/** The editor; with the demo token in its headers where there is one. Headers are not kept in the browser. */
const startScript = (demo: boolean): string => `const render = headers => {
  const fetcher = GraphiQL.createFetcher({ url: '/graphql' });
  const props = { fetcher, headers, shouldPersistHeaders: false, defaultQuery: ${JSON.stringify(`${demo ? DEMO_HINT : HINT}${QUERY}`)} };
  ReactDOM.createRoot(document.getElementById('graphiql')).render(React.createElement(GraphiQL, props));
};
${
  demo
    ? "fetch('/dev/token').then(answer => answer.ok ? answer.json() : {}, () => ({})).then(({ access_token: token }) => render(token ? JSON.stringify({ Authorization: 'Bearer ' + token }, null, 2) : undefined));"
    : 'render();'
}
`;

/** The files that the page names: package, path in it. They change with the packages only. */
const FILES = [
  ['react', 'umd/react.production.min.js'],
  ['react-dom', 'umd/react-dom.production.min.js'],
  ['graphiql', 'graphiql.min.js'],
  ['graphiql', 'graphiql.min.css'],
] as const;
const A_DAY = { 'cache-control': 'public, max-age=86400' };

const typeOf = (file: string): string => (file.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8');

function assets(app: FastifyInstance, demo: boolean): void {
  for (const [name, path] of FILES) {
    const found = asset(typeOf(path), () => readFile(fileOf(name, path)));
    app.get(`/assets/${name}/${basename(path)}`, (request, reply) => sendAsset(request, reply, found, A_DAY));
  }
  app.get('/assets/graphiql.css', (_request, reply) => reply.type('text/css').send(STYLE));
  app.get('/assets/graphiql-start.js', (_request, reply) => reply.type('text/javascript').send(startScript(demo)));
}

/** Whether a person's browser asks for `/graphql`, without an operation. */
const wantsGraphiql = ({ method, routeOptions, headers, query }: FastifyRequest): boolean =>
  routeOptions.url === '/graphql' &&
  method === 'GET' &&
  (headers.accept ?? '').includes('text/html') &&
  !(query as { query?: unknown })?.query;

const send = (reply: FastifyReply): FastifyReply =>
  reply.header('content-security-policy', CSP).type('text/html; charset=utf-8').send(GRAPHIQL);

/**
 * Answers browsers at `GET /graphql` with GraphiQL, and serves its files.
 * @param demo whether `/dev/token` has a token to begin with.
 */
export function graphiql(app: FastifyInstance, demo: boolean): void {
  assets(app, demo);
  app.addHook('onRequest', (request, reply, done) => {
    if (wantsGraphiql(request)) send(reply);
    else done();
  });
}
