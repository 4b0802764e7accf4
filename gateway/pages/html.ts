import type { FastifyReply } from 'fastify';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Text for the inside of elements and attributes. */
export const escape = (text: string): string => text.replace(/[&<>"']/g, character => ENTITIES[character]!);

/** Everything from this origin, nothing inline. */
const CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'none'",
].join('; ');

export const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Ccircle cx='12' cy='12' r='10' fill='%230b5cad'/%3E%3Cpath d='M6 12h3l2-5 3 10 2-5h2' fill='none' stroke='white' stroke-width='2'/%3E%3C/svg%3E";

export interface Page {
  title: string;
  /** HTML. */
  body: string;
  /** Path of the page's script. */
  script?: string;
}

const document = ({ title, body, script }: Page): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)}</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/assets/page.css">
${script ? `<script src="${script}" defer></script>` : ''}
</head>
<body>
${body}
</body>
</html>
`;

export const sendPage = (reply: FastifyReply, page: Page): FastifyReply =>
  reply
    .headers({ 'content-security-policy': CSP, 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' })
    .type('text/html; charset=utf-8')
    .send(document(page));
