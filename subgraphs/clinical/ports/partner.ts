import type { Context } from '../../../runtime/request/context.js';
import { stored } from '../../../runtime/federation/federation.js';

const ASK = stored(
  `query ClinicalPartnerTreatments($userId: ID!) {
    partnerTreatments(userId: $userId) { nodes { treatmentRef startedOn program { key } orders { orderRef } } }
  }`,
);

/** A treatment as the telehealth partner's mirror has it. */
export interface PartnerTreatment {
  treatmentRef: string;
  startedOn: string | null;
  program: { key: string };
  orders: { orderRef: string }[];
}

interface Answer {
  partnerTreatments: { nodes: PartnerTreatment[] };
}

/** Treatments of a patient, asked of partner: for reports that name a treatment or order and nothing more. @throws when it cannot be asked. */
export const treatmentsOf = async (ctx: Context, userId: string): Promise<PartnerTreatment[]> =>
  (await ctx.federation.run<Answer>(ASK, { userId })).partnerTreatments.nodes;
