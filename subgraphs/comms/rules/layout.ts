interface Shown {
  heading: string;
  /** Language of the words, BCP 47. */
  lang: string;
}

/** The one layout of the mails that are seeded: light and dark, from 320 px, no picture, font or link from elsewhere. */
export const layoutOf = (body: string, action: string | null, { heading, lang }: Shown): string => `<mjml lang="${lang}">
  <mj-head>
    <mj-title>${heading}</mj-title>
    <mj-attributes><mj-all font-family="system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif" /><mj-text font-size="16px" line-height="24px" color="#16202c" /></mj-attributes>
    <mj-raw><meta name="color-scheme" content="light dark" /><meta name="supported-color-schemes" content="light dark" /></mj-raw>
    <mj-style>@media (prefers-color-scheme: dark) { body, .page > div { background: #0f141a !important } .card, .card table, .card td { background: #19212a !important } .card div, .foot div { color: #eaf0f6 !important } .foot a { color: #86bdf7 !important } }</mj-style>
  </mj-head>
  <mj-body width="560px" background-color="#eef2f6" css-class="page">
    <mj-section background-color="#ffffff" css-class="card" padding="24px 16px" border-radius="12px">
      <mj-column>
        <mj-text font-size="22px" line-height="28px" font-weight="600">${heading}</mj-text>
        <mj-text>${body}</mj-text>
        ${action === null ? '' : `<mj-button href="{link}" background-color="#0b5cad" color="#ffffff" border-radius="8px" font-size="16px" align="left">${action}</mj-button>`}
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>`;

/** Where the footer of a compiled mail goes. */
export const FOOTER_MARK = '</body>';

const LEAD = 'font:14px/20px system-ui,sans-serif;color:#4a5768;max-width:528px;margin:0 auto;padding:16px';
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replace(/[&<>"]/g, character => ENTITIES[character]!);

export interface Footer {
  why: string;
  brand: string;
  support: string;
  unsubscribeUrl: string | null;
  preferencesUrl: string | null;
}

/** Why somebody gets a mail, of whom it is, and the way out. Source: comms 4.2. */
export function footerHtml({ why, brand, support, unsubscribeUrl, preferencesUrl }: Footer): string {
  const links = [
    ...(unsubscribeUrl ? [`<a href="${escaped(unsubscribeUrl)}">Unsubscribe</a>`] : []),
    ...(preferencesUrl ? [`<a href="${escaped(preferencesUrl)}">Preferences</a>`] : []),
  ];
  const tail = links.length ? `<br />${links.join(' · ')}` : '';
  return `<div class="foot"><div style="${LEAD}">${escaped(why)}<br />${escaped(brand)} · ${escaped(support)}${tail}</div></div>`;
}

export const footerText = ({ why, brand, support, unsubscribeUrl, preferencesUrl }: Footer): string =>
  [
    '',
    '--',
    why,
    `${brand} · ${support}`,
    ...(unsubscribeUrl ? [`Unsubscribe: ${unsubscribeUrl}`] : []),
    ...(preferencesUrl ? [`Preferences: ${preferencesUrl}`] : []),
  ].join('\n');
