import type { Context } from '../../runtime/request/context.js';
import { Brand, BrandDomain, BrandDomainPurpose, BrandDomainStatus } from './entities/brand.js';

/** The development brand and its verified host. Source: conventions 8. */
export async function seed(ctx: Context): Promise<void> {
  const brand = Object.assign(new Brand(), {
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
    createdAt: ctx.now(),
  });
  const domain = Object.assign(new BrandDomain(), {
    id: '0190b3a0-0000-7000-8000-000000000011',
    brandId: brand.id,
    host: 'main.example',
    purpose: BrandDomainPurpose.SHOP,
    status: BrandDomainStatus.VERIFIED,
    verificationRecord: 'seeded',
    verifiedAt: ctx.now(),
  });
  await ctx.em.persist([brand, domain]).flush();
}
