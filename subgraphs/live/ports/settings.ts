import { hkdfSync } from 'node:crypto';
import type { Config } from '../../../runtime/config.js';

export interface StreamingSettings {
  provider: 'embedded' | 'livekit';
  livekitUrl: string | null;
  /** Key pairs, the first signs, all verify. */
  livekitKeys: readonly (readonly [key: string, secret: string])[];
  /** Of the embedded provider's calls, the newest first. */
  webhookSecrets: readonly string[];
  /** Signs the embedded provider's tokens and those of the chat. */
  tokenSecret: string;
}

const derived = (root: string, name: string): string => Buffer.from(hkdfSync('sha256', root, 'live', name, 32)).toString('base64url');
const listOf = (config: Config, name: string): string[] =>
  (config.setting(name) ?? '')
    .split(',')
    .map(one => one.trim())
    .filter(Boolean);

function providerOf(config: Config): StreamingSettings['provider'] {
  const name = config.setting('STREAMING_PROVIDER') ?? 'embedded';
  if (name === 'embedded' || name === 'livekit') return name;
  throw new Error('STREAMING_PROVIDER must be one of embedded, livekit');
}

function pairOf(text: string): readonly [string, string] {
  const colon = text.indexOf(':');
  if (colon < 1 || text.length - colon - 1 < 32)
    throw new Error('LIVEKIT_KEYS must be key:secret, comma separated, secrets of at least 32 characters');
  return [text.slice(0, colon), text.slice(colon + 1)];
}

/** @throws Error naming the variable that is wrong or missing. */
export function readStreamingSettings(config: Config): StreamingSettings {
  const provider = providerOf(config);
  const [livekitUrl, livekitKeys] = [config.setting('LIVEKIT_URL') ?? null, listOf(config, 'LIVEKIT_KEYS').map(pairOf)];
  if (provider === 'livekit' && (livekitUrl === null || livekitKeys.length === 0))
    throw new Error('LIVEKIT_URL and LIVEKIT_KEYS are not set, and STREAMING_PROVIDER is livekit');
  const [secrets, root] = [listOf(config, 'STREAMING_WEBHOOK_SECRETS'), config.encryptionKeys ?? ''];
  const webhookSecrets = secrets.length > 0 ? secrets : [derived(root, 'streaming-webhook')];
  return { provider, livekitUrl, livekitKeys, webhookSecrets, tokenSecret: derived(root, 'streaming-token') };
}
