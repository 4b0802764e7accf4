import { html, Html } from '../../../../runtime/http/html.js';

/** A problem with a field; shown first in the page and linked to it. */
export interface FieldError {
  field: string;
  message: string;
}

export interface Page {
  title: string;
  body: Html;
  error?: FieldError | null;
  /** What the person asked for by `ui_locales`, BCP 47. */
  lang?: string | null;
}

const alert = ({ field, message }: FieldError): Html => html`<div class="alert" role="alert"><a href="#${field}">${message}</a></div>`;

/** A shield, drawn so that nothing is fetched. */
const SHIELD = new Html(
  '<svg class="shield" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" focusable="false"><path d="M12 2 4 5v6c0 5 3.4 9.4 8 11 4.6-1.6 8-6 8-11V5z"/><path d="m8.2 12 2.7 2.7 5-5.2"/></svg>',
);

/** What the texts are in. A page in a language that was asked for and is not there names its own, or a screen reader would mispronounce it. */
const LANGUAGE = 'en';

/** A whole page. `base`: address of the pages, for the stylesheet; its host is shown, because that is what people can check. */
export const document = (base: string, { title, body, error, lang }: Page): string =>
  html`<!doctype html>
    <html lang="${lang ?? LANGUAGE}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${error ? 'Error: ' : ''}${title}</title>
        <link rel="icon" type="image/svg+xml" href="${base}/icon.svg" />
        <link rel="stylesheet" href="${base}/style.css" />
      </head>
      <body ${lang && lang.split('-')[0] !== LANGUAGE && html`lang="${LANGUAGE}"`}>
        <header>${SHIELD}<span>Your account</span></header>
        <main>
          <div class="card">
            ${error && alert(error)}
            <h1>${title}</h1>
            ${body}
          </div>
        </main>
        <footer>
          <p>You are at <strong>${new URL(base).host}</strong>. Enter your password and codes nowhere else.</p>
        </footer>
      </body>
    </html> `.text;

export const localeOf = (asked: unknown): string | null => {
  const first = typeof asked === 'string' ? asked.split(' ')[0]! : '';
  return /^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/.test(first) ? first : null;
};

/** Headers of every page. `target`: where this request's redirect leads, an origin or a scheme. Source: identity 4.1. */
export const pageHeaders = (target: string | null): Record<string, string> => ({
  'Content-Security-Policy': `default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'self'${target ? ` ${target}` : ''}`,
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
});

/** The app of an interaction, as its user sees it. */
export interface ShownApp {
  name: string;
  firstParty: boolean;
  privacyUrl: string | null;
}

/** Where a page leads. */
export interface Way {
  href: string;
  label: string;
}

/** What the pages of one interaction have in common. */
export interface Step {
  /** Address of the interaction. */
  action: string;
  csrf: string;
  app: ShownApp;
}

export const hidden = (csrf: string): Html => html`<input type="hidden" name="csrf" value="${csrf}" />`;
