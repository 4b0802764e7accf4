import type { ServiceHost } from '../../../runtime/request/context.js';
import { PaymentProcessor } from '../entities/enums-payment.js';
import type { Processor } from './processor.js';
import { SandboxProcessor } from './sandbox/adapter.js';
import { embeddedUrl } from './sandbox/embedded.js';
import { StripeProcessor } from './stripe/adapter.js';
import { readProcessorSettings, type ProcessorSettings } from './settings.js';

const settings = new WeakMap<ServiceHost, ProcessorSettings>();
const processors = new WeakMap<ServiceHost, Processor>();

/** Settings of a running service, read once. */
export function processorSettings(host: ServiceHost): ProcessorSettings {
  let known = settings.get(host);
  if (!known) settings.set(host, (known = readProcessorSettings(host.config)));
  return known;
}

function chosen(host: ServiceHost): Processor {
  const { processor, sandboxUrl, sandboxKey, stripeSecretKey } = processorSettings(host);
  if (processor === PaymentProcessor.STRIPE) return new StripeProcessor({ secretKey: stripeSecretKey! });
  return new SandboxProcessor({ key: sandboxKey, url: async () => sandboxUrl ?? (await embeddedUrl(host)) });
}

/** The processor of `PAYMENTS_PROCESSOR`; one per running service. */
export function processorOf(host: ServiceHost): Processor {
  let known = processors.get(host);
  if (!known) processors.set(host, (known = chosen(host)));
  return known;
}

/** The sandbox, whose customers and banks can be played; null with another processor. */
export function sandboxOf(host: ServiceHost): SandboxProcessor | null {
  const processor = processorOf(host);
  return processor.name === PaymentProcessor.SANDBOX ? (processor as SandboxProcessor) : null;
}
