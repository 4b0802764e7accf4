import { stored } from '../../../runtime/federation/federation.js';
import type { ServiceHost } from '../../../runtime/request/context.js';
import { ask } from './neighbour.js';

const ASK = stored('query CommerceLinkPreview($url: String!) { linkPreview(url: $url) { url title description imageUrl siteName } }');

export interface Preview {
  url: string;
  title: string | null;
  description: string | null;
  imageUrl: string | null;
  siteName: string | null;
}

/** What content's one fetcher finds behind an address; null: nothing to show. @throws Problem unavailable while content is absent; its own otherwise. */
export const linkPreview = async (host: Pick<ServiceHost, 'federation'>, url: string): Promise<Preview | null> =>
  (await ask<{ linkPreview: Preview | null }>(host, ASK, { url })).linkPreview;
