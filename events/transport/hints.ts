import type { Channel, HintSubscription, Json } from './port.js';

/** A hint on its way between processes. */
export interface Hint {
  channel: Channel;
  key: string;
  body: Json;
}

type Listener = (body: Json, key: string) => void;

/** The listeners of this process. */
export class HintHub {
  readonly #listeners = new Map<Channel, Map<string, Set<Listener>>>();

  on(channel: Channel, key: string, listener: Listener): HintSubscription {
    const keys = this.#listeners.get(channel) ?? new Map<string, Set<Listener>>();
    this.#listeners.set(channel, keys);
    const listeners = keys.get(key) ?? new Set<Listener>();
    keys.set(key, listeners.add(listener));
    return {
      stop: () => {
        listeners.delete(listener);
        if (listeners.size === 0) keys.delete(key);
      },
    };
  }

  /** Calls whoever listens to the key or to `*`; one that throws does not disturb the others or the sender. */
  tell({ channel, key, body }: Hint, failed: (error: unknown) => void): void {
    const keys = this.#listeners.get(channel);
    for (const listener of [...(keys?.get(key) ?? []), ...(key === '*' ? [] : (keys?.get('*') ?? []))]) {
      try {
        listener(body, key);
      } catch (error) {
        failed(error);
      }
    }
  }
}
