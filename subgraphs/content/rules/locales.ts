import { match } from '@formatjs/intl-localematcher';

/** `de-AT` -> `de-AT`, `de`, then the brand's default. Without fallback the asked one alone. Source: content 2.1. */
export function fallbackChain(requested: string, brandDefault: string, fallback: boolean): string[] {
  if (!fallback) return [requested];
  const parts = requested.split('-');
  const own = parts.map((_, at) => parts.slice(0, parts.length - at).join('-'));
  return [...new Set([...own, brandDefault])];
}

/** Tags of `Accept-Language`, best first. */
const tagsOf = (header: string): string[] =>
  header
    .split(',')
    .slice(0, 20)
    .map(one => {
      const [tag = '', ...parameters] = one.trim().split(/\s*;\s*/);
      const q = Number(/^q=([\d.]+)$/.exec(parameters[0] ?? '')?.[1] ?? 1);
      return { tag, q };
    })
    .filter(({ tag, q }) => q > 0 && /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(tag))
    .sort((a, b) => b.q - a.q)
    .map(({ tag }) => tag);

/** The locale of a brand that a reader likes best; its default where there is no wish or none that fits. */
export function negotiated(header: string | null, locales: readonly string[], brandDefault: string): string {
  const tags = header === null ? [] : tagsOf(header);
  if (tags.length === 0) return brandDefault;
  try {
    return match(tags, [...locales], brandDefault);
  } catch {
    return brandDefault; // a tag that only looks like one
  }
}

/** BCP 47 in its usual form: `de-at` -> `de-AT`. */
export const canonicalLocale = (locale: string): string => {
  try {
    return Intl.getCanonicalLocales(locale)[0] ?? locale;
  } catch {
    return locale;
  }
};
