import { html, type Html } from '../../../../runtime/http/html.js';
import type { Money } from '../../../../runtime/schema/scalars.js';
import type { CheckoutAmounts } from '../../entities/money.js';
import { amountText } from '../../rules/minor-units.js';
import type { Page } from './layout.js';

const inWords = ({ amount, currency }: Money): string => amountText(amount, currency);

/** Something that may pay. */
export interface Choice {
  value: string;
  label: string;
}

export interface PayView {
  seller: string;
  /** What is bought; empty where it is an amount alone. */
  items: readonly { description: string; quantity: number; subtotal: Money }[];
  amounts: CheckoutAmounts | null;
  total: Money;
  saved: readonly Choice[];
  /** Of the sandbox. */
  tests: readonly Choice[];
  cancelUrl: string | null;
  error: string | null;
  /** Nothing is paid now: a method is kept for later. */
  isSetup: boolean;
}

const row = (label: string, amount: Money, sign = ''): Html | null =>
  amount.amount === 0
    ? null
    : html`<dt>${label}</dt>
        <dd>${sign}${inWords(amount)}</dd>`;

const amountList = ({ items, amounts, total }: PayView): Html =>
  html`<dl class="amounts">
    ${items.map(
      item =>
        html`<dt>${item.description}${item.quantity > 1 && ` × ${item.quantity}`}</dt>
          <dd>${inWords(item.subtotal)}</dd>`,
    )}
    ${
      amounts && [
        row('Discount', amounts.discount, '−'),
        row('Tax', amounts.tax),
        row('Shipping', amounts.shipping),
        row('Cash', amounts.cashApplied, '−'),
        row('Credit', amounts.creditApplied, '−'),
      ]
    }
    <dt class="total">To pay</dt>
    <dd class="total">${inWords(total)}</dd>
  </dl>`;

export const choices = (name: string, legend: string, list: readonly Choice[], checkedFirst: boolean): Html | null =>
  list.length === 0
    ? null
    : html`<fieldset class="group">
        <legend>${legend}</legend>
        <ul class="scopes">
          ${list.map(
            ({ value, label }, index) =>
              html`<li>
                <label
                  ><input type="radio" name="${name}" value="${value}" required ${checkedFirst && index === 0 && 'checked'} />
                  <span>${label}</span></label
                >
              </li>`,
          )}
        </ul>
      </fieldset>`;

/** The page on which a session is paid: saved methods, and the sandbox's named ones. No field takes digits. */
export function payPage(view: PayView): Page {
  const { saved, tests, cancelUrl, total, isSetup, seller, error } = view;
  const body = html`${isSetup ? html`<p>Choose what pays in future. Nothing is charged now.</p>` : amountList(view)}
    <form method="post">
      ${choices('method', 'Your payment methods', saved, true)}
      ${choices('method', 'Test methods of the sandbox: no money moves', tests, saved.length === 0)}
      <button>${isSetup ? 'Save' : `Pay ${inWords(total)}`}</button>
    </form>
    ${cancelUrl && html`<p class="links"><a href="${cancelUrl}">Go back without paying</a></p>`}`;
  return { title: isSetup ? 'Add a payment method' : `Pay ${seller}`, seller, error, body };
}

/** The sandbox's stand-in for a bank's page: the customer says yes or no. */
export const authenticationPage = (seller: string, total: Money): Page => ({
  title: 'Confirm your payment',
  seller,
  body: html`<p>Your bank asks whether you want to pay <strong>${inWords(total)}</strong> to ${seller}. This is the sandbox's test page.</p>
    <form method="post">
      <div class="answers">
        <button name="answer" value="complete">Confirm</button><button class="quiet" name="answer" value="fail">Refuse</button>
      </div>
    </form>`,
});

const back = (url: string | null): Html | null => (url === null ? null : html`<p class="links"><a href="${url}">Go back</a></p>`);

export const processingPage = (seller: string, returnUrl: string | null): Page => ({
  title: 'Your payment is being processed',
  seller,
  body: html`<p>This can take some minutes. You need not wait here: nothing will be charged twice.</p>
    <form method="get"><button class="quiet">Look again</button></form>
    ${back(returnUrl)}`,
});

export const donePage = (seller: string | null, returnUrl: string | null): Page => ({
  title: 'Thank you',
  seller,
  body: html`<p>Your payment has arrived.</p>
    ${back(returnUrl)}`,
});

/** For what ended and what never was, alike. */
export const nothingPage: Page = {
  title: 'There is nothing to pay here',
  body: html`<p>The address is wrong, or the purchase has ended. Go back to the shop and begin again.</p>`,
};
