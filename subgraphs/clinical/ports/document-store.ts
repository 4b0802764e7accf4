import type { Context } from '../../../runtime/request/context.js';
import { LabDocument } from '../entities/lab-report.js';

/** Where the bytes of reports are kept. */
export interface DocumentStore {
  put(ctx: Context, id: string, patientId: string, bytes: Buffer): Promise<void>;
  /** Null: there is no such document. */
  get(ctx: Context, id: string): Promise<Buffer | null>;
}

/** Sealed in the service's own schema: written with the report, and gone with the patient's rows in one transaction. */
export const embeddedDocuments: DocumentStore = {
  put: async (ctx, id, patientId, bytes) => {
    const document = Object.assign(new LabDocument(), { id, patientId });
    document.seal(ctx, bytes);
    ctx.em.persist(document);
  },
  get: async (ctx, id) => {
    const found = await ctx.em.findOne(LabDocument, { id }, { populate: ['bytesSealed'] as never });
    return found && found.open(ctx);
  },
};
