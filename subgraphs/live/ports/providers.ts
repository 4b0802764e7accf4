import type { ServiceHost } from '../../../runtime/request/context.js';
import { EmbeddedProvider } from './embedded.js';
import { LivekitProvider } from './livekit.js';
import type { StreamingProvider } from './provider.js';
import { readStreamingSettings, type StreamingSettings } from './settings.js';

const settings = new WeakMap<ServiceHost, StreamingSettings>();
const providers = new WeakMap<ServiceHost, StreamingProvider>();

/** Settings of a running service, read once. */
export function streamingSettings(host: ServiceHost): StreamingSettings {
  let known = settings.get(host);
  if (!known) settings.set(host, (known = readStreamingSettings(host.config)));
  return known;
}

/** The provider of `STREAMING_PROVIDER`; one per running service. */
export function providerOf(host: ServiceHost): StreamingProvider {
  let known = providers.get(host);
  const { provider, livekitUrl, livekitKeys } = streamingSettings(host);
  if (!known)
    providers.set(
      host,
      (known =
        provider === 'livekit' ? new LivekitProvider(livekitUrl!, livekitKeys) : new EmbeddedProvider(host, streamingSettings(host))),
    );
  return known;
}

/** The embedded provider, which can be played; null with another, and in production. */
export function embeddedOf(host: ServiceHost): EmbeddedProvider | null {
  const provider = providerOf(host);
  return provider instanceof EmbeddedProvider && !host.config.production ? provider : null;
}
