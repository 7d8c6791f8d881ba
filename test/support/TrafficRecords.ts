/** Records of the traffic inspector for tests. */
import type { Head, TrafficRecord } from "../../src/contract/domain/TrafficRecord.ts"

export const aHead = (over: Partial<Head> = {}): Head => ({
  id: "r1",
  source: "http-proxy",
  agent: null,
  timestamp: "2026-11-24T10:00:00.000Z",
  method: "POST",
  scheme: "https",
  host: "api.openai.com",
  path: "/v1/chat/completions",
  requestHeaders: { "content-type": "application/json" },
  requestSize: 0,
  responseHeaders: {},
  responseSize: 0,
  status: 200,
  proxyLatencyMs: null,
  upstreamLatencyMs: null,
  totalLatencyMs: null,
  error: null,
  sourceModel: null,
  mappedModel: null,
  detectedKind: "llm",
  contextKey: null,
  annotation: null,
  sessionId: null,
  note: null,
  pid: null,
  processName: null,
  llm: null,
  gatewayRequestId: null,
  decision: null,
  requestTruncated: false,
  responseTruncated: false,
  requestEncoding: "utf8",
  responseEncoding: "utf8",
  bodyEvicted: false,
  replayOf: null,
  ...over
})

export const aRecord = (over: Partial<TrafficRecord> = {}): TrafficRecord => ({
  ...aHead(over),
  requestBody: null,
  responseBody: null,
  ...over
})
