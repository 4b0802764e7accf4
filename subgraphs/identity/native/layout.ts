import { html, type Html } from './html.js';

/** A problem with a field; shown first in the page and linked to it. */
export interface FieldError {
  field: string;
  message: string;
}

export interface Page {
  title: string;
  body: Html;
  error?: FieldError | null;
  /** BCP 47, from `ui_locales`; default English, which the texts are in. */
  lang?: string;
}

const alert = ({ field, message }: FieldError): Html => html`<div class="alert" role="alert"><a href="#${field}">${message}</a></div>`;

/** A whole page. `base`: address of the pages, for the stylesheet. */
export const document = (base: string, { title, body, error, lang = 'en' }: Page): string =>
  html`<!doctype html>
    <html lang="${lang}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${error ? 'Error: ' : ''}${title}</title>
        <link rel="stylesheet" href="${base}/style.css" />
      </head>
      <body>
        <main>
          <div class="card">
            ${error && alert(error)}
            <h1>${title}</h1>
            ${body}
          </div>
        </main>
      </body>
    </html> `.text;

/** Headers of every page. `target`: where this request's redirect leads, an origin or a scheme. Source: identity 4.1. */
export const pageHeaders = (target: string | null): Record<string, string> => ({
  'Content-Security-Policy': `default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'${target ? ` ${target}` : ''}`,
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
});
