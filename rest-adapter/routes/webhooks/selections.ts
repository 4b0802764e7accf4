/** Selection sets that several routes share: the shapes of the answers. */
export const SUBSCRIPTION = `id clientId name description url status disabledReason statusChangedAt eventTypes timeoutMs maxConcurrency rateLimitPerSecond spread
  headers { name } standardHeaders secrets { id hint status createdAt activatesAt expiresAt } circuit { state since nextProbeAt } failingSince`;
export const DATES = 'createdAt updatedAt version';

export const DELIVERY = `id subscriptionId clientId eventId eventType userId sequence status waitingFor blockedBy: blockedById attemptCount maxAttempts nextAttemptAt firstAttemptAt
  deliveredAt finishedAt lastStatusCode lastError deadLetterReason cancelReason replayOf: replayOfId resolvedAt`;

export const ATTEMPT = `id deliveryId subscriptionId eventType number startedAt finishedAt url resolvedIp statusCode error timings { dnsMs connectMs tlsMs firstByteMs totalMs }
  requestHeaders responseHeaders responseBody responseTruncated trigger`;

export const EVENT_TYPE =
  'name description scope sensitive granted subscribable jsonSchema example sampleSignature { secret body signature } deprecatedAt';

export const PAGE = 'pageInfo { endCursor hasNextPage }';

export const STATS =
  'delivered failedAttempts deadLettered pending blockedUsers successRate latencyP50Ms latencyP95Ms oldestPendingSeconds';

export const DISCLOSURE = 'client { id name } eventType occurredAt deliveredAt count';

export const MANAGER = 'managerClientId clientIds createdAt updatedAt';

export const JOB = 'id kind subscriptionId status matched created skipped requestedBy createdAt finishedAt';

export const RECEIPT = 'id source topic vendorEventId externalId status receivedAt bodySize emittedEventId';
