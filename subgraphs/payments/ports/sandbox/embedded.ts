import type { ServiceHost } from '../../../../runtime/request/context.js';
import { PaymentProcessor } from '../../entities/enums-payment.js';
import { readProcessorSettings } from '../settings.js';
import { startSandbox, type RunningSandbox } from './server.js';

interface Embedded {
  users: number;
  running: Promise<RunningSandbox>;
}

const known = new WeakMap<ServiceHost, Embedded>();

function start(host: ServiceHost): Promise<RunningSandbox> {
  const settings = readProcessorSettings(host.config);
  return startSandbox({
    databaseUrl: host.databaseUrl,
    manualClock: host.config.manualClock,
    baseUrl: host.config.baseUrl,
    webhookSecret: settings.webhookSecrets[PaymentProcessor.SANDBOX][0]!,
    key: settings.sandboxKey,
    port: 0,
    log: host.log,
  });
}

/** The sandbox of this process, started at its first use. */
function embedded(host: ServiceHost): Embedded {
  let one = known.get(host);
  if (!one) {
    one = { users: 0, running: start(host) };
    one.running.catch(() => known.delete(host));
    known.set(host, one);
  }
  return one;
}

/** Address of the sandbox of this process. */
export const embeddedUrl = async (host: ServiceHost): Promise<string> => (await embedded(host).running).url;

/** Keeps the sandbox of this process until each of its users has stopped; nothing where it is elsewhere or not the processor. */
export async function keepEmbedded(host: ServiceHost): Promise<{ stop(): Promise<void> }> {
  const { processor, sandboxUrl } = readProcessorSettings(host.config);
  if (processor !== PaymentProcessor.SANDBOX || sandboxUrl !== null) return { stop: async () => undefined };
  const one = embedded(host);
  one.users++;
  await one.running;
  return {
    async stop() {
      if (--one.users > 0) return;
      known.delete(host);
      await (await one.running).stop();
    },
  };
}
