import { escape, type Page } from './html.js';
import type { Mail } from './mail.js';

const fact = (name: string, value: string): string => `<dt>${escape(name)}</dt><dd>${value}</dd>`;

function facts({ to, link, code, gone, params }: Mail): string {
  const list = [
    fact('to', escape(to ?? 'unknown')),
    ...(code === null ? [] : [fact('code', `<span class="code">${escape(code)}</span>`)]),
    ...(link === null ? [] : [fact('link', `<a href="${escape(link)}">${escape(link)}</a>`)]),
    ...(gone === null ? [] : [fact('link and code', escape(gone))]),
    ...Object.entries(params).map(([name, value]) => fact(name, escape(typeof value === 'string' ? value : JSON.stringify(value)))),
  ];
  return `<dl>${list.join('')}</dl>`;
}

const item = (mail: Mail): string =>
  `<li><div class="bar"><h2>${escape(mail.template.replaceAll('_', ' '))}</h2><time datetime="${escape(mail.at)}">${escape(mail.at.replace('T', ' ').replace(/\.\d+Z$/, ' UTC'))}</time></div>${facts(mail)}</li>`;

const NONE = '<p>Nothing yet. Ask for a link at a sign-in page, or for a new password, and reload.</p>';

/** What would have been mailed, newest first. */
export const mailPage = (mails: readonly Mail[]): Page => ({
  title: 'Mail · Platform Service Suite',
  body: `<header><div class="top"><h1>Mail</h1><span class="mark">development</span></div>
<p class="muted">What would have been mailed, newest first. Nothing leaves this machine. <a href="/dev/mail">Reload</a> · <a href="/">Start page</a></p></header>
<main><section aria-label="Mails">${mails.length ? `<ol class="mails">${mails.map(item).join('')}</ol>` : NONE}</section></main>`,
});
