import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { html, type Html } from '../../../runtime/http/html.js';
import { plugin } from '../../../runtime/http/plugin.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { Problem } from '../../../runtime/request/errors.js';
import { changeMail, isCurrent, switchesOf, tokenRow, topicsOf } from '../commands/mail-links.js';
import type { MailToken } from '../entities/records.js';
import { topicOf } from '../rules/topics.js';
import { formOf, sendPage, takeForms } from './layout.js';

type TokenRequest = FastifyRequest<{ Params: { token: string } }>;

const nothing = (): never => {
  throw new Problem('not_found', 'There is nothing at this address');
};

const rowOf = async (host: ServiceHost, { params: { token } }: TokenRequest): Promise<MailToken> =>
  (await host.read(ctx => tokenRow(ctx, token))) ?? nothing();

/** Whether the address is still the person's; while identity does not answer, only the address is changed. */
const currentOf = (host: ServiceHost, row: MailToken): Promise<boolean> => host.read(ctx => isCurrent(ctx, row)).catch(() => false);

const change = async (host: ServiceHost, row: MailToken, topics: readonly string[], on: boolean): Promise<void> => {
  const current = await currentOf(host, row);
  await host.transaction(ctx => changeMail(ctx, row, topics, on, current));
};

const prefs = (token: string): Html => html`<p class="links"><a href="/comms/v1/preferences/link/${token}">All e-mail settings</a></p>`;

const labelOf = (topic: string): string =>
  topicOf(topic)?.category === 'clinical' ? 'Personal reminders' : (topicOf(topic)?.names.en ?? 'this topic');

const question = (token: string, { topic, masked }: MailToken): Html =>
  html`<p>${masked} gets e-mail about ${labelOf(topic)}.</p>
    <form method="post" action="/comms/v1/unsubscribe/${token}">
      <input type="hidden" name="topic" value="${topic}" /><button>Stop these e-mails</button>
    </form>
    <form method="post" action="/comms/v1/unsubscribe/${token}">
      <input type="hidden" name="all" value="1" /><button class="quiet">Stop all that can be stopped</button>
    </form>
    ${prefs(token)}`;

const stopped = (token: string, topic: string): Html =>
  html`<p>You will get no more of these e-mails. What concerns your account, orders and payments still comes.</p>
    <form method="post" action="/comms/v1/unsubscribe/${token}">
      <input type="hidden" name="topic" value="${topic}" /><input type="hidden" name="undo" value="1" /><button class="quiet">Undo</button>
    </form>
    ${prefs(token)}`;

/** What a form, or a mailbox with one click, asks for. Source: RFC 8058, comms 4. */
async function unsubscribe(host: ServiceHost, request: TokenRequest, reply: FastifyReply): Promise<FastifyReply> {
  const row = await rowOf(host, request);
  const form = formOf(request);
  const undo = form.get('undo') === '1';
  const asked = form.get('all') === '1' ? 'all' : (form.get('topic') ?? row.topic);
  await change(host, row, topicsOf(asked), undo);
  return undo
    ? sendPage(reply, 'You get them again', 'E-mail', prefs(request.params.token))
    : sendPage(reply, 'Done', 'E-mail', stopped(request.params.token, asked));
}

async function settings(host: ServiceHost, { params: { token } }: TokenRequest, row: MailToken, note: string | null): Promise<Html> {
  const switches = await host.read(ctx => switchesOf(ctx, row));
  const boxes = switches.map(
    ({ key, label, on }) =>
      html`<li>
        <label><input type="checkbox" name="on" value="${key}" ${on && html`checked`} />${label}</label>
      </li>`,
  );
  return html`${note && html`<p role="status">${note}</p>`}
    <p>E-mail to ${row.masked}. What concerns your account, orders and payments always comes.</p>
    <form method="post" action="/comms/v1/preferences/link/${token}">
      <ul class="scopes">
        ${boxes}
      </ul>
      <button>Save</button>
    </form>
    <form method="post" action="/comms/v1/preferences/link/${token}">
      <input type="hidden" name="all" value="off" /><button class="quiet">Switch all off</button>
    </form>`;
}

/** Switches what differs from what the page showed. */
async function save(host: ServiceHost, request: TokenRequest, reply: FastifyReply): Promise<FastifyReply> {
  const [row, form] = [await rowOf(host, request), formOf(request)];
  const wanted = form.get('all') === 'off' ? [] : form.getAll('on');
  const switches = await host.read(ctx => switchesOf(ctx, row));
  const changed = (on: boolean): string[] =>
    switches.filter(one => one.on !== on && wanted.includes(one.key) === on).flatMap(one => topicsOf(one.key));
  const [off, on] = [changed(false), changed(true)];
  if (off.length) await change(host, row, off, false);
  if (on.length) await change(host, row, on, true);
  return sendPage(reply, 'E-mail settings', 'E-mail', await settings(host, request, row, 'Saved.'));
}

/** The ways out of a mail, without sign-in: reading changes nothing, for scanners of links read everything. Source: comms 4, 4.8. */
export const mailLinks = (host: ServiceHost) =>
  plugin('comms-mail-links', async (scope: FastifyInstance) => {
    takeForms(scope);
    scope.get('/comms/v1/unsubscribe/:token', async (request: TokenRequest, reply) => {
      const row = await rowOf(host, request);
      return sendPage(reply, 'Stop e-mails', 'E-mail', question(request.params.token, row));
    });
    scope.post('/comms/v1/unsubscribe/:token', (request: TokenRequest, reply) => unsubscribe(host, request, reply));
    scope.get('/comms/v1/preferences/link/:token', async (request: TokenRequest, reply) => {
      const row = await rowOf(host, request);
      return sendPage(reply, 'E-mail settings', 'E-mail', await settings(host, request, row, null));
    });
    scope.post('/comms/v1/preferences/link/:token', (request: TokenRequest, reply) => save(host, request, reply));
  });
