import { html, type Html } from '../../../../runtime/http/html.js';
import type { Page } from './layout.js';
import { choices, type Choice } from './pay-views.js';

export interface PortalMethod {
  id: string;
  label: string;
  isDefault: boolean;
}

export interface PortalSubscription {
  id: string;
  label: string;
  status: string;
  /** Until when it runs, a day. */
  until: string;
  /** It ends then, or was asked to. */
  isEnding: boolean;
  canEnd: boolean;
}

export interface PortalInvoice {
  id: string;
  label: string;
  total: string;
  status: string;
}

export interface PortalView {
  returnUrl: string;
  error: string | null;
  /** Null: not part of this flow. */
  methods: readonly PortalMethod[] | null;
  /** Of the sandbox. */
  tests: readonly Choice[];
  subscriptions: readonly PortalSubscription[] | null;
  invoices: readonly PortalInvoice[] | null;
}

/** A form of one button. */
const button = (act: string, id: string, label: string, name: string): Html =>
  html`<form method="post">
    <input type="hidden" name="act" value="${act}" /><input type="hidden" name="id" value="${id}" />
    <button class="quiet" aria-label="${label}: ${name}">${label}</button>
  </form>`;

const methodItem = ({ id, label, isDefault }: PortalMethod): Html =>
  html`<section class="app">
    <h3>${label}</h3>
    <p class="note">${isDefault ? 'Pays what is due next.' : 'Kept for later.'}</p>
    ${!isDefault && button('default', id, 'Pay with it', label)} ${button('detach', id, 'Remove', label)}
  </section>`;

const methodPart = (methods: readonly PortalMethod[], tests: readonly Choice[]): Html =>
  html`<h2>Payment methods</h2>
    ${methods.length === 0 ? html`<p>You have no payment method.</p>` : methods.map(methodItem)}
    ${
      tests.length > 0 &&
      html`<details>
        <summary>Add a method</summary>
        <form method="post">
          <input type="hidden" name="act" value="attach" />
          ${choices('token', 'Test methods of the sandbox: no money moves', tests, true)}
          <button>Add</button>
        </form>
      </details>`
    }`;

const subscriptionItem = ({ id, label, status, until, isEnding, canEnd }: PortalSubscription): Html =>
  html`<section class="app">
    <h3>${label}</h3>
    <p class="note">${status}, ${isEnding ? 'ends' : 'renews'} on ${until}.</p>
    ${canEnd && button('cancel', id, 'End it then', label)}
  </section>`;

const subscriptionPart = (subscriptions: readonly PortalSubscription[]): Html =>
  html`<h2>Subscriptions</h2>
    ${subscriptions.length === 0 ? html`<p>You have no subscription.</p>` : subscriptions.map(subscriptionItem)}`;

const invoicePart = (invoices: readonly PortalInvoice[]): Html =>
  html`<h2>Invoices</h2>
    ${
      invoices.length === 0
        ? html`<p>There is no invoice.</p>`
        : html`<ul class="ways">
            ${invoices.map(({ label, total, status }) => html`<li>${label} <span class="note">${total}, ${status}</span></li>`)}
          </ul>`
    }`;

/** What a customer sees and may do about billing, for as long as the session lives. */
export function portalPage(view: PortalView): Page {
  const { returnUrl, error, methods, tests, subscriptions, invoices } = view;
  const body = html`${methods && methodPart(methods, tests)} ${subscriptions && subscriptionPart(subscriptions)}
    ${invoices && invoicePart(invoices)}
    <p class="links"><a href="${returnUrl}">Go back</a></p>`;
  return { title: 'Billing', error, body };
}

/** For what ended, was used and never was, alike. */
export const nowherePage: Page = {
  title: 'This way is closed',
  body: html`<p>The address was used before, has ended, or is wrong. Open your billing from the app again.</p>`,
};
