/**
 * The OpenAPI documents and an API reference page over them. Everything comes from this origin: the page's bundle is an npm package,
 * and its policy lets the browser ask nobody else.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../../runtime/request/errors.js';
import { asset, sendAsset, type Asset, type Reader } from '../../runtime/http/assets.js';
import { sendProblem } from '../../runtime/http/server.js';
import { plugin } from '../../runtime/http/plugin.js';

export interface DocsOptions {
  /** File name -> reader of its YAML: `openapi.yaml` and `<slug>.yaml`, as `generateOpenApi` makes them. */
  documents: ReadonlyMap<string, Reader>;
  /** Whether `/dev/token` has a token of development data, with which the reference is opened then. */
  demo?: boolean;
}

const UNIFIED = 'openapi.yaml';

/** Images of the bundle's style sheet are data URLs; nothing inline, no other origin. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="reference"><noscript>The documents themselves are at <a href="/api/openapi.yaml">/api/openapi.yaml</a>.</noscript></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/swagger-ui-standalone-preset.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/**
 * `validatorUrl: null`, because the default sends the document's address to a validator on the internet. No logo, because it is the
 * one part that has an inline style, which the policy refuses.
 */
const startScript = (urls: readonly { url: string; name: string }[], demo: boolean): string => `const ui = SwaggerUIBundle({
  urls: ${JSON.stringify(urls)},
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  validatorUrl: null,
  persistAuthorization: false,
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  plugins: [() => ({ components: { Logo: () => null } })],
  layout: 'StandaloneLayout',${demo ? FILL_IN : ''}
});
`;

/** Again for each document that is chosen. */
const FILL_IN = `
  onComplete: async () => {
    const answer = await fetch('/dev/token').catch(() => null);
    const schema = ui.specSelectors.specJson().getIn(['components', 'securitySchemes', 'serviceToken']);
    if (answer?.ok && schema) ui.authActions.authorizeOauth2({ auth: { name: 'serviceToken', schema }, token: await answer.json() });
  },`;

const BUNDLE: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const send = (request: FastifyRequest, reply: FastifyReply, found: Asset): Promise<FastifyReply> =>
  sendAsset(request, reply, found, { 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer' });

const addressOf = (file: string): string => (file === UNIFIED ? '/api/openapi.yaml' : `/api/${file.replace(/\.yaml$/, '')}/openapi.yaml`);

/** All services first, then one by one. */
function addressList(documents: DocsOptions['documents']): { url: string; name: string }[] {
  const files = [...documents.keys()].sort((a, b) => Number(b === UNIFIED) - Number(a === UNIFIED) || (a < b ? -1 : 1));
  return files.map(file => ({ url: addressOf(file), name: file === UNIFIED ? 'All services' : file.replace(/\.yaml$/, '') }));
}

function bundle(): Map<string, Asset> {
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return new Map(Object.entries(BUNDLE).map(([file, type]) => [file, asset(type, () => readFile(join(folder, file)))]));
}

/** Serves `/api/<kind>.yaml` from the file of that name, and `/api/<service>/<kind>.yaml` from `<service>.yaml`; public. */
export function serveDocuments(app: FastifyInstance, kind: 'openapi' | 'asyncapi', documents: DocsOptions['documents']): void {
  const assets = new Map([...documents].map(([file, read]) => [file, asset('application/yaml; charset=utf-8', read)]));
  const answer = async (request: FastifyRequest, reply: FastifyReply, file: string): Promise<FastifyReply> => {
    const found = assets.get(file);
    return found ? send(request, reply, found) : sendProblem(reply, new Problem('not_found', 'There is no such document'));
  };
  app.get(`/api/${kind}.yaml`, (request, reply) => answer(request, reply, `${kind}.yaml`));
  app.get<{ Params: { service: string } }>(`/api/:service/${kind}.yaml`, (request, reply) =>
    answer(request, reply, `${request.params.service}.yaml`),
  );
}

/** `/api/openapi.yaml`, `/api/<service>/openapi.yaml` and `/docs`, public. */
export function docs({ documents, demo = false }: DocsOptions): FastifyPluginAsync {
  return plugin('docs', async app => {
    serveDocuments(app, 'openapi', documents);
    const assets = bundle();
    assets.set('start.js', asset('text/javascript; charset=utf-8', startScript(addressList(documents), demo)));
    const page = asset('text/html; charset=utf-8', PAGE);
    for (const path of ['/docs', '/docs/']) app.get(path, (request, reply) => send(request, reply, page));
    for (const [file, found] of assets) app.get(`/docs/${file}`, (request, reply) => send(request, reply, found));
  });
}
