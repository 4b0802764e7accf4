import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ServiceHost } from '../../../../runtime/request/context.js';
import { documentOf, pageHeaders, type Page } from './layout.js';

const FORM_LIMIT_BYTES = 8 * 1024;

/** What a handler of a page answers with. */
export type Answer = { page: Page; status?: number; leadsTo?: readonly (string | null)[]; cookie?: string } | { redirect: string };

/** Sends a page, or a redirect that becomes a GET. */
export function send(reply: FastifyReply, host: ServiceHost, answer: Answer): FastifyReply {
  if ('redirect' in answer) return reply.headers(pageHeaders(answer.redirect)).redirect(answer.redirect, 303);
  const { page, status = 200, leadsTo = [], cookie } = answer;
  if (cookie) reply.header('set-cookie', cookie);
  return reply
    .status(status)
    .headers(pageHeaders(...leadsTo))
    .type('text/html; charset=utf-8')
    .send(documentOf(host.config.baseUrl, page));
}

/** Takes forms in this scope, and nothing else. */
export function takeForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  const options = { parseAs: 'string', bodyLimit: FORM_LIMIT_BYTES } as const;
  scope.addContentTypeParser('application/x-www-form-urlencoded', options, (_request, body, done) =>
    done(null, new URLSearchParams(String(body))),
  );
}

export const formOf = ({ body }: FastifyRequest): URLSearchParams => (body instanceof URLSearchParams ? body : new URLSearchParams());

/** Whether a form comes from our page: `null` is what browsers send with our referrer policy, so the address, a secret, is the proof. */
export function isOwnForm({ headers: { origin } }: FastifyRequest, { config }: ServiceHost): boolean {
  return origin === undefined || origin === 'null' || origin === new URL(config.baseUrl).origin;
}
