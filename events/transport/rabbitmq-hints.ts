import type { Channel as AmqpChannel, ChannelModel } from 'amqplib';
import { errorOf, type EventLog } from '../log.js';
import { HintHub, type Hint } from './hints.js';
import type { Channel, HintSubscription, Json } from './port.js';
import type { Names } from './rabbitmq-topology.js';

/** Hints over transient fanout exchanges and one exclusive queue per process. What is sent while the broker is away is lost. */
export class RabbitHints {
  readonly #hub = new HintHub();
  readonly #listening = new Set<Channel>();
  readonly #declared = new Set<Channel>();
  #channel: AmqpChannel | undefined;
  #queue = '';

  constructor(
    readonly names: Names,
    readonly log: EventLog,
  ) {}

  async use(model: ChannelModel): Promise<void> {
    const channel = await model.createChannel();
    this.#declared.clear();
    channel.on('error', error => this.log.debug({ err: errorOf(error) }, 'the hint channel failed'));
    channel.on('close', () => this.#channel === channel && (this.#channel = undefined));
    const { queue } = await channel.assertQueue('', { exclusive: true, autoDelete: true, durable: false });
    this.#queue = queue;
    for (const one of this.#listening) await this.#bind(channel, one);
    await channel.consume(queue, message => message && this.#heard(message.content), { noAck: true });
    this.#channel = channel;
  }

  async #bind(channel: AmqpChannel, hints: Channel): Promise<void> {
    await this.#declare(channel, hints);
    await channel.bindQueue(this.#queue, this.names.hints(hints), '');
  }

  /** Transient: it goes with the broker's restart, as the connection does. */
  async #declare(channel: AmqpChannel, hints: Channel): Promise<void> {
    if (this.#declared.has(hints)) return;
    await channel.assertExchange(this.names.hints(hints), 'fanout', { durable: false });
    this.#declared.add(hints);
  }

  #heard(content: Buffer): void {
    try {
      this.#hub.tell(JSON.parse(content.toString('utf8')) as Hint, error =>
        this.log.warn({ err: errorOf(error) }, 'a hint listener failed'),
      );
    } catch (error) {
      this.log.debug({ err: errorOf(error) }, 'a hint was not understood');
    }
  }

  /** To every process that listens, this one too. */
  async say(hint: Hint): Promise<void> {
    const channel = this.#channel;
    if (!channel) return;
    try {
      await this.#declare(channel, hint.channel);
      channel.publish(this.names.hints(hint.channel), '', Buffer.from(JSON.stringify(hint)));
    } catch (error) {
      this.log.debug({ err: errorOf(error) }, 'a hint was lost');
    }
  }

  on(channel: Channel, key: string, listener: (body: Json, key: string) => void): HintSubscription {
    if (!this.#listening.has(channel)) {
      this.#listening.add(channel);
      if (this.#channel)
        this.#bind(this.#channel, channel).catch(error => this.log.debug({ err: errorOf(error) }, 'a hint channel was not bound'));
    }
    return this.#hub.on(channel, key, listener);
  }
}
