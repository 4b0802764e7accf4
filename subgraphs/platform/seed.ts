import type { Context } from '../../runtime/request/context.js';
import { Brand, BrandDomain, BrandDomainPurpose, BrandDomainStatus } from './entities/brand.js';

const MAIN = {
  id: '0190b3a0-0000-7000-8000-000000000001',
  slug: 'main',
  name: 'Main',
  legalName: 'Main Health Inc.',
  isDefault: true,
  defaultLocale: 'en',
  locales: ['en', 'de'],
  defaultCurrency: 'USD',
  currencies: ['USD', 'EUR'],
  countries: ['US', 'DE'],
  timeZone: 'America/New_York',
  theme: { primaryColor: '#0B6E4F' },
  supportEmail: 'help@main.example',
};

/** Of it are a part of the seeds of content and commerce. Source: platform 4.4. */
const SECOND = {
  id: '0190b3a0-0000-7000-8000-000000000002',
  slug: 'second',
  name: 'Second',
  legalName: 'Second Health GmbH',
  defaultLocale: 'de',
  locales: ['de', 'en'],
  defaultCurrency: 'EUR',
  currencies: ['EUR'],
  countries: ['DE'],
  timeZone: 'Europe/Berlin',
  theme: { primaryColor: '#1D4E89' },
  supportEmail: 'help@second.example',
};

const hostOf = (brandId: string, id: string, host: string, verifiedAt: Date): BrandDomain =>
  Object.assign(new BrandDomain(), {
    id,
    brandId,
    host,
    purpose: BrandDomainPurpose.SHOP,
    status: BrandDomainStatus.VERIFIED,
    verificationRecord: 'seeded',
    verifiedAt,
  });

/** The development brands, each with its verified host. Source: conventions 8, platform 4.4. */
export async function seed(ctx: Context): Promise<void> {
  const createdAt = ctx.now();
  const brands = [MAIN, SECOND].map(one => Object.assign(new Brand(), { ...one, createdAt }));
  const hosts = [
    hostOf(MAIN.id, '0190b3a0-0000-7000-8000-000000000011', 'main.example', createdAt),
    hostOf(SECOND.id, '0190b3a0-0000-7000-8000-000000000012', 'second.example', createdAt),
  ];
  await ctx.em.persist([...brands, ...hosts]).flush();
}
