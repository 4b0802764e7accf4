import { SCOPE_TITLES } from '../../rules/scope-titles.js';
import { groupOf, type ScopeGroup } from '../../rules/scopes.js';
import { html, type Html } from '../../../../runtime/http/html.js';
import { hidden, type Page, type ShownApp, type Step } from './layout.js';

/** In this order. */
const GROUPS: readonly (readonly [group: ScopeGroup, title: string, note: string | null])[] = [
  ['profile', 'Your profile', null],
  ['health', 'Your health', 'Health data is yours alone. Tick only what you want this app to have.'],
  ['money', 'Your money', 'Tick only what you want this app to see or do.'],
  ['other', 'Everything else', null],
];

const scopeRow = (scope: string, ticked: boolean): Html =>
  html`<li>
    <label
      ><input type="checkbox" name="scope" value="${scope}" ${ticked && html` checked`} />
      <span>${SCOPE_TITLES[scope] ?? scope}</span></label
    >
  </li>`;

function groupOfScopes(group: ScopeGroup, title: string, note: string | null, { scopes, ticked }: Consent): Html | null {
  const own = scopes.filter(scope => groupOf(scope) === group);
  if (own.length === 0) return null;
  const noteId = note && `${group}-note`;
  return html`<fieldset class="group" ${noteId && html`aria-describedby="${noteId}"`}>
    <legend>${title}</legend>
    ${note && html`<p class="note" id="${noteId}">${note}</p>`}
    <ul class="scopes">
      ${own.map(scope => scopeRow(scope, ticked.has(scope)))}
    </ul>
  </fieldset>`;
}

export interface Consent {
  /** What the app asks for. */
  scopes: readonly string[];
  ticked: ReadonlySet<string>;
  /** Address of the account; null when it has none. */
  account: string | null;
  /** Who publishes the app. */
  publisher: string;
  /** Where the answer goes: an origin or a scheme. */
  target: string;
  /** Where it can be taken back. */
  connectedApps: string;
}

const publishedBy = ({ name, firstParty }: ShownApp, who: string): Html =>
  firstParty ? html`${name} is our own app, published by ${who}.` : html`${name} is not ours. It is published by <strong>${who}</strong>.`;

const privacy = ({ name, privacyUrl }: ShownApp): Html =>
  privacyUrl
    ? html`<a href="${privacyUrl}" rel="noreferrer">How ${name} treats your data</a>.`
    : html`It has not told us how it treats your data.`;

const tickNote = html`<p class="note">You decide on each line. You may leave out any of them; the app may then work in part only.</p>`;

/** What is not ticked is declined. Both answers look alike: to refuse is as easy as to agree. */
export function consentPage({ action, csrf, app }: Step, consent: Consent): Page {
  const { scopes, account, publisher, target, connectedApps } = consent;
  const choices = scopes.length > 0;
  return {
    title: `What may ${app.name} do?`,
    body: html`${account !== null && html`<p class="who">You are signed in as ${account}</p>`}
      <p>${publishedBy(app, publisher)} ${privacy(app)}</p>
      <form method="post" action="${action}/consent">
        ${hidden(csrf)}${choices ? tickNote : html`<p>It asks for nothing of your account but to know that it is you.</p>`}
        ${GROUPS.map(([group, title, note]) => groupOfScopes(group, title, note, consent))}
        <p class="note">
          You can take this back at any time under <a href="${connectedApps}">connected apps</a>. You return to <strong>${target}</strong>.
        </p>
        <div class="answers">
          <button name="decision" value="allow">${choices ? 'Allow what is ticked' : 'Allow'}</button>
          <button name="decision" value="deny">Allow nothing</button>
          ${choices && html`<button name="decision" value="none" class="quiet">Untick everything</button>`}
        </div>
        <p class="note">With "Allow nothing" ${app.name} is told that you refuse, and gets no access.</p>
      </form>
      <div class="other">
        <form method="post" action="${action}/abort">${hidden(csrf)}<button class="plain">Cancel and decide another time</button></form>
        <p class="note">With "Cancel" nothing is decided: ${app.name} is told only that you went back.</p>
      </div>`,
  };
}
