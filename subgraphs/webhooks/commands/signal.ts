import type { ServiceHost } from '../../../runtime/request/context.js';

/** Wakes a waiting loop of this process when there is work. A lost signal costs one poll. */
export class Signal {
  #raised = false;
  #wake: (() => void) | null = null;

  notify(): void {
    this.#raised = true;
    this.#wake?.();
  }

  /** Resolves at the next notification, also one since the last wait, or after `ms`. */
  wait(ms: number): Promise<void> {
    return new Promise(resolve => {
      const done = (): void => {
        this.#wake = null;
        this.#raised = false;
        resolve();
      };
      const timer = setTimeout(done, ms);
      const finish = (): void => {
        clearTimeout(timer);
        done();
      };
      this.#wake = finish;
      if (this.#raised) finish();
    });
  }
}

/** A signal for each of several loops. */
export class Signals {
  readonly #listeners = new Set<Signal>();

  notify(): void {
    this.#listeners.forEach(listener => listener.notify());
  }

  /** For one loop: each notification reaches all of them. */
  listen(): Signal {
    const listener = new Signal();
    this.#listeners.add(listener);
    return listener;
  }

  forget(listener: Signal): void {
    this.#listeners.delete(listener);
  }
}

const signals = new WeakMap<ServiceHost, Signals>();

/** The one signal of a running service: ingest, replay and the recorder raise it, the delivery workers wait for it. */
export function signalOf(host: ServiceHost): Signals {
  let signal = signals.get(host);
  if (!signal) signals.set(host, (signal = new Signals()));
  return signal;
}
