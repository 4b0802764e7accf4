import { html } from '../../../../runtime/http/html.js';
import { hidden, type Page, type Way } from './layout.js';

/** What the person at an invitation can do now. */
export type InvitationStep = 'accept' | 'open_account' | 'sign_in' | 'wrong_account' | 'mfa_required' | 'already_staff';

/** Who was invited is shown to nobody: a link may be in wrong hands. */
const TEXTS: Readonly<Record<InvitationStep, readonly [title: string, text: string, button: string | null]>> = {
  accept: [
    'You are invited to the team',
    'With this account you will work here, with the roles of the invitation.',
    'Accept the invitation',
  ],
  open_account: [
    'You are invited to the team',
    'There is no account with your address yet. It is opened now, you set up a second factor for it, and then you accept the invitation.',
    'Open an account',
  ],
  sign_in: ['You are invited to the team', 'Sign in with the address that the invitation came to. Then you can accept it.', 'Sign in'],
  wrong_account: [
    'This invitation is for another account',
    'You are signed in with another address. Sign in with the one that the invitation came to.',
    'Sign in with another account',
  ],
  mfa_required: [
    'Set up a second factor first',
    'Everybody who works here signs in with a second factor. Sign in once more: it is set up on the way.',
    'Sign in and set it up',
  ],
  already_staff: ['You work here already', 'There is nothing to accept for this account.', null],
};

/** `ways`: where the page leads when there is nothing to do on it. */
export function invitationPage(action: string, csrf: string, step: InvitationStep, ways: readonly Way[]): Page {
  const [title, text, button] = TEXTS[step];
  return {
    title,
    body: html`<p>${text}</p>
      ${button !== null && html`<form method="post" action="${action}">${hidden(csrf)}<button>${button}</button></form>`}
      ${
        button === null &&
        html`<ul class="ways">
          ${ways.map(({ href, label }) => html`<li><a href="${href}" rel="noreferrer">${label}</a></li>`)}
        </ul>`
      }`,
  };
}
