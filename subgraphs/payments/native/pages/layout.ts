import { html, type Html } from '../../../../runtime/http/html.js';

export interface Page {
  title: string;
  body: Html;
  /** What went wrong before; shown first. */
  error?: string | null;
  /** Who sells. */
  seller?: string | null;
}

/** Address of the stylesheet that all pages have. */
export const STYLE_PATH = '/payments/pay/style.css';

/** A whole page: one stylesheet of ours, no script. Its host is shown, because that is what people can check. */
export const documentOf = (baseUrl: string, { title, body, error, seller }: Page): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${error ? 'Error: ' : ''}${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${STYLE_PATH}" />
      </head>
      <body>
        <header><span>${seller ?? 'Payments'}</span></header>
        <main>
          <div class="card">
            ${error && html`<div class="alert" role="alert"><p>${error}</p></div>`}
            <h1>${title}</h1>
            ${body}
          </div>
        </main>
        <footer>
          <p>You are at <strong>${new URL(baseUrl).host}</strong>. No page of ours asks for the number of a card.</p>
        </footer>
      </body>
    </html> `.text;

/** Origin of an address as a source of the content security policy; null for none. */
const sourceOf = (url: string | null): string | null => (url === null ? null : (URL.parse(url)?.origin ?? null));

/** Headers of every page. `leadsTo`: where its forms may lead besides ourselves. Source: payments 7.14. */
export const pageHeaders = (...leadsTo: readonly (string | null)[]): Record<string, string> => {
  const targets = [...new Set(leadsTo.flatMap(url => sourceOf(url) ?? []))];
  return {
    'content-security-policy': `default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; frame-ancestors 'none'; form-action ${["'self'", ...targets].join(' ')}`,
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'cross-origin-opener-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
};
