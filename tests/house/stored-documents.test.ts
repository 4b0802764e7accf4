import { buildASTSchema, parse, specifiedRules, validate } from 'graphql';
import { expect, test } from 'vitest';
import { readSupergraph } from '../../gateway/plans/supergraph-file.js';
import { storedDocuments } from '../../runtime/federation/federation.js';
import { declarations } from './composition.js';

/** Root fields of services that do not exist yet; what asks them answers as without a neighbour. This list may only shrink. */
const ABSENT: readonly string[] = [
  // booking, community, labs, messaging, partner, patient-graph, analytics and integrations
  'bookingVisit',
  'bookingVisits',
  'communityBroadcastAudience',
  'communityPost',
  'communityComment',
  'mentionDigest',
  'mentionDigestsDue',
  'blockedEither',
  'conversation',
  'screenConversation',
  'ScreenConversationInput',
  'assignConversation',
  'AssignConversationInput',
  'closeConversation',
  'vendorWebhookReceipt',
  'labOrder',
  'patient',
  'patientDemographics',
  'wearableSummaries',
  'useRefill',
  'UseRefillInput',
  'treatmentClearance',
  'partnerOrder',
  'partnerTreatments',
  'submitPartnerOrder',
  'SubmitPartnerOrderInput',
  'openAnalyticsOutcome',
  'OpenAnalyticsOutcomeInput',
  'analyticsFeatureVectors',
];

const schema = buildASTSchema(parse(await readSupergraph()), { assumeValid: true });
const documents = declarations.length > 0 ? storedDocuments() : [];

test('what is absent is still absent', () => {
  const fields = new Set([
    ...Object.keys(schema.getQueryType()!.getFields()),
    ...Object.keys(schema.getMutationType()!.getFields()),
    ...Object.keys(schema.getTypeMap()),
  ]);
  expect(ABSENT.filter(name => fields.has(name))).toEqual([]);
});

test('services ask each other what the supergraph has', () => {
  expect(documents.length).toBeGreaterThan(50);
  const faults = documents.flatMap(({ source, document }) =>
    validate(schema, document, specifiedRules)
      .filter(({ message }) => !ABSENT.some(field => message.includes(`"${field}"`)))
      .map(({ message }) => `${source.slice(0, 60)}: ${message}`),
  );
  expect(faults).toEqual([]);
});
