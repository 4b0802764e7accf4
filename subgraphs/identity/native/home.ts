import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { sendProblem } from '../../../runtime/http/server.js';
import { OPENID_METADATA, PAGES } from '../rules/endpoints.js';
import { html } from '../../../runtime/http/html.js';
import { document, type Page, pageHeaders } from './pages/layout.js';

/** The issuer's address and that of the pages, which people reach by shortening a link. */
const ROOTS = ['/identity', '/identity/', `/identity${PAGES}`, `/identity${PAGES}/`];

const home = (issuer: string): Page => ({
  title: 'This is where people sign in',
  body: html`<p>Open the app that you want to use. It brings you here when you have to sign in, and back when you are done.</p>
    <p class="links">
      <a href="${issuer}${PAGES}/connected-apps">Connected apps</a><a href="${issuer}${PAGES}/sign-out">Sign out in this browser</a>
    </p>
    <p class="note">For makers of apps: <a href="${issuer}${OPENID_METADATA}">the addresses of this service</a>.</p>`,
});

const nowhere = (issuer: string): Page => ({
  title: 'There is nothing here',
  body: html`<p>The address is wrong. If it came with a mail, copy the whole link; else go back to the app and begin again.</p>
    <p class="links"><a href="${issuer}${PAGES}">Where am I?</a></p>`,
});

/** A page for a browser; programs get the problem that every unknown address is. */
const answer =
  (base: string, status: number, page: Page) =>
  (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    (request.headers.accept ?? '').includes('text/html')
      ? reply.status(status).headers(pageHeaders(null)).header('vary', 'accept').type('text/html; charset=utf-8').send(document(base, page))
      : sendProblem(reply, new Problem('not_found', 'There is nothing at this address'));

/** Serves the issuer's root, and what is unknown below people's pages. */
export function serveHome(app: FastifyInstance, { config: { issuer } }: ServiceHost): void {
  const base = `${issuer}${PAGES}`;
  for (const path of ROOTS) app.get(path, answer(base, 200, home(issuer)));
  app.get(`/identity${PAGES}/*`, answer(base, 404, nowhere(issuer)));
}
