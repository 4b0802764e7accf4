import { SCOPE_TITLES } from '../../rules/scope-titles.js';
import { USER_SCOPES } from '../../rules/scopes.js';
import { field, html, type Html } from './html.js';
import { hidden, type Page, type Step } from './layout.js';
import { otherWays } from './mail-views.js';

export const cancel = (action: string, csrf: string): Html =>
  html`<form method="post" action="${action}/abort">${hidden(csrf)}<button class="plain">Cancel and go back</button></form>`;

/** One message for an unknown account and a wrong password. */
export const WRONG = 'The e-mail address or the password is wrong.';

const IDENTIFIER = { id: 'identifier', type: 'email', autocomplete: 'username', maxlength: '254' };
const PASSWORD = { id: 'password', type: 'password', autocomplete: 'current-password', maxlength: '512' };

export function signInPage(
  { action, csrf, app }: Step,
  { identifier = '', wrong = null }: { identifier?: string; wrong?: string | null } = {},
): Page {
  return {
    title: `Sign in to ${app.name}`,
    error: wrong === null ? null : { field: 'identifier', message: wrong },
    body: html`<form method="post" action="${action}/login">
        ${hidden(csrf)} ${field({ label: 'E-mail address', ...IDENTIFIER, value: identifier, invalid: wrong !== null })}
        ${field({ label: 'Password', ...PASSWORD, invalid: wrong !== null })}
        <button>Sign in</button>
      </form>
      ${otherWays({ action, csrf, app })} ${cancel(action, csrf)}`,
  };
}

/** Money stands under a heading of its own. */
const MARKS = { PHI: 'Health data', FIN: '', contact: '', plain: '' } as const;

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

export interface Consent {
  /** What the app asks for. */
  scopes: readonly string[];
  ticked: ReadonlySet<string>;
  /** Address of the account; null when it has none. */
  account: string | null;
  /** Where the answer goes: an origin or a scheme. */
  target: string;
}

/** What is not ticked is declined. */
export function consentPage({ action, csrf, app }: Step, { scopes, ticked, account, target }: Consent): Page {
  const publisher = app.firstParty ? 'It is our own app.' : 'It is published by somebody else.';
  return {
    title: `What may ${app.name} do?`,
    body: html`${account !== null && html`<p class="who">You are signed in as ${account}</p>`}
      <p>
        ${app.name} asks for access to your account. ${publisher}
        ${app.privacyUrl && html`<a href="${app.privacyUrl}" rel="noreferrer">How it treats your data</a>.`}
      </p>
      <form method="post" action="${action}/consent">
        ${hidden(csrf)}${groups(scopes, ticked)}
        <p class="note">You can take this back at any time under connected apps in your account.</p>
        <p class="note">You return to <strong>${target}</strong>.</p>
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

/** What the link of an invitation offers. */
export const invitationPage = (action: string, csrf: string, step: 'accept' | 'open_account'): Page => ({
  title: 'You are invited to the team',
  body: html`<p>
      ${step === 'accept' ? 'With this account you will work here, with the roles of the invitation.' : 'There is no account with your address yet. Open one, then sign in to the staff app with a link by mail.'}
    </p>
    <form method="post" action="${action}">
      ${hidden(csrf)}<button>${step === 'accept' ? 'Accept the invitation' : 'Open an account'}</button>
    </form>`,
});

/** Nobody is signed in by following a link: whoever follows it sees as whom, and goes on. */
export const ssoPage = (action: string, csrf: string, name: string | null): Page => ({
  title: name === null ? 'Continue to your account' : `Continue as ${name}`,
  body: html`<p>You come from a partner who has told us who you are. Is this not you? Then close this page.</p>
    <form method="post" action="${action}">${hidden(csrf)}<button>${name === null ? 'Continue' : `Continue as ${name}`}</button></form>`,
});

export const messagePage = (title: string, text: string): Page => ({ title, body: html`<p>${text}</p>` });
