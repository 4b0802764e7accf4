import type { FastifyInstance } from 'fastify';
import type { Slug } from '../../events/slugs.js';
import { DemoTokens } from './demo-token.js';
import { sendPage, type Page } from './html.js';
import { localOnly } from '../../runtime/http/local-only.js';
import { remoteMail } from './remote-mail.js';
import { startPage } from './start-page.js';
import { START_SCRIPT } from './start-script.js';
import { STYLE } from './style.js';

export interface PagesSetting {
  baseUrl: string;
  /** Reads the services that answer here, with one line about each. */
  services: () => Promise<ReadonlyMap<Slug, string>>;
  graphiql: boolean;
  /** Where development data is; null: there is none, as in production. */
  development: Development | null;
}

export interface Development {
  identityUrl(): string;
  /** Of the machine client of development data. */
  secret: string;
  /** Base URL of comms, which shows its mail; `here` where it is in this process. */
  mail: string | null;
}

/** The catalogue of events is loaded for who looks: a process that emits none does without its 8 MB. */
async function startPageOf({ baseUrl, services, graphiql, development }: PagesSetting): Promise<Page> {
  const { CATALOGUE } = await import('../../events/catalogue.js');
  return startPage({
    baseUrl,
    services: await services(),
    eventTypes: CATALOGUE.size,
    demo: development !== null,
    graphiql,
    mail: development !== null && development.mail !== null,
  });
}

/** The start page; in development a token to begin with, for this machine only. */
export function pages(app: FastifyInstance, setting: PagesSetting): void {
  const { development } = setting;
  let start: Promise<Page> | undefined;
  app.get('/', async (_request, reply) => sendPage(reply, await (start ??= startPageOf(setting))));
  app.get('/assets/page.css', (_request, reply) => reply.type('text/css').send(STYLE));
  app.get('/assets/start.js', (_request, reply) => reply.type('text/javascript').send(START_SCRIPT));
  if (!development) return;
  const tokens = new DemoTokens(() => development.identityUrl(), development.secret);
  app.get('/dev/token', { onRequest: localOnly }, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send(await tokens.get()),
  );
  if (development.mail !== null && development.mail !== 'here') remoteMail(app, development.mail);
}
