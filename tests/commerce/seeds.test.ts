import { expect, test } from 'vitest';
import { sharedPlatform } from '../support/platform.js';

test('seeds: each product of the catalogue shows a picture that content has drawn', async () => {
  const p = await sharedPlatform();
  const { body } = await p.rest('GET', '/commerce/v1/products?limit=100', { token: await p.serviceToken() });
  const pictures: string[] = body.data.flatMap((one: { images: { url: string }[] }) => one.images.map(({ url }) => url));
  expect(pictures.length).toBeGreaterThanOrEqual(5);
  const kinds = await Promise.all(
    pictures.map(async url => {
      const answer = await fetch(new URL(url, p.url));
      return `${answer.status} ${answer.headers.get('content-type')?.split('/')[0]}`;
    }),
  );
  expect(new Set(kinds)).toEqual(new Set(['200 image']));
});
