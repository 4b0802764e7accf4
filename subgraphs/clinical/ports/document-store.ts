import type { Context } from '../../../runtime/request/context.js';
import { documentPlace, LabDocument } from '../entities/lab-report.js';

/** Where the bytes of reports are kept. */
export interface DocumentStore {
  put(ctx: Context, id: string, patientId: string, bytes: Buffer): Promise<void>;
  /** Null: there is no such document. */
  get(ctx: Context, id: string): Promise<Buffer | null>;
}

/** Sealed in the service's own schema: written with the report, and gone with the patient's rows in one transaction. */
export const embeddedDocuments: DocumentStore = {
  put: async (ctx, id, patientId, bytes) => {
    const bytesSealed = ctx.host.sealer.seal(bytes.toString('base64'), documentPlace(id));
    ctx.em.persist(Object.assign(new LabDocument(), { id, patientId, bytesSealed }));
  },
  get: async (ctx, id) => {
    const found = await ctx.em.findOne(LabDocument, { id }, { populate: ['bytesSealed'] as never });
    return found && Buffer.from(ctx.host.sealer.open(found.bytesSealed, documentPlace(id)), 'base64');
  },
};
