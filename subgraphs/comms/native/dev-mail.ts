import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html, Html } from '../../../runtime/http/html.js';
import { isLocal } from '../../../runtime/http/local-only.js';
import { plugin } from '../../../runtime/http/plugin.js';
import { isUuid } from '../../../runtime/data/ids.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { CapturedMessage } from '../entities/records.js';
import type { CapturedCommsMessage } from '../entities/message.js';
import type { Rendered } from '../ports/provider.js';
import { settingsOf } from '../ports/settings.js';
import { capturedOf, opened } from '../queries/messages.js';
import { sendPage } from './layout.js';

const SHOWN = 50;

const nothing = (): never => {
  throw new Problem('not_found', 'There is nothing at this address');
};

const contentOf = ({ content }: CapturedCommsMessage): Rendered => content as unknown as Rendered;
const titleOf = (mail: CapturedCommsMessage): string =>
  contentOf(mail).push?.title ?? (contentOf(mail).subject || contentOf(mail).text.slice(0, 80));

const item = (mail: CapturedCommsMessage): Html =>
  html`<li class="app">
    <h2><a href="/dev/mail/${mail.id}">${titleOf(mail)}</a></h2>
    <p>${mail.channel} to ${mail.to} <time datetime="${mail.createdAt.toISOString()}">${mail.createdAt.toISOString()}</time></p>
  </li>`;

const NONE = html`<p>Nothing yet. Ask for a link at a sign-in page, or for a new password, and reload.</p>`;

/** Links stand as links, so that a person at the machine can follow them. */
const linked = (text: string): (Html | string)[] =>
  text.split(/(https?:\/\/\S+)/).map((part, index) => (index % 2 === 1 ? html`<a href="${part}">${part}</a>` : part));

function detail(mail: CapturedCommsMessage): Html {
  const { headers, subject, from, text, html: body, push } = contentOf(mail);
  const facts = Object.entries({
    from,
    to: mail.to,
    subject,
    ...headers,
    ...(push && { title: push.title, body: push.body, link: push.deepLink }),
  });
  const frame = body
    ? new Html(
        `<iframe title="HTML" sandbox="" csp="default-src 'none'; style-src 'unsafe-inline'" width="100%" height="480" srcdoc="${html`${body}`.text}"></iframe>`,
      )
    : null;
  return html`<dl>
      ${facts.map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd>`,
      )}
    </dl>
    <pre style="white-space:pre-wrap">${linked(text)}</pre>
    ${frame}
    <p class="links"><a href="/dev/mail">All mail</a></p>`;
}

/** The one development mailbox: what `capture` holds, for who sits at the machine. To everybody else it does not exist. Source: comms 4.9. */
export const devMail = (host: ServiceHost) =>
  plugin('comms-dev-mail', async (scope: FastifyInstance) => {
    scope.addHook('onRequest', async request => {
      if (!settingsOf(host).showsCaptured || !isLocal(request)) nothing();
    });
    scope.get('/dev/mail', async (_request, reply: FastifyReply) => {
      const mails = await host.read(ctx => capturedOf(ctx, { first: SHOWN }));
      return sendPage(
        reply,
        'Mail',
        'development',
        mails.length
          ? html`<ol class="mails">
              ${mails.map(item)}
            </ol>`
          : NONE,
      );
    });
    scope.get('/dev/mail/:id', async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
      const { id } = request.params;
      const row = isUuid(id) ? await host.read(ctx => ctx.em.findOne(CapturedMessage, { id })) : null;
      if (!row) return nothing();
      const mail = await host.read(async ctx => opened(ctx, row));
      return sendPage(reply, titleOf(mail), 'development', detail(mail));
    });
  });
