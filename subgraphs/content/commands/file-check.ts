/** Every night all stored bytes are read and hashed, those of certificates among them. Source: content, rule 11. */
import { blobsOf } from '../../../runtime/blobs/blobs.js';
import type { Context, ServiceHost } from '../../../runtime/request/context.js';
import { blobName, sha256 } from './media.js';

type Damage = 'CHANGED' | 'MISSING';

interface StoredFile {
  item_id: string;
  sha256: string;
  damage: Damage | null;
}

const PAGE = 100;
const FIRST = '00000000-0000-0000-0000-000000000000';
const ORIGINALS = `select a.item_id, a.sha256, d.damage from content.media_asset a left join content.damaged_file d on d.item_id = a.item_id
  where a.status = 'READY' and a.item_id > $1 order by a.item_id limit ${PAGE}`;
const RENDITIONS = `select item_id, sha256 from content.media_rendition where item_id = any($1::uuid[]) order by item_id, width, format`;

const NOTE = `insert into content.damaged_file (item_id, damage, found_at) values ($1, $2, $3)
  on conflict (item_id) do update set damage = excluded.damage, found_at = excluded.found_at`;

/** Null: the bytes are those that were stored. */
async function damageOf(host: ServiceHost, hash: string): Promise<Damage | null> {
  const bytes = await blobsOf(host).get(blobName(hash));
  if (bytes === null) return 'MISSING';
  return sha256(bytes) === hash ? null : 'CHANGED';
}

/** Told once; also that it is whole again. */
async function noteOriginal({ host, log }: Context, { item_id: id, damage: before }: StoredFile, damage: Damage | null): Promise<void> {
  if (damage === before) return;
  await host.transaction(async ctx => {
    if (damage === null) await ctx.sql('delete from content.damaged_file where item_id = $1', [id]);
    else await ctx.sql(NOTE, [id, damage, ctx.now().toISOString()]);
    ctx.audit(damage === null ? 'media_asset.mended' : 'media_asset.damaged', id, { damage });
  });
  if (damage !== null) log.error({ alarm: 'damaged file', item_id: id, damage }, 'a stored file is not what it was');
}

/** A smaller form that is not what it was is made anew when it is asked for. */
async function checkRenditions({ host }: Context, ids: readonly string[]): Promise<void> {
  for (const { sha256: hash } of await host.read(ctx => ctx.sql<{ sha256: string }>(RENDITIONS, [ids])))
    if ((await damageOf(host, hash)) !== null)
      await host.transaction(ctx => ctx.sql('delete from content.media_rendition where sha256 = $1', [hash]));
}

/** Reads all files, one at a time; a store that does not answer ends it, and the slot is taken up again. */
export async function checkFiles(ctx: Context): Promise<void> {
  for (let after = FIRST; ;) {
    const files = await ctx.host.read(inner => inner.sql<StoredFile>(ORIGINALS, [after]));
    for (const file of files) await noteOriginal(ctx, file, await damageOf(ctx.host, file.sha256));
    await checkRenditions(
      ctx,
      files.map(one => one.item_id),
    );
    if (files.length < PAGE) return;
    after = files.at(-1)!.item_id;
  }
}
