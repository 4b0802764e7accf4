import slugify from '@sindresorhus/slugify';

/** A slug from a title, at most 96 characters. */
export const slugFrom = (title: string): string => slugify(title).slice(0, 90).replace(/-+$/, '') || 'item';
