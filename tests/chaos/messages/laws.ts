import type { Copy } from './providers.js';
import type { Wanted, World } from './world.js';

/** A message as it is stored at the end. */
interface Stored {
  id: string;
  user_id: string;
  template: string;
  channel: string;
  category: string;
  status: string;
  reason: string | null;
  attempts: number;
  told: number;
}

const STORED = `
select m.id, m.user_id, m.template, m.channel, m.category, m.status, m.status_reason as reason, coalesce(a.n, 0)::int as attempts, coalesce(t.n, 0)::int as told
from comms.message m left join (select message_id, count(*) as n from comms.message_attempt group by 1) a on a.message_id = m.id
left join (select data->>'message_id' as id, count(*) as n from events.outbox where type = 'comms.message.sent.v1' group by 1) t on t.id = m.id::text`;
const ITEMS = 'select user_id, count(*)::int as n from comms.inbox_item group by 1';

/** Mails that a server may have got of one message: an advert one, of others a second one when nobody knew of the first. Source: comms 3. */
const MOST = { marketing: 1, transactional: 2 } as Record<string, number>;

/** What is wrong with a message, of which a provider has these copies. */
function faultsOf({ channel, category, status, reason, attempts, told, id }: Stored, copies: readonly Copy[]): string[] {
  const keys = new Set(copies.map(one => one.key));
  const isSent = status === 'sent' || status === 'delivered';
  const mayFail = channel === 'email' && reason === 'unknown_outcome';
  return [
    ...(isSent || mayFail ? [] : [`ended ${status} ${reason}`]),
    ...(isSent && channel !== 'in_app' && copies.length === 0 ? ['was never sent'] : []),
    ...(isSent === (told === 1) && told <= 1 ? [] : [`is ${status} and was told of ${told} times`]),
    ...(copies.length > attempts && channel !== 'in_app' ? [`was sent ${copies.length} times by ${attempts} attempts`] : []),
    ...(channel === 'sms' && keys.size > 1 ? [`is ${keys.size} texts`] : []),
    ...(channel === 'email' && keys.size > 1 ? [`has ${keys.size} ids`] : []),
    ...(channel === 'email' && copies.length > MOST[category]! ? [`is ${copies.length} mails (${category})`] : []),
    ...([...keys].every(key => key.includes(id)) ? [] : ['left under the key of another']),
  ];
}

const addressesOf = (user: number): Record<string, string> => ({ email: `person${user}@mail.test`, sms: `+1415${2_000_000 + user}` });

/** What of that which must hold at the end does not. */
export async function violations(world: World, copies: readonly Copy[]): Promise<string[]> {
  const stored = await world.p.sql<Stored>(STORED);
  const items = new Map((await world.p.sql<{ user_id: string; n: number }>(ITEMS)).map(row => [row.user_id, row.n]));
  const rowsOf = Map.groupBy(stored, row => `${row.user_id} ${row.template} ${row.channel}`);
  const copiesOf = Map.groupBy(copies, copy => copy.to);
  const found: string[] = [];
  const judge = ({ user, template, channel }: Wanted): void => {
    const id = world.people[user - 1]!;
    const rows = rowsOf.get(`${id} ${template} ${channel}`) ?? [];
    const name = `${template} by ${channel} to person ${user}`;
    if (rows.length !== 1) return void found.push(`${name}: ${rows.length} messages`);
    found.push(...faultsOf(rows[0]!, copiesOf.get(addressesOf(user)[channel] ?? '') ?? []).map(fault => `${name} ${fault}`));
    if (channel === 'in_app' && items.get(id) !== 1) found.push(`${name}: ${items.get(id) ?? 0} items`);
  };
  for (const place of world.people.keys()) world.wantedBy(place + 1).forEach(judge);
  return found;
}
