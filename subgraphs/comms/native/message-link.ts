import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html } from '../../../runtime/http/html.js';
import { plugin } from '../../../runtime/http/plugin.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { isUuid } from '../../../runtime/data/ids.js';
import type { Authenticate } from '../../../runtime/service.js';
import { CommsInboxItemStatus as Status } from '../entities/enums.js';
import { tellInboxes } from '../commands/stream.js';
import { CommsInboxItem } from '../entities/inbox.js';
import { CommsMessage } from '../entities/message.js';
import { brandAmong, brandsOf, type BrandFacts } from '../ports/brands.js';
import { textOfItem } from '../queries/inbox.js';
import { sendPage } from './layout.js';
import { beginSignIn, finishSignIn, readerOf, sessionOf } from './sign-in.js';

type LinkRequest = FastifyRequest<{ Params: { id: string }; Querystring: { sign_in?: string } }>;

/** The brand whose host was asked, else the default one. */
const brandFor = (brands: readonly BrandFacts[], host: string): BrandFacts =>
  brands.find(({ hosts }) => hosts.includes(host)) ?? brandAmong(brands, null);

const hostOf = ({ headers: { host } }: FastifyRequest): string => (host ?? '').replace(/:\d+$/, '').toLowerCase();

const NOBODY = html`<p>Sign in to read it.</p>
  <p><a href="?sign_in=1">Sign in</a></p>`; // the same for every id, known or not

/** The item that the app shows of a message's request; another channel's message leads to it, too. */
async function itemOf(
  host: ServiceHost,
  id: string,
  userId: string,
): Promise<{ item: CommsInboxItem; text: ReturnType<typeof textOfItem> } | null> {
  if (!isUuid(id)) return null;
  return host.transaction(async ctx => {
    const message = await ctx.em.findOne(CommsMessage, { id: id.toLowerCase(), userId });
    if (!message) return null;
    const all = message.requestId === null ? [message] : await ctx.em.find(CommsMessage, { requestId: message.requestId, userId });
    const item = await ctx.em.findOne(CommsInboxItem, { messageId: { $in: all.map(one => one.id) }, userId });
    if (!item) return null;
    if (item.status === Status.UNSEEN || item.status === Status.SEEN) {
      Object.assign(item, { status: Status.READ, readAt: ctx.now() });
      await tellInboxes(ctx, [item]);
    }
    return { item, text: textOfItem(ctx, item) };
  });
}

async function open(host: ServiceHost, request: LinkRequest, reply: FastifyReply, authenticate: Authenticate): Promise<FastifyReply> {
  const { id } = request.params;
  const brand = brandFor(await host.read(brandsOf), hostOf(request));
  const reader = (await readerOf(request, authenticate)) ?? sessionOf(host, request);
  if (!reader && request.query.sign_in !== undefined && isUuid(id)) return beginSignIn(host, reply, id);
  if (!reader) {
    if (brand.appHosts[0] && isUuid(id)) return reply.redirect(`https://${brand.appHosts[0]}/m/${id}`, 303);
    return sendPage(reply, 'There is a message for you', brand.name, NOBODY);
  }
  const found = await itemOf(host, id, reader.userId);
  if (!found) return sendPage(reply, 'Nothing here', brand.name, html`<p>There is no message of yours at this address.</p>`, 404);
  const { item, text } = found;
  if (brand.appHosts[0] && item.link) return reply.redirect(item.link, 303);
  const shown = reader.firstParty || !item.isClinical ? text : { ...text, title: text.neutral ?? '', body: text.neutral ?? '' };
  return sendPage(
    reply,
    shown.title,
    brand.name,
    html`<p>${shown.body}</p>
      <p class="note">${text.why}</p>
      <p class="note">
        <time datetime="${item.createdAt.toISOString()}">${item.createdAt.toISOString().slice(0, 16).replace('T', ' ')} UTC</time>
      </p>`,
  );
}

async function back(host: ServiceHost, request: FastifyRequest, reply: FastifyReply, authenticate: Authenticate): Promise<FastifyReply> {
  const signedIn = await finishSignIn(host, request as Parameters<typeof finishSignIn>[1], reply, authenticate);
  if (signedIn) return signedIn;
  const brand = brandFor(await host.read(brandsOf), hostOf(request));
  return sendPage(reply, 'You are not signed in', brand.name, html`<p>Please open the link of your message again.</p>`, 400);
}

/** The link of every message: who is signed in reads it, to everybody else it looks like any other. Source: comms 4.8. */
export const messageLink = (host: ServiceHost, authenticate: Authenticate) =>
  plugin('comms-message-link', async (scope: FastifyInstance) => {
    scope.get('/comms/m/callback', (request, reply) => back(host, request, reply, authenticate));
    scope.get('/comms/m/:id', (request: LinkRequest, reply) => open(host, request, reply, authenticate));
  });
