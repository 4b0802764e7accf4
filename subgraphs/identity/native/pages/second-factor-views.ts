import type { TotpEnrolment } from '../../entities/mfa.js';
import { field, html, type Html } from '../../../../runtime/http/html.js';
import { hidden, type Page, type Step } from './layout.js';
import { cancel } from './views.js';

/** Ways in which a person can prove who they are. */
export interface SecondFactorWays {
  /** An authenticator app. */
  app: boolean;
  /** Where a code by mail goes, masked; null: not possible. */
  email: string | null;
  backupCodes: boolean;
}

const WRONG = 'That code is not right, or it was used before.';

/** What the fields of all codes have in common. */
const CODE = { class: 'code', name: 'code', maxlength: '16', spellcheck: 'false' };
const DIGITS = { ...CODE, inputmode: 'numeric', autocomplete: 'one-time-code' };

const codeField = (invalid: boolean): Html => field({ label: 'Six-digit code', id: 'code', ...DIGITS, invalid });

const appForm = ({ action, csrf }: Step, wrong: boolean): Html =>
  html`<form method="post" action="${action}/mfa">
    ${hidden(csrf)}<input type="hidden" name="method" value="totp" />
    ${codeField(wrong)}
    <button>Continue</button>
  </form>`;

const mailForm = ({ action, csrf }: Step, email: string, wrong: boolean): Html =>
  html`<form method="post" action="${action}/mfa">
      ${hidden(csrf)}<input type="hidden" name="method" value="email_otp" />
      ${field({ label: `Code from the mail to ${email}`, id: 'mail-code', ...DIGITS, invalid: wrong })}
      <button>Continue</button>
    </form>
    <form method="post" action="${action}/mfa">
      ${hidden(csrf)}<input type="hidden" name="method" value="email_otp" /><input type="hidden" name="resend" value="1" />
      <button class="quiet">Send a new code</button>
    </form>`;

/** Beside an authenticator app the mail is sent only when it is asked for. */
const mailSection = (step: Step, { app, email }: SecondFactorWays, wrong: boolean): Html | false =>
  email !== null &&
  (app
    ? html`<details ${wrong && html`open`}>
        <summary>Use a code by e-mail</summary>
        ${mailForm(step, email, wrong)}
      </details>`
    : mailForm(step, email, wrong));

/** The field that each way is typed into. */
const FIELDS: Readonly<Record<string, string>> = { totp: 'code', email_otp: 'mail-code', backup_code: 'backup-code' };

const backupForm = ({ action, csrf }: Step, wrong: boolean, alone: boolean): Html =>
  html`<details ${(wrong || alone) && html`open`}>
    <summary>Use a backup code</summary>
    <form method="post" action="${action}/mfa">
      ${hidden(csrf)}<input type="hidden" name="method" value="backup_code" />
      ${field({ label: 'Backup code', id: 'backup-code', ...CODE, maxlength: '32', autocomplete: 'off', autocapitalize: 'none', invalid: wrong })}
      <button class="quiet">Continue with the backup code</button>
    </form>
  </details>`;

/** Whoever has none of it at hand is told what to do, and can begin again as somebody else. */
const lost = ({ action, csrf }: Step, { backupCodes }: SecondFactorWays): Html =>
  html`<details>
    <summary>Nothing of this at hand?</summary>
    <p>
      ${!backupCodes && 'You have no backup codes left. '}Only a person can help you then: if you work here, ask whoever looks after the
      team; otherwise write to our support. Nobody of us asks you for a code.
    </p>
    <form method="post" action="${action}/mfa">
      ${hidden(csrf)}<input type="hidden" name="restart" value="1" /><button class="quiet">Sign in with another account</button>
    </form>
  </details>`;

/** `wrong`: the way that was tried in vain. */
export function secondFactorPage(step: Step, ways: SecondFactorWays, wrong: string | null = null): Page {
  const { app, email, backupCodes } = ways;
  return {
    title: 'Confirm that it is you',
    error: wrong === null ? null : { field: FIELDS[wrong] ?? 'code', message: WRONG },
    body: html`${app && html`<p>Enter the code that your authenticator app shows for your account.</p>`}
    ${app && appForm(step, wrong === 'totp')} ${mailSection(step, ways, wrong === 'email_otp')}
    ${backupCodes && backupForm(step, wrong === 'backup_code', !app && email === null)} ${lost(step, ways)}
    ${cancel(step.action, step.csrf)}`,
  };
}

/** In groups of four, as people read and type them. */
const grouped = (secret: string): string => (secret.match(/.{1,4}/g) ?? []).join(' ');

export function enrolmentPage(step: Step, { qrSvg, secret }: TotpEnrolment, wrong: boolean): Page {
  const picture = `data:image/svg+xml;base64,${Buffer.from(qrSvg).toString('base64')}`;
  return {
    title: 'Set up your second factor',
    error: wrong ? { field: 'code', message: 'That code is not right. Look at the newest one in your app.' } : null,
    body: html`<p>Staff accounts are protected by an authenticator app as well as by the password.</p>
      <ol class="steps">
        <li>Open an authenticator app and scan this picture.</li>
        <li>Enter the six digits that the app shows.</li>
      </ol>
      <img class="qr" src="${picture}" width="200" height="200" alt="QR code with the key that is written below" />
      <p class="note">No camera? Enter this key by hand: <code>${grouped(secret)}</code></p>
      <form method="post" action="${step.action}/mfa-enrol">
        ${hidden(step.csrf)} ${codeField(wrong)}
        <button>Turn on and continue</button>
      </form>
      ${cancel(step.action, step.csrf)}`,
  };
}

/** Shown once. `codes`: null when they were shown before. */
export function backupCodesPage(step: Step, codes: readonly string[] | null): Page {
  return {
    title: codes ? 'Keep your backup codes' : 'Your second factor is on',
    body: html`${
        codes &&
        html`<p>
            Each of these codes signs you in once when you do not have your app at hand. Keep them where only you can find them: they are
            not shown again.
          </p>
          <ul class="codes">
            ${codes.map(code => html`<li><code>${code}</code></li>`)}
          </ul>`
      }
      <form method="post" action="${step.action}/mfa-enrol">
        ${hidden(step.csrf)}
        <button>${codes ? 'I have kept them, continue' : 'Continue'}</button>
      </form>`,
  };
}
