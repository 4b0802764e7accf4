import { ruleOf } from '../../../runtime/access/access.js';
import { bulkPaths, type BulkSetting } from '../../../runtime/bulk/routes.js';
import { productImport } from '../commands/catalogue.js';
import { CATALOGUE_EDITORS, READERS } from '../entities/access.js';
import { brandOf } from '../ports/brands.js';
import { cataloguePages } from '../queries/catalogue.js';
import { COLUMNS, isText } from '../rules/catalogue.js';

/** Products by their slugs, variants by their skus; `brand`: slug, by default that of the token, else the default brand. Source: commerce 4.2. */
export const catalogue: BulkSetting = {
  path: '/v1/admin/catalogue',
  of: 'products of a brand',
  editors: ruleOf(CATALOGUE_EDITORS),
  readers: ruleOf(READERS),
  importKeys: ['brand'],
  exportKeys: ['brand'],
  async open(host, request, { brand: slug }) {
    const brand = await brandOf(host, { slug, fallbackId: request.caller.brandId });
    return { columns: COLUMNS, isText, take: productImport(host, brand), pages: () => cataloguePages(host, request, brand.id) };
  },
};

export const cataloguePaths = bulkPaths(catalogue);
