import { SCOPE_TITLES } from '../rules/scope-titles.js';
import { USER_SCOPES } from '../rules/scopes.js';
import { html, type Html } from './html.js';
import type { Page } from './layout.js';

/** The app of an interaction, as its user is told of it. */
export interface AppFace {
  name: string;
  firstParty: boolean;
  privacyUrl: string | null;
}

const hidden = (csrf: string): Html => html`<input type="hidden" name="csrf" value="${csrf}" />`;

const cancel = (action: string, csrf: string): Html =>
  html`<form method="post" action="${action}/abort">${hidden(csrf)}<button class="quiet">Cancel and go back</button></form>`;

interface Step {
  /** Address of the interaction. */
  action: string;
  csrf: string;
  app: AppFace;
}

/** The field that an error is about says so. */
const invalid = (wrong: boolean): Html | false => wrong && html` aria-invalid="true"`;

/** One message for an unknown account and a wrong password. */
const WRONG = 'The e-mail address or the password is wrong.';

export function signInPage({ action, csrf, app }: Step, { identifier = '', wrong = false } = {}): Page {
  return {
    title: `Sign in to ${app.name}`,
    error: wrong ? { field: 'identifier', message: WRONG } : null,
    body: html`<form method="post" action="${action}/login">
        ${hidden(csrf)}
        <label for="identifier">E-mail address</label>
        <input
          id="identifier"
          name="identifier"
          type="email"
          autocomplete="username"
          required
          maxlength="254"
          value="${identifier}"
          ${invalid(wrong)}
        />
        <label for="password">Password</label>
        <input id="password" name="password" type="password" autocomplete="current-password" required maxlength="512" ${invalid(wrong)} />
        <button>Sign in</button>
      </form>
      ${cancel(action, csrf)}`,
  };
}

const MARKS = { PHI: 'Health data', FIN: 'Money', contact: '', plain: '' } as const;

function scopeRow(scope: string, ticked: boolean): Html {
  const mark = MARKS[USER_SCOPES[scope] ?? 'plain'];
  return html`<li>
    <label
      ><input type="checkbox" name="scope" value="${scope}" ${ticked && html` checked`} />
      <span>${SCOPE_TITLES[scope] ?? scope}${mark && html` <span class="mark">${mark}</span>`}</span></label
    >
  </li>`;
}

const list = (scopes: readonly string[], ticked: ReadonlySet<string>): Html =>
  html`<ul class="scopes">
    ${scopes.map(scope => scopeRow(scope, ticked.has(scope)))}
  </ul>`;

function groups(scopes: readonly string[], ticked: ReadonlySet<string>): Html {
  const money = scopes.filter(scope => USER_SCOPES[scope] === 'FIN');
  const rest = scopes.filter(scope => USER_SCOPES[scope] !== 'FIN');
  return html`${rest.length > 0 && list(rest, ticked)}${
    money.length > 0 &&
    html`<h2>Money</h2>
      ${list(money, ticked)}`
  }`;
}

/** What an app asks for; what is not ticked is declined. */
export function consentPage({ action, csrf, app }: Step, scopes: readonly string[], ticked: ReadonlySet<string>): Page {
  const publisher = app.firstParty ? 'It is our own app.' : 'It is published by somebody else.';
  return {
    title: `What may ${app.name} do?`,
    body: html`<p>
        ${app.name} asks for access to your account. ${publisher}
        ${app.privacyUrl && html`<a href="${app.privacyUrl}" rel="noreferrer">How it treats your data</a>.`}
      </p>
      <form method="post" action="${action}/consent">
        ${hidden(csrf)}${groups(scopes, ticked)}
        <p class="note">You can take this back at any time under connected apps in your account.</p>
        <button name="decision" value="allow">Allow what is ticked</button>
        <button name="decision" value="deny" class="quiet">Allow nothing</button>
      </form>
      ${cancel(action, csrf)}`,
  };
}

/** Ends the sign-in of this browser. */
export const signOutPage = (action: string, csrf: string): Page => ({
  title: 'Sign out',
  body: html`<p>You will be signed out in this browser, and of our own apps that you opened in it.</p>
    <form method="post" action="${action}">${hidden(csrf)}<button>Sign out</button></form>`,
});

export const messagePage = (title: string, text: string): Page => ({ title, body: html`<p>${text}</p>` });
