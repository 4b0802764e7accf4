import { request as httpRequest } from 'undici';
import type { FastifyInstance } from 'fastify';
import { CATALOGUE } from '../../events/catalogue.js';
import type { Slug } from '../../events/slugs.js';
import type { Federation } from '../../runtime/federation/federation.js';
import { problemOf } from '../../runtime/http/server.js';
import { DemoTokens } from './demo-token.js';
import { sendPage } from './html.js';
import { localOnly } from './local-only.js';
import { mailPage } from './mail-page.js';
import { DevelopmentMail, type RunAsDemo } from './mail.js';
import { startPage } from './start-page.js';
import { START_SCRIPT } from './start-script.js';
import { STYLE } from './style.js';

/** Deadline of a call to the own gateway, ms. */
const CALL_MS = 10_000;

export interface PagesSetting {
  baseUrl: string;
  /** The services that answer here, with one line about each. */
  services: ReadonlyMap<Slug, string>;
  graphiql: boolean;
  /** Where development data is; null: there is none, as in production. */
  development: Development | null;
}

export interface Development {
  identityUrl(): string;
  /** Of this process. */
  ownUrl(): string;
  /** Of the machine client of development data. */
  secret: string;
  federation(slug: Slug): Federation;
}

/** The start page; in development a token to begin with and what would have been mailed, both for this machine only. */
export function pages(app: FastifyInstance, { baseUrl, services, graphiql, development }: PagesSetting): void {
  const mail = development !== null && !services.has('comms'); // comms shows its own
  const shown = mail || development !== null;
  const start = startPage({ baseUrl, services, eventTypes: CATALOGUE.size, demo: development !== null, graphiql, mail: shown });
  app.get('/', (_request, reply) => sendPage(reply, start));
  app.get('/assets/page.css', (_request, reply) => reply.type('text/css').send(STYLE));
  app.get('/assets/start.js', (_request, reply) => reply.type('text/javascript').send(START_SCRIPT));
  if (!development) return;
  const tokens = new DemoTokens(() => development.identityUrl(), development.secret);
  app.get('/dev/token', { onRequest: localOnly }, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send(await tokens.get()),
  );
  if (mail) mailRoute(app, tokens, development);
}

function mailRoute(app: FastifyInstance, tokens: DemoTokens, { ownUrl, federation }: Development): void {
  const mails = new DevelopmentMail(runAsDemo(tokens, ownUrl), () => federation('comms'));
  app.get('/dev/mail', { onRequest: localOnly }, async (_request, reply) => sendPage(reply, mailPage(await mails.list())));
}

const runAsDemo =
  (tokens: DemoTokens, ownUrl: () => string): RunAsDemo =>
  async <Data>(query: string, variables: object): Promise<Data> => {
    const { access_token: token } = await tokens.get();
    const answer = await httpRequest(`${ownUrl()}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(CALL_MS),
    });
    const { data, errors } = (await answer.body.json()) as { data: Data; errors?: Parameters<typeof problemOf>[0][] };
    if (errors?.length) throw problemOf(errors[0]!);
    return data;
  };
