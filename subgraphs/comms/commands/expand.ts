import type { ServiceHost } from '../../../runtime/request/context.js';
import { loggedError } from '../../../runtime/observe/log.js';
import { lockRow } from '../../../runtime/data/rows.js';
import { CommsSendRequestStatus as Status } from '../entities/enums.js';
import { CommsSendRequest } from '../entities/message.js';
import { audienceOf } from '../ports/display.js';
import { clientContacts, staffOfRole } from '../ports/people.js';
import { audienceMissing } from './absent.js';
import { makeMessages } from './request.js';

const CLAIM = `
update comms.send_request r set lease_until = clock_timestamp() + interval '60 seconds' where id = (
  select id from comms.send_request where status = 'accepted' and next_at <= $1 and (lease_until is null or lease_until < clock_timestamp())
  order by next_at, id limit 1 for update skip locked) returning id`;

export const NEXT_EXPANSION =
  "select next_at as at from comms.send_request where status = 'accepted' and (lease_until is null or lease_until < clock_timestamp())";

type Recipients = { userId: string | null; key: string; type: string }[];
interface Page {
  recipients: Recipients;
  next: string | null;
  rejected: string | null;
}

/** Who gets it, found out at the owner's; an audience comes page by page. @throws Problem unavailable. */
async function pageOf(host: ServiceHost, { recipientType, recipientId, cursor }: CommsSendRequest): Promise<Page> {
  return host.read(async ctx => {
    const whole = (recipients: Recipients): Page => ({ recipients, next: null, rejected: recipients.length ? null : 'no_address' });
    if (recipientType === 'staff_role')
      return whole((await staffOfRole(ctx, recipientId!)).map(key => ({ userId: null, key, type: 'staff' })));
    if (recipientType === 'client_owner')
      return whole(
        (await clientContacts(ctx, recipientId!)).map((_, index) => ({
          userId: null,
          key: `${recipientId}#${index}`,
          type: 'client_owner',
        })),
      );
    const audience = await audienceOf(ctx, recipientType, recipientId!, cursor);
    if (audience)
      return { recipients: audience.userIds.map(id => ({ userId: id, key: id, type: 'user' })), next: audience.next, rejected: null };
    await audienceMissing(ctx, recipientType === 'live_session' ? 'live' : 'community');
    return { recipients: [], next: null, rejected: 'owner_absent' };
  });
}

const AGAIN_MS = 30_000;

async function expandOne(host: ServiceHost, id: string): Promise<void> {
  const request = await host.read(ctx => ctx.em.findOneOrFail(CommsSendRequest, { id }));
  const page = await pageOf(host, request);
  await host.transaction(async ctx => {
    const row = await lockRow(ctx, CommsSendRequest, { id });
    if (row.status !== Status.ACCEPTED) return;
    if (page.recipients.length) await makeMessages(ctx, row, page.recipients, page.recipients[0]!.type);
    row.leaseUntil = null;
    row.cursor = page.next;
    if (page.rejected) Object.assign(row, { status: Status.REJECTED, rejectReason: page.rejected });
    else if (page.next === null) row.status = Status.EXPANDED;
  });
}

const RELEASE = 'update comms.send_request set lease_until = null, next_at = $2 where id = $1';

/** Makes the messages of requests whose recipients their owners know. @returns how many pages. */
export async function expandDue(host: ServiceHost): Promise<number> {
  for (let pages = 0; ; pages++) {
    const [claimed] = await host.transaction(ctx => ctx.sql<{ id: string }>(CLAIM, [ctx.now().toISOString()]));
    if (!claimed) return pages;
    try {
      await expandOne(host, claimed.id);
    } catch (error) {
      host.log.warn({ err: loggedError(error) }, 'the recipients of a request could not be found; it is tried again');
      await host.transaction(ctx => ctx.sql(RELEASE, [claimed.id, new Date(ctx.now().getTime() + AGAIN_MS).toISOString()]));
      return pages;
    }
  }
}
