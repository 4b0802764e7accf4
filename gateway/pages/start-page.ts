import type { Slug } from '../../events/slugs.js';
import { escape, type Page } from './html.js';

export interface StartPage {
  /** Public base URL, for the calls. */
  baseUrl: string;
  /** The services that answer here, with one line about each. */
  services: ReadonlyMap<Slug, string>;
  /** Number of event types. */
  eventTypes: number;
  /** Development data is there: the page shows a token. */
  demo: boolean;
  graphiql: boolean;
  /** Comms shows what would have been mailed, at `/dev/mail`. */
  mail: boolean;
}

const QUERY = JSON.stringify({ query: '{ brands { nodes { slug name } } biomarker(code: "ldl_c") { name unit } }' });
const REST_PATH = '/clinical/v1/biomarkers/catalog/ldl_c';

const restCall = (base: string): string => `curl -s ${base}${REST_PATH} \\\n  -H "Authorization: Bearer $TOKEN"`;
const graphqlCall = (base: string): string =>
  `curl -s ${base}/graphql -H "Authorization: Bearer $TOKEN" \\\n  -H 'Content-Type: application/json' \\\n  -d '${QUERY}'`;
const tokenCall = (base: string): string =>
  `TOKEN=$(curl -s ${base}/identity/v1/oauth/token -d grant_type=client_credentials \\\n  -d client_id=$CLIENT_ID -d client_secret=$CLIENT_SECRET | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`;

interface Call {
  id: string;
  title: string;
  text: string;
  /** What the button "Run" asks for: a path, and a body to post. */
  run?: { path: string; body?: string };
  /** HTML below the text. */
  note?: string;
}

const runButton = (id: string, { path, body }: NonNullable<Call['run']>): string =>
  `<button class="act" data-run="${path}"${body ? ` data-body="${escape(body)}"` : ''} aria-controls="${id}-answer" hidden>Run</button>`;

/** Its buttons show up when they can do something. */
const call = ({ id, title, text, run, note = '' }: Call): string => `<li>
<div class="bar"><h3>${title}</h3><div class="buttons">${run ? runButton(id, run) : ''}<button data-copy="${id}" hidden>Copy</button></div></div>
<pre id="${id}"${id === 'token' ? ' class="token"' : ''} tabindex="0" role="region" aria-label="${title}">${escape(text)}</pre>${note}
${run ? `<pre id="${id}-answer" tabindex="0" role="region" aria-label="Answer: ${title}" aria-live="polite" hidden></pre>` : ''}
</li>`;

const DEMO_NOTE =
  '<p class="note" id="until"></p><noscript><p class="note">Without scripts: <code>npm run token -- --client demo-m2m</code> prints one.</p></noscript>';

function calls({ baseUrl, demo, services }: StartPage): string {
  const token = demo ? { text: 'A token is being fetched …', note: DEMO_NOTE } : { text: tokenCall(baseUrl) };
  const graphql = { path: '/graphql', body: QUERY };
  const list: Call[] = [
    { id: 'token', title: '1. A token for the shell', ...token },
    ...(services.has('clinical')
      ? [{ id: 'rest', title: '2. REST', text: restCall(baseUrl), ...(demo && { run: { path: REST_PATH } }) }]
      : []),
    { id: 'graphql', title: '3. GraphQL, two services in one answer', text: graphqlCall(baseUrl), ...(demo && { run: graphql }) },
  ];
  return `<section aria-labelledby="calls"><h2 id="calls">First calls</h2><ol class="calls">${list.map(call).join('')}</ol></section>`;
}

const tile = (href: string, title: string, about: string): string => `<li><a href="${href}">${title}</a><p>${about}</p></li>`;

function tiles({ eventTypes, demo, graphiql, mail }: StartPage): string {
  const filled = demo ? ' The demo token is filled in.' : '';
  const list = [
    ...(graphiql ? [tile('/graphql', 'GraphiQL', `Explore and run GraphQL.${filled}`)] : []),
    tile('/docs', 'API reference', `Every REST path, to be tried out.${filled}`),
    ...(mail ? [tile('/dev/mail', 'Mail', 'Links, codes and notices that would have been mailed.')] : []),
    tile('/api/openapi.yaml', 'OpenAPI 3.1', 'For generators of clients.'),
    tile('/api/asyncapi.yaml', 'AsyncAPI 3.0', `${eventTypes} types of events, as webhooks deliver them.`),
  ];
  return `<section aria-labelledby="explore"><h2 id="explore">Explore</h2><ul class="tiles">${list.join('')}</ul></section>`;
}

const service = ([slug, purpose]: readonly [Slug, string]): string => `<li>
<h3>${slug}</h3>
<div class="about"><span>${escape(purpose)}</span><div class="links"><code>/${slug}/v1</code> <a href="/api/${slug}/openapi.yaml" aria-label="OpenAPI of ${slug}">OpenAPI</a> <a href="/api/${slug}/asyncapi.yaml" aria-label="AsyncAPI of ${slug}">AsyncAPI</a></div></div>
<div class="state"><span class="mark wait" data-service="${slug}">asking …</span></div>
</li>`;

/** What a newcomer needs first: what runs and how it does, the first calls, and where to go on. */
export const startPage = (facts: StartPage): Page => ({
  title: 'Platform Service Suite',
  script: '/assets/start.js',
  body: `<header>
<div class="top"><h1>Platform Service Suite</h1>${facts.demo ? '<span class="mark">development</span>' : ''}<span role="status"><span class="mark wait" id="summary">asking ${facts.services.size} services …</span></span></div>
<p class="muted">${facts.services.size} services behind one GraphQL API, documented REST paths, and events that arrive as signed webhooks.</p>
</header>
<main>
${calls(facts)}
${tiles(facts)}
<section aria-labelledby="services"><h2 id="services">Services</h2><ul class="services">${[...facts.services].map(service).join('')}</ul></section>
</main>
<footer>The state of each service is its <code>/readyz</code>, asked every 5 seconds.</footer>`,
});
