import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html, type Html } from '../../../runtime/http/html.js';
import { STYLE } from '../../../runtime/http/page-style.js';
import { createHash } from 'node:crypto';

/** The style stands in the page, known to its policy by its hash: a page needs nothing from anywhere. */
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

const HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex',
  'cross-origin-opener-policy': 'same-origin',
};

const documentOf = (title: string, brand: string, body: Html): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${html`${title}`.text}</title><style>${STYLE}</style></head><body>${
    html`<header>${brand}</header>
      <main>
        <div class="card">
          <h1>${title}</h1>
          ${body}
        </div>
      </main>`.text
  }</body></html>`;

/** Sends a page of neutral words. */
export const sendPage = (reply: FastifyReply, title: string, brand: string, body: Html, status = 200): FastifyReply =>
  reply
    .status(status)
    .headers(HEADERS)
    .type('text/html; charset=utf-8')
    .send(documentOf(title, brand, body));

const FORM_BYTES = 8_192;

/** Takes forms in this scope; with or without their content type being said. */
export function takeForms(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  const options = { parseAs: 'string', bodyLimit: FORM_BYTES } as const;
  scope.addContentTypeParser('application/x-www-form-urlencoded', options, (_request, body, done) =>
    done(null, new URLSearchParams(String(body))),
  );
}

export const formOf = ({ body }: FastifyRequest): URLSearchParams => (body instanceof URLSearchParams ? body : new URLSearchParams());
