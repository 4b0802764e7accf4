/**
 * Started by `bench/start.mjs` in a copy of the checkout: leaves only the named services in it and adds generated ones, so that
 * `dist/gateway/main.js` starts with exactly those: list, supergraph, route tables and migrations.
 *
 *   node choose-services.mjs '["identity","platform"]' 10 '{"tables":12,"operations":35,"rows":40,"consumers":3}'
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SLUGS } from '../../dist/events/slugs.js';
import { compose } from '../../dist/gateway/compose.js';
import { SERVICES } from '../../dist/subgraphs/services.js';

const DIST = join(import.meta.dirname, '../../dist');
const [chosen, count, size] = process.argv.slice(2).map(text => JSON.parse(text));
const generated = SLUGS.filter(slug => !(slug in SERVICES)).slice(0, count);

function write(path, text) {
  mkdirSync(join(DIST, path, '..'), { recursive: true });
  writeFileSync(join(DIST, path), text);
}

for (const slug of generated) {
  write(
    `subgraphs/${slug}/index.js`,
    `import { generatedService } from '../../../bench/generated-services.mjs';
export const { declaration, table, statements } = generatedService('${slug}', ${JSON.stringify(size)});
export default declaration;\n`,
  );
  write(`rest-adapter/routes/${slug}.js`, `export { table as default } from '../../subgraphs/${slug}/index.js';\n`);
  write(
    `migrations/${slug}/202601010000_tables.js`,
    `import { Migration } from '@mikro-orm/migrations';
import { statements } from '../../subgraphs/${slug}/index.js';
export class Tables extends Migration {
  up() {
    for (const statement of statements) this.addSql(statement);
  }
}\n`,
  );
}

const slugs = [...chosen, ...generated];
const routes = join(DIST, 'rest-adapter/routes');
const isLeftOut = file => SLUGS.some(slug => !slugs.includes(slug) && file === `${slug}.js`);
for (const file of readdirSync(routes).filter(isLeftOut)) rmSync(join(routes, file));
const load = slug => `  '${slug}': () => import('./${slug}/index.js').then(module => module.default),\n`;
write('subgraphs/services.js', `export const SERVICES = {\n${slugs.map(load).join('')}};\n`);
const modules = await Promise.all(slugs.map(slug => import(`../../dist/subgraphs/${slug}/index.js`)));
const declarations = modules.map(module => module.default).sort((a, b) => (a.slug < b.slug ? -1 : 1));
writeFileSync(join(DIST, '../gateway/supergraph.graphql'), compose(declarations));
process.exit(0);
