import { codeOf } from '../../runtime/request/errors.js';
import { stored, type Federation } from '../../runtime/federation/federation.js';

/** As many of the newest are shown, and remembered. */
const SHOWN = 50;

/** Events upon which comms writes to somebody. */
const TYPES = ['auth.magic_link.requested.v1', 'auth.two_factor.challenge.v1', 'comms.message.send_requested.v1'];

const MESSAGES = `query DevelopmentMail($types: [String!]) {
  platformEvents(first: ${SHOWN}, types: $types) { nodes { id type occurredAt data user { email } } }
}`;

const DELIVERY = stored(`query DevelopmentDelivery($id: ID!) {
  authDelivery(challengeId: $id) { to template link code expiresAt }
}`);

interface Delivery {
  to: string;
  template: string;
  link: string | null;
  code: string | null;
  expiresAt: string;
}

export interface Mail {
  id: string;
  at: string;
  template: string;
  /** Address, or whom else it is for; null when nobody knows any more. */
  to: string | null;
  link: string | null;
  code: string | null;
  /** Why link and code are not shown; null when they are, or when there are none. */
  gone: string | null;
  /** Further facts for the text. */
  params: Readonly<Record<string, unknown>>;
}

interface MessageEvent {
  id: string;
  type: string;
  occurredAt: string;
  data: {
    challenge_id?: string;
    purpose?: string;
    template?: string;
    recipient_type?: string;
    recipient_id?: string | null;
    params?: Record<string, unknown>;
  } | null;
  user: { email: string | null } | null;
}

/** Runs a GraphQL operation with the rights of development data's machine client. */
export type RunAsDemo = <Data>(query: string, variables: object) => Promise<Data>;

const challengeOf = ({ data }: MessageEvent): string | null =>
  data?.challenge_id ?? (data?.params?.challenge_id as string | undefined) ?? null;

const recipientOf = ({ data, user }: MessageEvent): string | null =>
  user?.email ?? ([data?.recipient_type, data?.recipient_id].filter(Boolean).join(' ') || null);

const plain = (event: MessageEvent): Mail => {
  const { challenge_id: _, ...params } = event.data?.params ?? {};
  const template = event.data?.template ?? event.data?.purpose ?? event.type;
  return { id: event.id, at: event.occurredAt, template, to: recipientOf(event), link: null, code: null, gone: null, params };
};

/**
 * What the comms service would have mailed, from the events that ask it to. Like comms it fetches address, link and code of a challenge
 * from identity, once, and keeps the newest in memory.
 */
export class DevelopmentMail {
  readonly #deliveries = new Map<string, Delivery | string>();

  /** @param comms the federation as comms sees it. */
  constructor(
    private readonly run: RunAsDemo,
    private readonly comms: () => Federation,
  ) {}

  /** Newest first. @throws Problem. */
  async list(): Promise<Mail[]> {
    const { platformEvents } = await this.run<{ platformEvents: { nodes: MessageEvent[] } }>(MESSAGES, { types: TYPES });
    const mails: Mail[] = [];
    for (const event of platformEvents.nodes) mails.push(await this.#mailOf(event));
    this.#forgetOld();
    return mails;
  }

  async #mailOf(event: MessageEvent): Promise<Mail> {
    const challenge = challengeOf(event);
    if (challenge === null) return plain(event);
    const known = this.#deliveries.get(challenge) ?? (await this.#fetch(challenge));
    this.#deliveries.delete(challenge); // it is the last used again
    this.#deliveries.set(challenge, known);
    return typeof known === 'string' ? { ...plain(event), gone: known } : { ...plain(event), ...known };
  }

  /** The delivery, or why there is none. */
  async #fetch(id: string): Promise<Delivery | string> {
    try {
      return (await this.comms().run<{ authDelivery: Delivery }>(DELIVERY, { id })).authDelivery;
    } catch (error) {
      const { extensions, message } = error as { extensions?: Record<string, unknown>; message: string };
      if (codeOf(extensions) === 'unavailable') throw error;
      return message;
    }
  }

  #forgetOld(): void {
    for (const id of [...this.#deliveries.keys()].slice(0, -SHOWN)) this.#deliveries.delete(id);
  }
}
