import { field, html, type Html } from '../../../../runtime/http/html.js';
import { hidden, type Page, type Step, type Way } from './layout.js';
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

/** Ends the sign-in of this browser. */
export const signOutPage = (action: string, csrf: string): Page => ({
  title: 'Sign out',
  body: html`<p>You will be signed out in this browser, and of our own apps that you opened in it.</p>
    <form method="post" action="${action}">${hidden(csrf)}<button>Sign out</button></form>`,
});

/** Nobody is signed in by following a link: whoever follows it sees as whom, and goes on. */
export const ssoPage = (action: string, csrf: string, name: string | null): Page => ({
  title: name === null ? 'Continue to your account' : `Continue as ${name}`,
  body: html`<p>You come from a partner who has told us who you are. Is this not you? Then close this page.</p>
    <form method="post" action="${action}">${hidden(csrf)}<button>${name === null ? 'Continue' : `Continue as ${name}`}</button></form>`,
});

/** Says something, and leads on. */
export const messagePage = (title: string, text: string | Html, ways: readonly Way[]): Page => ({
  title,
  body: html`${typeof text === 'string' ? html`<p>${text}</p>` : text}
    <ul class="ways">
      ${ways.map(({ href, label }) => html`<li><a href="${href}" rel="noreferrer">${label}</a></li>`)}
    </ul>`,
});

/** Too many tries: nothing helps but to wait, or another way in. `wait`: as people say it. */
export const waitPage = ({ action, csrf, app }: Step, wait: string): Page => ({
  title: 'Too many tries',
  body: html`<p>To keep others out of your account, nothing more is tried now. Wait ${wait}, then try again.</p>
    <ul class="ways">
      <li><a href="${action}">Back to sign-in</a></li>
      <li><a href="${action}/magic-link">Sign in by e-mail instead</a></li>
      <li><a href="${action}/recovery">Forgot your password?</a></li>
    </ul>
    <form method="post" action="${action}/abort">${hidden(csrf)}<button class="plain">Cancel and go back to ${app.name}</button></form>`,
});
