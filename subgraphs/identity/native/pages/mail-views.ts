import { field, html, type Html } from '../../../../runtime/http/html.js';
import { type FieldError, hidden, type Page, type Step } from './layout.js';

/** One message for a wrong code, a spent one and none at all. */
export const WRONG_CODE: FieldError = {
  field: 'code',
  message: 'The code is wrong or no longer good. Ask for a new mail if it stays so.',
};

/** How a mail is asked for: by the page of the same name. */
export type MailWay = 'magic-link' | 'sign-up' | 'recovery';

/** A mail that was asked for. */
export interface Asked {
  way: MailWay;
  /** As it was typed. */
  email: string;
}

const emailField = (id: string, value = '', invalid = false): Html =>
  field({ label: 'E-mail address', id, name: 'email', type: 'email', autocomplete: 'email', maxlength: '254', value, invalid });

const codeField = (invalid: boolean, value = ''): Html =>
  field({ label: 'Code from the mail', id: 'code', inputmode: 'numeric', autocomplete: 'one-time-code', maxlength: '16', value, invalid });

/** What a form of ours has to know of the mail, so that the next page can name it. */
const remember = ({ way, email }: Asked): Html =>
  html`<input type="hidden" name="way" value="${way}" /><input type="hidden" name="email" value="${email}" />`;

/** The mail has not come: once more, or to another address. */
const notThere = ({ action, csrf }: Step, { way, email }: Asked): Html =>
  html`<form method="post" action="${action}/${way}">
      ${hidden(csrf)}<input type="hidden" name="email" value="${email}" /><input type="hidden" name="resend" value="1" />
      <p class="note">Nothing there? Look among the unwanted mail, too, and wait a minute.</p>
      <button class="quiet">Send the mail again</button>
    </form>
    <p class="links"><a href="${action}/${way}">Use another address</a><a href="${action}">Back to sign-in</a></p>`;

/** Whether the address is one of ours is told to nobody. */
const onItsWay = ({ email }: Asked, again: boolean, known: string): Html =>
  html`<p ${again && html`role="status"`}>
    If ${known} <strong>${email}</strong>,
    ${again ? 'another mail is on its way. Only the code of the newest one is good.' : 'a mail is on its way.'}
  </p>`;

const PASSWORD = { id: 'password', type: 'password', autocomplete: 'new-password', maxlength: '512', 'aria-describedby': 'password-note' };

const passwordField = (label: string, invalid: boolean): Html =>
  html`${field({ label, ...PASSWORD, invalid })}
    <p class="note" id="password-note">At least 10 characters; what they are is up to you.</p>`;

const back = (action: string): Html => html`<p class="links"><a href="${action}">Back to sign-in</a></p>`;

/** Asks for the address that a link goes to. */
export const linkRequestPage = ({ action, csrf }: Step, email = '', error: FieldError | null = null): Page => ({
  title: 'Sign in by e-mail',
  error,
  body: html`<p>We send you a link and a code. No password is needed.</p>
    <form method="post" action="${action}/magic-link">
      ${hidden(csrf)} ${emailField('email', email, error !== null)}<button>Send the mail</button>
    </form>
    ${back(action)}`,
});

export const recoveryRequestPage = ({ action, csrf }: Step, email = '', error: FieldError | null = null): Page => ({
  title: 'Choose a new password',
  error,
  body: html`<p>We send you a mail that lets you choose a new one. You will be signed out everywhere.</p>
    <form method="post" action="${action}/recovery">
      ${hidden(csrf)} ${emailField('email', email, error !== null)}<button>Send the mail</button>
    </form>
    ${back(action)}`,
});

/** How a page for a code is shown again. */
export interface Shown {
  error?: FieldError | null;
  /** The mail was sent once more. */
  again?: boolean;
  /** A code that need not be typed again. */
  code?: string;
}

/** The same for every address, known or not. */
export const codePage = (step: Step, asked: Asked, { error = null, again = false }: Shown = {}): Page => ({
  title: 'Check your mail',
  error,
  body: html`${onItsWay(asked, again, 'we can write to')}
    <p>Open its link in this browser, or type its code here.</p>
    <form method="post" action="${step.action}/email-code">
      ${hidden(step.csrf)}${remember(asked)} ${codeField(error !== null)}<button>Go on</button>
    </form>
    ${notThere(step, asked)}`,
});

/** The same for every address, too. A code stays where it was typed when the password is refused. */
export const recoveryCodePage = (step: Step, asked: Asked, { error = null, again = false, code = '' }: Shown = {}): Page => ({
  title: 'Check your mail',
  error,
  body: html`${onItsWay(asked, again, 'there is an account with')}
    <p>Type its code and your new password here.</p>
    <form method="post" action="${step.action}/new-password">
      ${hidden(step.csrf)}${remember(asked)} ${codeField(error?.field === 'code', code)}
      ${passwordField('New password', error?.field === 'password')}
      <button>Save the new password</button>
    </form>
    ${notThere(step, asked)}`,
});

export interface SignUpFields {
  email: string;
  displayName: string;
}

const NAME = { id: 'display_name', autocomplete: 'name', maxlength: '60' };

export const signUpPage = ({ action, csrf, app }: Step, { email, displayName }: SignUpFields, error: FieldError | null = null): Page => ({
  title: `Create your account for ${app.name}`,
  error,
  body: html`<form method="post" action="${action}/sign-up">
      ${hidden(csrf)} ${emailField('email', email, error?.field === 'email')}
      ${field({ label: 'Name that others see', ...NAME, value: displayName, invalid: error?.field === 'display_name' })}
      ${passwordField('Password', error?.field === 'password')}
      <button>Create the account</button>
    </form>
    ${back(action)}`,
});

/** Below the sign-in form: the other ways in. */
export const otherWays = ({ action, csrf }: Step): Html =>
  html`<div class="links">
      <p><a href="${action}/recovery">Forgot your password?</a></p>
      <p><a href="${action}/sign-up">Create an account</a></p>
    </div>
    <details>
      <summary>Sign in without a password</summary>
      <form method="post" action="${action}/magic-link">
        ${hidden(csrf)} ${emailField('email')}<button class="quiet">E-mail me a link</button>
      </form>
    </details>`;

/** In the browser that asked: one button, because opening a link must not use it up. */
export const continuePage = (action: string, csrf: string): Page => ({
  title: 'Go on here',
  body: html`<p>Your address is confirmed as soon as you go on.</p>
    <form method="post" action="${action}">${hidden(csrf)}<button>Go on</button></form>`,
});

/** In another browser: whoever asked types the code where they asked, so that nobody is signed in by somebody else's click. */
export const elsewherePage = (code: string | null): Page => ({
  title: 'Go back to where you began',
  body: html`<p>
      You asked for this mail in another browser. ${code === null ? 'Type the code of the mail there.' : 'Type this code there:'}
    </p>
    ${code !== null && html`<p class="typed">${code.slice(0, 3)} ${code.slice(3)}</p>`}
    <p class="note">Did you not ask for it? Then tell nobody the code and close this page.</p>`,
});

export interface Reset {
  title: string;
  text: string;
  button: string;
}

/** A new password by a link. */
export const newPasswordPage = (action: string, csrf: string, { title, text, button }: Reset, fault: string | null = null): Page => ({
  title,
  error: fault === null ? null : { field: 'password', message: fault },
  body: html`<p>${text}</p>
    <form method="post" action="${action}">
      ${hidden(csrf)} ${passwordField('New password', fault !== null)}<button>${button}</button>
    </form>`,
});
